// A page that simulates: sliders, a loop beside the frames of the screen, energy and violation, and a hand that drags bodies.
// haugmbd/interactive.py wrote what it reads; the engine is the library's own, and this file has no mechanics but the energy.

const KEPT = 1200, BUDGET = 12, HELD = 0.004;  // points of the curves; [ms] of a frame for steps; [s] between two looks at the pointer
const NEAR = 0.05, PARTS = 256;  // part of the mechanism by which closing may move a start; of a slider's way, the least that is gone at once
const HAND = 2 * Math.PI * 1.5;  // [rad/s] frequency of the spring from the pointer to a body

// The sum of products of Chebyshev polynomials: coefficients in C order, one axis a slider, the last one the numbers.
function chebyshev(coefficients, degrees, x) {
  let table = coefficients;
  degrees.forEach((degree, k) => {
    const rest = table.length / (degree + 1), out = new Float64Array(rest), angle = Math.acos(Math.min(1, Math.max(-1, x[k])));
    for (let n = 0; n <= degree; n++) { const T = Math.cos(n * angle); for (let i = 0; i < rest; i++) out[i] += T * table[n * rest + i]; }
    table = out;
  });
  return table;
}

// A tree of what is drawn, with the numbers in the places of null; read: gives the next one.
function filled(tree, read) {
  if (tree === null) return read();
  if (Array.isArray(tree)) return tree.map((one) => filled(one, read));
  if (typeof tree === "object") return Object.fromEntries(Object.entries(tree).map(([key, one]) => [key, filled(one, read)]));
  return tree;
}

class Live {
  static async open(player) {
    const data = JSON.parse($("live").textContent), module = await WebAssembly.compile(await unpack($("engine").textContent)), made = {};
    const all = {};  // each blob is its difference from one before it, in pieces that may stand elsewhere there
    for (const [name, [other, pieces, blob]] of Object.entries(data.blobs)) {
      const words = (all[name] = new Uint32Array((await unpack(blob)).slice().buffer)), before = all[other];
      pieces.forEach(([first, shift], i) => {
        const last = i + 1 < pieces.length ? pieces[i + 1][0] : words.length;
        for (let k = first; k < last; k++) if (k + shift >= 0 && k + shift < before.length) words[k] += before[k + shift];
      });
      made[name] = await Mechanism.load(module, new Uint8Array(words.buffer));
    }
    const bytes = await unpack(data.coefficients), drawn = data.picture && (await unpack(data.picture.coefficients));
    return new Live(player, data, made, new Float64Array(bytes.buffer, 0, bytes.length / 8), drawn && new Float32Array(drawn.buffer, 0, drawn.length / 4));
  }

  constructor(player, data, made, coefficients, drawn) {
    Object.assign(this, { player, data, made, coefficients, drawn, method: "projection", held: null, said: "" });
    this.values = Object.fromEntries(data.sliders.map(({ name, value }) => [name, value]));
    this.first = { ...this.values };
    this.start = Float64Array.from(this.now.state);
    this.t0 = this.now.t;
    this.h = data.h;
    this.moves = Boolean(data.picture) || data.numbers.some(([kind]) => kind === 2);  // the start, or the points of joints
    this.size = player.data.size;
    this.closed = { values: { ...this.values }, state: Float64Array.from(this.start) };
    this.take();
    this.history = { t: [], energy: [], violation: [] };
  }

  get now() { return this.made[this.method]; }
  get t() { return this.now.t; }

  places(values) { return this.data.sliders.map(({ name, low, high }) => (2 * values[name] - low - high) / (high - low)); }

  // Give every engine the numbers that follow from the sliders; return the modelled state.
  numbers(given = this.values) {
    const { data } = this, start = Float64Array.from(this.start);
    if (!data.sliders.length) return start;
    const values = chebyshev(this.coefficients, data.degrees, this.places(given));
    data.numbers.forEach(([kind, place], k) => {
      if (kind === 2) start[place] = values[k];
      else for (const one of Object.values(this.made)) one.set(`#${k}`, values[k]);
    });
    return start;
  }

  // Read what the energy needs.
  take() {
    const { now, data } = this, n = data.names.length;
    this.inertia = Array.from({ length: n }, (_, b) => (b ? Array.from({ length: 10 }, (_, a) => now.get(`#inertia ${b} ${a}`)) : null));
    this.gravity = ["x", "y", "z"].map((axis) => now.get(`gravity.${axis}`));
  }

  // Let all engines begin with these values, and close a start by the projection of a step that is nearly nothing: its state, and how far
  // its points were moved; null if it cannot be closed.  from: the start instead of the modelled one
  attempt(values, from) {
    for (const one of Object.values(this.made)) one.reset();
    const modelled = this.numbers(values), start = from || modelled, { projection } = this.made;
    if (!this.moves) return { state: start, far: 0 };
    projection.state.set(start);
    projection.changed();
    try { projection.h = 1e-15; projection.run(1); } catch { return null; }
    const state = Float64Array.from(projection.state), far = state.reduce((most, x, k) => (k % 13 < 3 && k < 13 * this.data.names.length ? Math.max(most, Math.abs(x - start[k])) : most), 0);
    return state.every(Number.isFinite) ? { state, far } : null;
  }

  // From the last start that was closed to these values, in parts so small that each closing moves it little: the same branch all the way.
  follow(wanted) {
    const { values: first, state } = this.closed, at = (s) => Object.fromEntries(Object.keys(wanted).map((name) => [name, first[name] + s * (wanted[name] - first[name])]));
    let here = 0, step = 1 / 8, own = state;
    while (here < 1) {
      const next = Math.min(1, here + step), before = this.numbers(at(here)), after = this.numbers(at(next)), guess = own.map((x, k) => x + after[k] - before[k]);
      const found = this.attempt(at(next), guess);
      if (found && found.far <= NEAR * this.size * Math.max(step, 0.1)) { here = next; own = found.state; step = Math.min(1 / 8, 2 * step); continue; }
      step /= 2;
      if (step < 1 / PARTS) break;
    }
    return { values: here < 1 ? at(here) : { ...wanted }, state: own, whole: here >= 1 };
  }

  // The start again, closed, with the values of the sliders; where these cannot be closed, with the nearest on the way that can.
  reset() {
    this.said = "";
    const wanted = { ...this.values };
    let found = this.attempt(wanted);
    if (found && found.far > NEAR * this.size) found = null;
    if (!found) {
      const told = this.told(), way = this.follow(wanted);
      found = way;
      if (!way.whole) {
        this.values = way.values;
        this.said = `the mechanism cannot be closed with ${told}: it stays at ${this.told()}`;
      }
      for (const one of Object.values(this.made)) one.reset();
      this.numbers();
    }
    this.closed = { values: { ...this.values }, state: found.state };
    for (const one of Object.values(this.made)) { one.state.set(found.state); one.X.haug_set_time(one.m, this.t0); one.h = this.h; one.changed(); }
    this.take();
    this.history = { t: [], energy: [], violation: [] };
    this.reshape();
    this.moved?.();
    this.show();
    return !this.said;
  }

  // Draw bodies, joints and loads with the points of these values.
  reshape() {
    const { data: { picture }, player: { world } } = this;
    if (!picture) return;
    const numbers = chebyshev(this.drawn, picture.degrees, this.places(this.values));
    let at = 0;
    const [lines, ...bodies] = picture.parts.map((part) => part && filled(part, () => numbers[at++]));
    const own = world.data.loads.length, points = world.data.bodies.map(() => []);
    for (const { i, s_i, j, s_j } of [...lines.joints, ...lines.loads.slice(0, own)]) { points[i].push(s_i); points[j].push(s_j); }
    const gone = [...world.joints.flatMap(({ links }) => links), ...world.loads].map(({ object }) => object).filter(Boolean);
    for (const one of gone) one.removeFromParent();
    world.bodies.forEach((body, k) => {
      gone.push(...body.group.children);
      body.group.clear();
      const look = { color: body.color, made: {} }, add = (mesh) => { mesh.userData.body = k; body.group.add(mesh); };
      if (bodies[k]) for (const shape of bodies[k]) add(shapeMesh(shape, look, world.meshes));
      else if (k) {  // sticks: between two points, or from their middle to each
        const material = (look.made.stick = paint(body.color)), ends = points[k].map((s) => new THREE.Vector3(...s)), middle = new THREE.Vector3();
        for (const end of ends) middle.addScaledVector(end, 1 / ends.length);
        if (ends.length === 1) middle.set(0, 0, 0);
        for (const end of ends) { const bar = rod(0.9 * world.g, material); span(bar, middle, end); bar.traverse((mesh) => { mesh.userData.body = k; }); body.group.add(bar); }
      }
      body.materials = Object.values(look.made);
    });
    for (const object of gone) object.traverse(({ geometry }) => { if (geometry && !Object.values(UNIT).includes(geometry) && !world.meshes.made.includes(geometry)) geometry.dispose(); });
    world.joints = lines.joints.map((joint) => world.addJoint(joint));
    world.loads = lines.loads.slice(0, own).map((load, k) => world.addLoad(load, k));
  }

  told() { return Object.entries(this.values).map(([name, value]) => `${name} = ${Number(value).toPrecision(4)}`).join(", "); }

  // A slider: numbers of the modelled pose begin anew, all others take effect at once.
  set(name, value) {
    if (!(name in this.values)) throw new Error(`there is no slider '${name}'.${nearest(name, Object.keys(this.values))}`);
    this.values[name] = value;
    if (this.moves) return this.reset();
    this.numbers();
    this.take();
    for (const one of Object.values(this.made)) one.changed();
    return true;
  }

  choose(method) {
    if (!(method in this.made)) throw new Error(`there is no stabilization '${method}'.${nearest(method, Object.keys(this.made))}`);
    const before = this.now, state = Float64Array.from(before.state), t = before.t;
    this.method = method;
    const { now } = this;
    now.state.set(state);
    now.X.haug_set_time(now.m, t);
    now.changed();
  }

  setStep(h) { this.h = h; for (const one of Object.values(this.made)) one.h = h; }

  // n steps; where the engine looks for a singular pose it makes fewer, and goes on when it is called again.
  steps(n) {
    for (let left = n, idle = 0; left > 0;) {
      let done;
      try { done = this.now.run(left); } catch (error) { this.said = error.message; this.player.pause(); return false; }
      idle = done ? 0 : idle + 1;
      if (idle > 1) { this.said = `the motion comes to a singular pose at t = ${this.t.toFixed(4)} s`; this.player.pause(); return false; }
      left -= done;
    }
    return true;
  }

  energy() {
    const { state } = this.now, { inertia: all, gravity } = this;
    let total = 0;
    for (let b = 1; b < all.length; b++) {
      const o = 13 * b, [m, ...J] = all[b], w = state.subarray(o + 10, o + 13);
      for (let a = 0; a < 3; a++) {
        total += 0.5 * m * state[o + 7 + a] ** 2 - m * gravity[a] * state[o + a];
        for (let c = 0; c < 3; c++) total += 0.5 * w[a] * J[3 * a + c] * w[c];
      }
    }
    return total;
  }

  violation() {
    this.now.evaluate();
    let most = 0;
    for (let k = 0; k < this.data.rows; k++) most = Math.max(most, Math.abs(this.now.get(`#Phi ${k}`)));
    return most;
  }

  // The hand: a spring from the pointer to the point of the body that it has taken, critically damped.
  pull() {
    const { held, now, data } = this;
    if (!held) return;
    const o = 13 * held.body, s = now.state, name = data.names[held.body], m = Math.max(this.inertia[held.body][0], 1e-9);
    const q = new THREE.Quaternion(s[o + 4], s[o + 5], s[o + 6], s[o + 3]), arm = held.s.clone().applyQuaternion(q), w = new THREE.Vector3(s[o + 10], s[o + 11], s[o + 12]).applyQuaternion(q);
    const v = new THREE.Vector3(s[o + 7], s[o + 8], s[o + 9]).add(w.clone().cross(arm)), F = held.to.clone().sub(arm).sub(new THREE.Vector3(s[o], s[o + 1], s[o + 2])).multiplyScalar(m * HAND * HAND).addScaledVector(v, -2 * m * HAND);
    const M = arm.cross(F);
    this.act(name, F.toArray(), M.toArray());
  }
  act(name, F, M) {
    const [force, torque] = this.data.drag;
    ["x", "y", "z"].forEach((axis, k) => { this.now.set(`${force}${name}.${axis}`, F[k]); this.now.set(`${torque}${name}.${axis}`, M[k]); });
  }
  release() {
    if (!this.held) return;
    for (const name of this.data.names.slice(1)) for (const one of Object.values(this.made)) for (const kind of this.data.drag) for (const axis of "xyz") one.set(`${kind}${name}.${axis}`, 0);
    this.held = null;
  }

  // Time passes: as many steps as the frame has time for.
  advance(seconds) {
    const n = Math.max(1, Math.round(seconds / this.h)), chunk = Math.max(1, Math.round(HELD / this.h)), began = performance.now();
    for (let done = 0; done < n; done += chunk) {
      this.pull();
      if (!this.steps(Math.min(chunk, n - done))) break;
      if (performance.now() - began > BUDGET) break;
    }
    this.note();
  }

  note() {
    const { t, energy, violation } = this.history;
    t.push(this.t); energy.push(this.energy()); violation.push(this.violation());
    if (t.length > KEPT) for (const one of [t, energy, violation]) one.shift();
  }

  show() { this.player.time = this.t; this.player.world.place(this.t); this.player.refresh(); this.curves?.(); }

  face() {
    const live = this;
    return {
      get t() { return live.t; }, get state() { return [...live.now.state]; }, get energy() { return live.energy(); }, get violation() { return live.violation(); },
      get said() { return live.said; }, get values() { return { ...live.values }; }, get method() { return live.method; }, get h() { return live.h; },
      set: (name, value) => { const ok = live.set(name, value); live.show(); return ok; }, choose: (method) => live.choose(method), setStep: (h) => live.setStep(h), reset: () => live.reset(),
      hold: (body, s, to) => { live.held = { body: live.data.names.indexOf(body), s: new THREE.Vector3(...s), to: new THREE.Vector3(...to), plane: null }; },
      let: () => live.release(), pass: (seconds) => { const { h } = live; for (let t = 0; t < seconds - 0.5 * h; t += h) { live.pull(); if (!live.steps(1)) return false; } live.show(); return true; },
      steps: (n) => { const ok = live.steps(n); live.show(); return ok; }, names: () => Object.keys(live.values), methods: () => Object.keys(live.made),
    };
  }
}

// A curve over the last seconds, on a canvas: linear or logarithmic.
function stripChart(box, title, { log = false } = {}) {
  const head = box.appendChild(Object.assign(document.createElement("div"), { className: "head" }));
  const name = head.appendChild(Object.assign(document.createElement("span"), { textContent: title })), value = head.appendChild(document.createElement("output"));
  const canvas = box.appendChild(document.createElement("canvas")), pen = canvas.getContext("2d");
  canvas.setAttribute("role", "img");
  return (t, y) => {
    const W = canvas.clientWidth, H = canvas.clientHeight, ratio = window.devicePixelRatio || 1, style = getComputedStyle(document.documentElement);
    if (canvas.width !== Math.round(W * ratio)) { canvas.width = Math.round(W * ratio); canvas.height = Math.round(H * ratio); }
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, W, H);
    const last = y[y.length - 1];
    value.textContent = last === undefined ? "" : log ? last.toExponential(1) : short(last);
    canvas.setAttribute("aria-label", `${title}: ${value.textContent}`);
    if (t.length < 2) return;
    const f = log ? (v) => Math.log10(Math.max(v, 1e-17)) : (v) => v, all = y.map(f);
    let low = Math.min(...all), high = Math.max(...all);
    const least = log ? 2 : 1e-9 * Math.max(1, Math.abs(high));
    if (high - low < least) { const middle = 0.5 * (low + high); low = middle - 0.5 * least; high = middle + 0.5 * least; }
    const X = (s) => 34 + (W - 38) * (s - t[0]) / Math.max(t[t.length - 1] - t[0], 1e-12), Y = (v) => H - 6 - (H - 16) * (v - low) / (high - low);
    pen.strokeStyle = style.getPropertyValue("--line"); pen.fillStyle = style.getPropertyValue("--soft"); pen.font = "10px system-ui";
    for (const v of [low, high]) { pen.beginPath(); pen.moveTo(34, Y(v)); pen.lineTo(W - 4, Y(v)); pen.stroke(); pen.fillText(log ? `1e${Math.round(v)}` : short(v), 0, Y(v) + 3); }
    pen.strokeStyle = style.getPropertyValue("--accent"); pen.lineWidth = 1.6; pen.beginPath();
    all.forEach((v, k) => (k ? pen.lineTo(X(t[k]), Y(v)) : pen.moveTo(X(t[k]), Y(v))));
    pen.stroke();
  };
}

// The panel, and the pointer.
function furnishLive(live) {
  const { player, data } = live, { world } = player, lab = document.body.appendChild(Object.assign(document.createElement("aside"), { id: "lab" }));
  lab.setAttribute("aria-label", "the simulation");
  const part = (tag, props = {}, parent = lab) => parent.appendChild(Object.assign(document.createElement(tag), props));
  const fold = part("button", { id: "fold", textContent: "\u2212", title: "fold" });
  fold.addEventListener("click", () => { lab.classList.toggle("folded"); fold.textContent = lab.classList.contains("folded") ? "+" : "\u2212"; player.makeWay(); });
  const inner = part("div", { className: "inner" }), said = part("p", { className: "said" }, inner), shown = {};
  for (const { name, low, high, value } of data.sliders) {
    const row = part("label", { className: "slider" }, inner), top = part("span", { textContent: name }, row), number = part("output", { textContent: short(value) }, row);
    const input = part("input", { type: "range", min: low, max: high, step: (high - low) / 1000, value }, row);
    input.setAttribute("aria-label", name);
    shown[name] = [input, number];
    input.addEventListener("input", () => { live.set(name, Number(input.value)); number.textContent = short(live.values[name]); live.show(); });
  }
  const line = part("div", { className: "line" }, inner), method = part("select", { title: "stabilization of the constraints" }, line), step = part("select", { title: "step [s]" }, line);
  method.setAttribute("aria-label", "stabilization"); step.setAttribute("aria-label", "step");
  for (const name of Object.keys(live.made)) method.append(new Option(name === "none" ? "no stabilization" : name, name));
  for (const factor of [0.5, 1, 2, 5, 10, 20]) step.append(new Option(`h = ${short(1000 * factor * data.h)} ms`, factor * data.h, factor === 1, factor === 1));
  method.addEventListener("change", () => live.choose(method.value));
  step.addEventListener("change", () => live.setStep(Number(step.value)));
  const again = part("button", { textContent: "Restart", title: "the start again, with these values" }, line), back = part("button", { textContent: "Defaults" }, line);
  again.addEventListener("click", () => { live.release(); live.reset(); player.play(); });
  back.addEventListener("click", () => {
    Object.assign(live.values, live.first); method.value = live.method = "projection"; live.setStep(data.h); step.value = String(data.h);
    live.release(); live.reset();
  });
  live.moved = () => { for (const [name, [input, number]] of Object.entries(shown)) { input.value = live.values[name]; number.textContent = short(live.values[name]); } };
  const first = part("button", { textContent: "First run", title: "the run of the page's first values, as a ghost" }, line);
  first.setAttribute("aria-pressed", "true");
  first.addEventListener("click", () => { const on = !world.ghost.groups[1].visible; world.ghost.groups.forEach((group) => { group.visible = on; }); first.setAttribute("aria-pressed", String(on)); player.dirty = true; });
  const energy = stripChart(part("div", { className: "strip" }, inner), "kinetic energy + weight [J]"), violation = stripChart(part("div", { className: "strip" }, inner), "violation max |\u03a6|", { log: true });
  live.curves = () => { energy(live.history.t, live.history.energy); violation(live.history.t, live.history.violation); said.textContent = live.said; said.hidden = !live.said; };

  player.makeWay();
  const stage = $("stage");
  stage.addEventListener("pointerdown", (event) => {
    if (!event.isPrimary || event.button || event.shiftKey) return;
    const hit = world.under(event.clientX, event.clientY).find(({ object }) => object.userData.body);
    if (!hit) return;
    const group = world.bodies[hit.object.userData.body].group, s = group.worldToLocal(hit.point.clone()), away = world.camera.getWorldDirection(new THREE.Vector3());
    live.held = { body: hit.object.userData.body, s, to: hit.point.clone(), plane: new THREE.Plane().setFromNormalAndCoplanarPoint(away, hit.point) };
    if (world.controls) world.controls.enabled = false;
  }, true);
  window.addEventListener("pointermove", (event) => {
    if (!live.held) return;
    const ray = new THREE.Raycaster();
    ray.setFromCamera(new THREE.Vector2(2 * event.clientX / world.width - 1, 1 - 2 * event.clientY / world.height), world.camera);
    ray.ray.intersectPlane(live.held.plane, live.held.to);
  });
  for (const end of ["pointerup", "pointercancel"]) window.addEventListener(end, () => { live.release(); if (world.controls) world.controls.enabled = true; });
}

// Let the player show the engine's motion in place of a stored one.
async function startLive(player) {
  const live = await Live.open(player), { world, motion } = player, reaches = new Map(world.data.joints.map((joint) => [joint.name, world.reach(joint)]));
  world.reach = ({ name }) => reaches.get(name) || [0, 0];
  motion.at = (t, body, r, p) => {
    const s = live.now.state, o = 13 * body;
    let length = 0;
    for (let a = 0; a < 3; a++) r[a] = s[o + a];
    for (let a = 0; a < 4; a++) { p[a] = s[o + 3 + a]; length += p[a] * p[a]; }
    length = Math.sqrt(length) || 1;
    for (let a = 0; a < 4; a++) p[a] /= length;
  };
  // The loads by which the pointer drags stand behind those of the mechanism: they are not drawn.
  const own = player.data.loads.findIndex(({ name }) => live.data.drag.some((kind) => name.startsWith(kind))), drawn = [];
  if (own >= 0) {
    world.scene.traverse((one) => { if (one.userData.load >= own) drawn.push(one); });
    for (const one of drawn) one.removeFromParent();
    world.loads.length = player.data.loads.length = own;
  }
  Object.assign(world.shown, { forces: false, violation: false, traces: false });
  for (const what of ["forces", "violation", "traces"]) player.switches[what].hidden = true;
  $("legend").hidden = true;
  for (const button of $("switches").children) if (button.textContent === "Curves") button.hidden = true;
  for (const id of ["time", "loop"]) $(id).hidden = true;
  $("notes").textContent = "drag a body; orange: the first run";
  player.t1 = player.t0;
  player.play = () => { player.playing = true; player.last = null; player.refresh(); };
  player.step = (n) => { player.pause(); live.steps(Math.max(1, n)); live.note(); live.show(); };
  player.seek = () => live.show();
  player.setSpeed(1);
  player.tick = (now) => {
    if (player.playing) {
      const passed = player.last === null ? 0 : Math.min((now - player.last) / 1000, 0.05);
      player.last = now;
      if (passed > 0) live.advance(player.speed * passed);
      live.show();
    }
    if (player.dirty) { player.dirty = false; world.draw(); player.overlay(); live.curves(); }
    requestAnimationFrame((next) => player.tick(next));
  };
  furnishLive(live);
  live.reshape();
  live.note();
  live.show();
  window.live = live.face();
}
