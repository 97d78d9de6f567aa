// The scene in three dimensions: built once, put in place for every t, drawn, and asked what is where.

// Lengths of arrows; a logarithmic one has this many decades, and a size below this part of the largest is rounding.
const SCALES = ["linear", "logarithmic", "by joint"], DECADES = 4, NOTHING = 1e-9;

class World {
  constructor(data, motion, { stage, bytes }) {
    Object.assign(this, { data, motion, stage });
    this.g = data.glyph;
    this.meshes = new Meshes(bytes, data.meshes);
    this.scene = new THREE.Scene();
    this.camera = new THREE.PerspectiveCamera(34, 1, 1, 1000);
    this.up = new THREE.Vector3(...data.view.up);
    this.camera.up.copy(this.up);
    this.metal = paint("#46525e");
    this.frame = { r: new Float64Array(3), p: new Float64Array(4) };
    this.shown = { forces: false, violation: true, traces: true, names: false, scale: SCALES[0] };
    this.selected = null;
    this.addLight();
    this.bodies = data.bodies.map((body, k) => this.addBody(body, k));
    this.joints = data.joints.map((joint) => this.addJoint(joint));
    this.loads = data.loads.map((load, k) => this.addLoad(load, k));
    this.late = this.addLate(data.late || { joints: [], loads: [] });
    this.outlines = (data.outlines || []).map((names) => this.addOutline(names));
    this.surroundings = new THREE.Group();
    this.inset = new Inset(this);
    this.scene.add(this.surroundings);
  }

  addLight() {
    this.scene.add(new THREE.HemisphereLight("#ffffff", "#8d97a3", 1.9));
    this.lamp = new THREE.DirectionalLight("#ffffff", 1.7);
    this.scene.add(this.lamp, this.lamp.target);
  }

  addBody(body, k) {
    const group = new THREE.Group(), color = PALETTE[(k - 1 + PALETTE.length) % PALETTE.length];
    group.name = body.name;
    const own = { color, made: {} };
    for (const shape of body.shapes) {
      const mesh = shapeMesh(shape, own, this.meshes);
      mesh.userData.body = k;
      group.add(mesh);
    }
    this.scene.add(group);
    return { group, color, materials: Object.values(own.made), name: body.name, index: k };
  }

  addJoint(joint) {
    const material = this.metal.clone(), drive = paint(DRIVE), reach = this.reach(joint), { i, j } = jointGlyph(joint.glyph, this.g, reach, material, drive);
    this.bodies[joint.i].group.add(setPose(i, joint.s_i, joint.p_i));
    this.bodies[joint.j].group.add(setPose(j, joint.s_j, joint.p_j));
    const made = { ...joint, material, i: joint.i, j: joint.j, parts: [i, j], links: [], drive };
    const link = (ends) => { made.links.push({ ...ends, object: rod(0.55 * this.g, material) }); this.scene.add(made.links[made.links.length - 1].object); };
    (joint.rods || []).forEach((ends, k) => {
      link(ends);
      if (k && joint.glyph === "distance") for (const [body, s] of [[ends.i, ends.s_i], [ends.j, ends.s_j]]) {  // the ends of the first are the joint's own
        const ball = solid("sphere", 1.3 * this.g, 1.3 * this.g, 1.3 * this.g, material);
        ball.position.fromArray(s);
        made.parts.push(ball);
        this.bodies[body].group.add(ball);
      }
    });
    const apart = this.point(joint.i, joint.s_i, this.motion.t[0]).distanceTo(this.point(joint.j, joint.s_j, this.motion.t[0])) > 1e-6 * this.data.size;
    if (apart && !joint.rods && (joint.mark || joint.glyph === "general")) link({ i: joint.i, s_i: joint.s_i, j: joint.j, s_j: joint.s_j });
    for (const part of [...made.parts, ...made.links.map(({ object }) => object)]) part.traverse((mesh) => { mesh.userData.joint = joint.name; });
    return made;
  }

  // How far a joint slides along its axis over the whole motion.
  reach(joint) {
    if (!["cylindrical", "translational", "point on line"].includes(joint.glyph)) return [0, 0];
    let least = 0, most = 0;
    const axis = new THREE.Vector3(), step = Math.max(1, Math.floor(this.motion.n / 300));
    for (let k = 0; k < this.motion.n; k += step) {
      const t = this.motion.t[k], from = this.point(joint.i, joint.s_i, t), to = this.point(joint.j, joint.s_j, t);
      this.turn(joint.i, t).multiply(new THREE.Quaternion(joint.p_i[1], joint.p_i[2], joint.p_i[3], joint.p_i[0]));
      axis.copy(Z).applyQuaternion(this.turned);
      const x = to.sub(from).dot(axis);
      least = Math.min(least, x); most = Math.max(most, x);
    }
    const far = 3 * this.data.size;
    return [Math.max(least, -far), Math.min(most, far)];
  }

  // A line around a locked loop, through its joints, over everything else.
  addOutline(names) {
    const at = names.concat(names[0]).map((name) => this.joints.find((joint) => joint.name === name)).flatMap((joint) => this.point(joint.j, joint.s_j, this.motion.t[0]).toArray());
    const line = new THREE.Line2(new THREE.LineGeometry().setPositions(at), new THREE.LineMaterial({ color: LOCKED, linewidth: 5, transparent: true, opacity: 0.75, depthTest: false, depthWrite: false }));
    line.frustumCulled = false;
    line.renderOrder = 1;
    this.scene.add(line);
    return line;
  }

  addLoad(load, k) {
    const { g } = this, over = load.lines ? { transparent: true, depthTest: false, depthWrite: false } : {};  // limits are seen through bodies
    const drive = paint(DRIVE, over), steel = paint(SPRING, over), made = { ...load, object: null, materials: [drive, steel] };
    const mark = new THREE.Group();
    if (load.kind === "TSDA") { made.object = spring(g, load, steel, drive); this.scene.add(made.object); }
    else if (load.lines) {
      const own = load.lines.map((line) => limitLine(line, g, line.pointer ? drive : steel));
      load.lines.forEach(({ body }, n) => this.bodies[body].group.add(own[n]));
      for (const part of own) part.traverse((mesh) => { mesh.userData.load = k; mesh.renderOrder = 2; });
      return { ...made, parts: own };
    }
    else if (["RSDA", "JointSpring", "JointLimit", "Bushing"].includes(load.kind)) { mark.add(ring(1.9 * g, 0.25 * g, steel), ring(1.35 * g, 0.2 * g, steel)); this.bodies[load.i].group.add(setPose(mark, load.s_i, load.p_i)); }
    else {
      mark.add(load.kind === "Torque" ? ring(2.1 * g, 0.3 * g, drive) : solid("octahedron", 1.4 * g, 1.4 * g, 1.4 * g, drive));
      mark.position.fromArray(load.s_j);
      this.bodies[load.j].group.add(mark);
    }
    (made.object || mark).traverse((mesh) => { mesh.userData.load = k; });
    return { ...made, parts: [mark] };
  }

  // Parts that are off at the start, without curves of their own: they cannot be selected.
  addLate({ joints, loads }) {
    const made = [...joints.map((joint) => this.addJoint(joint)), ...loads.map((load) => this.addLoad(load))];
    for (const { parts, links = [], object } of made) for (const part of [...parts, ...links.map((link) => link.object), object]) if (part) part.traverse((mesh) => { mesh.userData = {}; });
    return made;
  }

  // The rotation of a body at t, and a point of it in the model's axes.
  turn(body, t) {
    this.motion.at(t, body, this.frame.r, this.frame.p);
    const p = this.frame.p;
    this.turned = (this.turned || new THREE.Quaternion()).set(p[1], p[2], p[3], p[0]);
    return this.turned;
  }
  point(body, s, t) {
    const turn = this.turn(body, t);
    return new THREE.Vector3(...s).applyQuaternion(turn).add(new THREE.Vector3(...this.frame.r));
  }

  // Put everything in its place at t.
  place(t) {
    this.t = t;
    for (const { group, index } of this.bodies) {
      this.motion.at(t, index, this.frame.r, this.frame.p);
      setPose(group, this.frame.r, this.frame.p);
    }
    this.scene.updateMatrixWorld(true);
    for (const part of [...this.joints, ...this.loads, ...this.late]) {
      const lines = part.links || (part.object ? [part] : []);
      for (const { i, s_i, j, s_j, object } of lines) span(object, this.now(i, s_i), this.now(j, s_j));
      if (!part.off) continue;
      part.hidden = part.off.some(([from, to]) => t >= from && (to === null || t < to));
      for (const piece of part.parts) piece.visible = !part.hidden;
      if (part.hidden) for (const { object } of lines) object.visible = false;
    }
    if (this.ghost) this.ghost.groups.forEach((group, k) => { this.ghost.motion.at(t, k, this.frame.r, this.frame.p); setPose(group, this.frame.r, this.frame.p); });
    this.adorn();
  }

  // What depends on the switches and the selection as well as on t.
  adorn() { this.placeArrows(); if (this.traces) this.traces.place(); this.colorJoints(); }

  // A point of a body as it is drawn.
  now(body, s) { return new THREE.Vector3(...s).applyMatrix4(this.bodies[body].group.matrixWorld); }

  pose(body) {
    const { group } = this.bodies[body], r = new THREE.Vector3(), q = new THREE.Quaternion(), own = group.quaternion;
    group.updateWorldMatrix(true, false);
    group.matrixWorld.decompose(r, q, new THREE.Vector3());
    const sign = q.dot(own) < 0 ? -1 : 1;
    return { r: r.toArray(), p: [sign * q.w, sign * q.x, sign * q.y, sign * q.z] };
  }

  // Arrows of reactions, colours of violations, contact marks: from the curves.
  attach(curves) {
    this.curves = curves;
    const { g } = this;
    this.most = { force: curves.largest("force") || 1, torque: curves.largest("torque") || 1 };
    this.arrows = !curves.force ? [] : this.joints.map((joint, k) => {
      const [force, torque] = curves.packed.unique[k].map((unique) => !unique);
      const pair = { force: new Arrow(0.42 * g, FORCE, { hatched: force, over: true }), torque: new Arrow(0.36 * g, TORQUE, { hatched: torque, heads: 2, over: true }) };
      for (const name of ["force", "torque"]) pair[name].most = curves.largest(name, k);
      for (const [name, arrow] of Object.entries(pair)) { arrow.visible = false; arrow.traverse((mesh) => { mesh.userData.joint = joint.name; }); this.scene.add(arrow); }
      return pair;
    });
    this.touches = this.data.contacts.map((contact) => {
      const size = contact.radius > 0 ? 2 * contact.radius : 1.6 * g, mark = solid("sphere", size, size, size, contact.radius > 0 ? paint(this.bodies[contact.j].color) : paint(SPRING));
      mark.position.fromArray(contact.s_j);
      if (!contact.shapes) this.bodies[contact.j].group.add(mark);
      const wide = contact.i === 0 ? 1.4 * this.data.view.radius : 0.35 * this.data.size, plane = setPose(solid("box", wide, wide, 0.1 * g, faint(SPRING, 0.3)), contact.s_i, contact.p_i);
      plane.translateZ(-0.06 * g);
      if (contact.i === 0) {  // a plane of the ground is shown below the motion
        const n = Z.clone().applyQuaternion(asQuaternion(contact.p_i)), middle = new THREE.Vector3(...this.data.view.center);
        plane.position.copy(middle.addScaledVector(n, plane.position.dot(n) - middle.dot(n)));
      }
      if (contact.plane) this.bodies[contact.i].group.add(plane);
      const arrow = new Arrow(0.42 * g, FORCE, { over: true });
      arrow.visible = false;
      this.scene.add(arrow);
      return { arrow, contact };
    });
    let most = 0;
    if (curves.contact) for (const f of curves.contact) if (f > most) most = f;
    this.contactScale = 0.3 * this.data.size / (most || 1);
  }

  colorJoints() {
    const { curves } = this, log = this.shown.violation && curves && curves.violation;
    this.joints.forEach((joint, k) => {
      if (joint.mark) { joint.material.color.set(joint.mark === "fault" ? "#d11515" : LOCKED); joint.material.emissive.set(joint.mark === "fault" ? "#700" : "#520"); return; }
      if (log) violationColor(valueAt(this.t, curves.t, curves.three(curves.violation, k, 1)[0]), joint.material.color);
      else joint.material.color.copy(this.metal.color);
      const chosen = this.selected && this.selected.kind === "joint" && this.selected.index === k;
      joint.material.emissive.set(chosen ? "#ffb000" : "#000000").multiplyScalar(0.55);
    });
    this.loads.forEach(({ materials }, k) => { for (const material of materials) material.emissive.set(this.selected && this.selected.kind === "load" && this.selected.index === k ? "#ffb000" : "#000000").multiplyScalar(0.55); });
    for (const body of this.bodies) for (const material of body.materials) material.emissive.set(this.selected && this.selected.kind === "body" && this.selected.index === body.index ? "#ffb000" : "#000000").multiplyScalar(0.4);
  }

  // How long an arrow is: in proportion, by the logarithm of its part of the largest, or of the largest of its own joint.
  arrowLength(name, size, own) {
    const longest = (name === "force" ? 0.3 : 0.22) * this.data.size, most = this.most[name];
    if (size < NOTHING * most) return 0;
    if (this.shown.scale === "logarithmic") return longest * Math.max(1 + Math.log10(size / most) / DECADES, 0);
    return longest * size / (this.shown.scale === "by joint" ? own : most);
  }

  placeArrows() {
    const { curves } = this, v = new THREE.Vector3();
    if (!curves) return;
    this.arrows.forEach((pair, k) => {
      for (const name of ["force", "torque"]) {
        if (!this.shown.forces || !curves[name]) { pair[name].visible = false; continue; }
        curves.vector(name, k, this.t, v);
        const size = v.length(), joint = this.joints[k];
        if (!(size > 0)) { pair[name].visible = false; continue; }
        pair[name].show(this.now(joint.j, joint.s_j), v.divideScalar(size), this.arrowLength(name, size, pair[name].most));
      }
    });
    this.touches.forEach(({ arrow, contact }, k) => {
      const f = curves.contact ? valueAt(this.t, curves.t, curves.three(curves.contact, k, 1)[0]) : 0;
      if (!(f > 0)) { arrow.visible = false; return; }
      if (curves.touch && 6 * k < curves.packed.touch.c) {  // the whole force of all points, where it acts
        const at = curves.vector("touch", 2 * k + 1, this.t, new THREE.Vector3()).clone(), size = curves.vector("touch", 2 * k, this.t, v).length();
        arrow.show(at, v.divideScalar(size), this.contactScale * size);
        return;
      }
      const q = contact.p_i, n = v.copy(Z).applyQuaternion(asQuaternion(q)).applyQuaternion(this.bodies[contact.i].group.quaternion).clone();
      arrow.show(this.now(contact.j, contact.s_j).addScaledVector(n, -contact.radius), n, this.contactScale * f);
    });
  }

  // The second run: the same bodies, faint.
  addGhost({ bodies, motion }) {
    this.ghost = { bodies, motion, groups: [] };
    const own = { color: GHOST, opacity: 0.38, made: {} };
    bodies.forEach((body, k) => {
      const group = new THREE.Group();
      for (const shape of body.shapes) group.add(shapeMesh(shape, own, this.meshes));
      this.scene.add(group);
      this.ghost.groups[k] = group;
    });
  }

  // Where the eye is at first: all of the motion in the picture.
  home(width, height) {
    const { center, radius, hull, eye } = this.data.view, c = new THREE.Vector3(...center), toEye = new THREE.Vector3(...eye);
    const right = this.up.clone().cross(toEye).normalize(), above = toEye.clone().cross(right), tangent = Math.tan(this.camera.fov * Math.PI / 360);
    const { left = 0, right: aside = 0, top = 60, bottom = 60 } = this.room || {};
    const free = [tangent * width / height * 0.92 * Math.max(0.2, (width - left - aside) / width), tangent * 0.95 * Math.max(0.2, (height - top - bottom) / height)];
    const edge = 2.2 * this.g, seen = [];  // glyphs stand out from the points
    for (let k = 0; k < hull.length; k += 3) { const point = new THREE.Vector3().fromArray(hull, k); seen.push([point.dot(right), point.dot(above), point.dot(toEye)]); }
    const shift = [0, 0];
    let away = 0;
    for (let round = 0; round < 4; round++) {  // the distance at which all is in the picture, and the middle of what is seen from there
      away = 0.4 * radius;
      for (const [x, y, depth] of seen) away = Math.max(away, depth + Math.max((Math.abs(x - shift[0]) + edge) / free[0], (Math.abs(y - shift[1]) + edge) / free[1]));
      if (round < 3) [0, 1].forEach((a) => {
        const at = seen.map((point) => (point[a] - shift[a]) / (away - point[2]));
        shift[a] += 0.5 * (Math.min(...at) + Math.max(...at)) * away;
      });
    }
    c.addScaledVector(right, shift[0]).addScaledVector(above, shift[1]);
    this.camera.position.copy(c).addScaledVector(toEye, away);
    this.camera.near = away / 200;
    this.camera.far = away * 40;
    this.camera.lookAt(c);
    if (this.controls) { this.homing = true; this.controls.target.copy(c); this.controls.update(); this.homing = false; }
    this.resize(width, height);
  }

  // The picture is between the title and the play bar.
  resize(width, height) {
    this.width = width; this.height = height;
    this.camera.aspect = width / height;
    const { left = 0, right = 0, top = 0, bottom = 0 } = this.room || {}, x = 0.5 * (right - left), y = 0.5 * (bottom - top);
    this.camera.setViewOffset(width, height, x, y, width, height);
    this.camera.updateProjectionMatrix();
    this.camera.updateMatrixWorld();
    if (this.renderer) this.renderer.setSize(width, height);
  }

  // The colours of a theme; the ground, the axes and the gravity arrow are made anew.
  dress(dark) {
    this.dark = dark;
    this.surroundings.clear();
    const { view, gravity, size } = this.data, line = new THREE.LineBasicMaterial({ color: dark ? "#343d47" : "#c9d1d9" });
    const strong = new THREE.LineBasicMaterial({ color: dark ? "#4b5763" : "#aab5c0" });
    const cell = niceBelow(view.radius / 2.5), n = Math.max(4, Math.ceil(1.6 * view.radius / cell)), out = n * cell;
    const side = new THREE.Vector3(...view.eye).cross(this.up).normalize(), front = this.up.clone().cross(side).normalize();
    const center = new THREE.Vector3(...view.center);
    const middle = center.addScaledVector(this.up, view.floor - center.dot(this.up));
    const lines = (which, material) => {
      const points = [];
      for (let k = -n; k <= n; k++) if ((k === 0) === which) for (const [a, b] of [[side, front], [front, side]]) {
        points.push(middle.clone().addScaledVector(a, k * cell).addScaledVector(b, -out), middle.clone().addScaledVector(a, k * cell).addScaledVector(b, out));
      }
      this.surroundings.add(new THREE.LineSegments(new THREE.BufferGeometry().setFromPoints(points), material));
    };
    lines(false, line); lines(true, strong);
    this.cell = cell;
    const g = this.g, stone = paint(dark ? "#6c7885" : "#9aa5b1");
    for (const [end, point] of this.groundPoints()) {
      const foot = support(g, stone), above = this.hangs(end);
      foot.position.copy(point);
      foot.quaternion.setFromUnitVectors(Z, above ? this.up.clone().negate() : this.up);
      this.surroundings.add(foot);
    }
    this.inset.dress(dark);
    this.metal.color.set(dark ? "#aab6c2" : "#46525e");
  }

  // The joints that stand on the ground, with their points.
  groundPoints() {
    const found = [];
    for (const joint of this.joints) {
      const end = joint.i === 0 ? joint.s_i : joint.j === 0 ? joint.s_j : null;
      if (!end || joint.glyph.endsWith("driver") || ["orientation", "none"].includes(joint.glyph)) continue;
      const point = new THREE.Vector3(...end);
      if (found.every(([, other]) => other.distanceTo(point) > this.g)) found.push([joint, point]);
    }
    for (const load of this.loads) {
      const end = load.i === 0 ? load.s_i : load.j === 0 ? load.s_j : null;
      if (!end || load.kind !== "TSDA") continue;
      const point = new THREE.Vector3(...end);
      if (found.every(([, other]) => other.distanceTo(point) > this.g)) found.push([load, point]);
    }
    return found;
  }

  // Whether what the ground holds is below the point that holds it.
  hangs(element) {
    const other = element.i === 0 ? element.j : element.i, end = element.i === 0 ? element.s_i : element.s_j;
    const frame = this.frame;
    this.motion.at(this.motion.t[0], other, frame.r, frame.p);
    return new THREE.Vector3(...frame.r).sub(new THREE.Vector3(...end)).dot(this.up) < -2 * this.g;
  }

  // The anchor of a body, joint or load in the model's axes: where its name is written, and where a click finds it.
  anchor({ joint, body, load }) {
    if (load) return this.now(load.i, load.s_i).lerp(this.now(load.j, load.s_j), 0.5);
    if (body !== undefined) return body === 0 ? new THREE.Vector3(...this.data.view.center).addScaledVector(this.up, this.data.view.floor - new THREE.Vector3(...this.data.view.center).dot(this.up)) : this.now(body, [0, 0, 0]);
    const { g } = this, q = joint.p_i, shift = new THREE.Vector3();
    if (joint.glyph === "rotation driver") shift.set(0, 0, 2.3 * g).applyQuaternion(new THREE.Quaternion(q[1], q[2], q[3], q[0]));
    if (joint.glyph === "rotation driver") return this.now(joint.i, [joint.s_i[0] + shift.x, joint.s_i[1] + shift.y, joint.s_i[2] + shift.z]);
    if (joint.glyph === "translation driver") {
      const turn = new THREE.Quaternion(joint.p_j[1], joint.p_j[2], joint.p_j[3], joint.p_j[0]);
      shift.set(0, 2.2 * g, 0).applyQuaternion(turn);
      return this.now(joint.j, [joint.s_j[0] + shift.x, joint.s_j[1] + shift.y, joint.s_j[2] + shift.z]);
    }
    if (joint.links.length) { const { i, s_i, j, s_j } = joint.links[0]; return this.now(i, s_i).lerp(this.now(j, s_j), 0.5); }
    return this.now(joint.j, joint.s_j);
  }

  // CSS pixels of a point.
  pixels(point) {
    const v = point.clone().project(this.camera);
    return [0.5 * (v.x + 1) * this.width, 0.5 * (1 - v.y) * this.height, v.z];
  }

  // Where every joint, body and load is written and clicked, in CSS pixels: apart from one another, where they share a place.
  anchors() {
    const found = [];
    const put = (kind, index, name, point) => {
      const [x, y, depth] = this.pixels(point), free = (u, v) => found.every((one) => Math.hypot(one.x - u, one.y - v) > 9);
      const one = { kind, index, name, x, y, there: depth < 1 };
      for (let k = 0; k < 24 && !free(one.x, one.y); k++) {
        const radius = 14 + 12 * Math.floor(k / 8), angle = (k % 8) * Math.PI / 4 + 0.4;
        one.x = x + radius * Math.cos(angle); one.y = y - radius * Math.sin(angle);
      }
      found.push(one);
    };
    this.joints.forEach((joint, k) => put("joint", k, joint.name, this.anchor({ joint })));
    this.bodies.forEach(({ name, index }) => { if (index) put("body", index, name, this.anchor({ body: index })); });
    this.loads.forEach((load, k) => put("load", k, load.name, this.anchor({ load })));
    return found;
  }

  // What of bodies (but the ground), joints and loads is under these CSS pixels, the nearest first.
  under(x, y) {
    const ray = new THREE.Raycaster();
    ray.setFromCamera(new THREE.Vector2(2 * x / this.width - 1, 1 - 2 * y / this.height), this.camera);
    this.scene.updateMatrixWorld();
    const apart = [...this.joints.flatMap(({ links }) => links), ...this.loads].map(({ object }) => object).filter((object) => object && object.visible);
    return ray.intersectObjects([...this.bodies.map((b) => b.group), ...apart], true).filter(({ object: { userData } }) => userData.body || userData.joint !== undefined || userData.load !== undefined);
  }

  // What a click at these CSS pixels means: the nearest anchor, else the body, joint or load under it.
  pick(x, y, reach = 13) {
    const near = this.anchors().map((one) => ({ ...one, d: Math.hypot(one.x - x, one.y - y) })).filter((one) => one.there && one.d <= reach);
    near.sort((a, b) => a.d - b.d);
    if (near.length) return near[0];
    for (const { object } of this.under(x, y)) {
      if (object.userData.joint !== undefined) { const k = this.joints.findIndex((j) => j.name === object.userData.joint); return { kind: "joint", index: k, name: this.joints[k].name }; }
      if (object.userData.load !== undefined) return { kind: "load", index: object.userData.load, name: this.loads[object.userData.load].name };
      if (object.userData.body) return { kind: "body", index: object.userData.body, name: this.bodies[object.userData.body].name };
    }
    return null;
  }

  // A renderer, if there is WebGL.
  start() {
    try {
      const canvas = document.createElement("canvas");
      const context = canvas.getContext("webgl2", { antialias: true });
      if (!context) return false;
      this.renderer = new THREE.WebGLRenderer({ canvas, context, antialias: true, alpha: true });
    } catch (error) { return false; }
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio || 1, 2));
    this.stage.append(this.renderer.domElement);
    this.controls = new THREE.OrbitControls(this.camera, this.renderer.domElement);
    this.controls.rotateSpeed = 0.8;
    return true;
  }

  draw() {
    if (!this.renderer) { if (this.flat) this.flat.draw(); return; }
    this.lamp.position.copy(this.camera.position).addScaledVector(this.up, 0.8 * this.data.view.radius);
    this.lamp.target.position.set(...this.data.view.center);
    this.renderer.render(this.scene, this.camera);
    this.inset.draw(this.renderer);
  }
}

// The largest of 1, 2, 5 times a power of ten that is not above x.
function niceBelow(x) {
  const power = 10 ** Math.floor(Math.log10(x)), m = x / power;
  return power * (m >= 5 ? 5 : m >= 2 ? 2 : 1);
}

// A number with four digits.
function short(x, digits = 4) {
  if (!Number.isFinite(x)) return "\u2013";
  if (x === 0) return "0";
  const size = Math.abs(x);
  const text = size >= 1e5 || size < 1e-3 ? x.toExponential(digits - 2) : String(Number(x.toPrecision(digits)));
  return text.replace("-", "\u2212").replace("e+", "e");
}
