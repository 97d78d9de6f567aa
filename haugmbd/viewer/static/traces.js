// Paths: of the centres of mass, of the selected joint, and of points that were chosen; the part that is past is strong.

const MANY_BODIES = 25, MOST_CORNERS = 800;

class Traces {
  constructor(world) {
    const { motion } = world, step = Math.max(1, Math.ceil(motion.n / MOST_CORNERS));
    Object.assign(this, { world, all: [], ticks: [], known: new Set() });
    for (let k = 0; k < motion.n; k += step) this.ticks.push(motion.t[k]);
    if (motion.n > 1 && this.ticks[this.ticks.length - 1] !== motion.t[motion.n - 1]) this.ticks.push(motion.t[motion.n - 1]);
    for (const body of world.bodies.slice(1)) this.add(body.index, [0, 0, 0], { index: body.index });
  }

  // The path of a point s of a body, in its frame;  owner: whose it is; null if it hardly moves.
  add(index, s, owner) {
    if (this.ticks.length < 2) return null;
    const { world } = this, at = [], before = new THREE.Vector3();
    let long = 0;
    this.ticks.forEach((t, k) => {
      const point = world.point(index, s, t);
      at.push(point.x, point.y, point.z);
      if (k) long += point.distanceTo(before);
      before.copy(point);
    });
    if (long < 0.02 * world.data.size) return null;
    const { color } = world.bodies[index], make = (opacity, width) => {
      const line = new THREE.Line2(new THREE.LineGeometry().setPositions(at), new THREE.LineMaterial({ color, linewidth: width, transparent: true, opacity, depthWrite: false }));
      line.frustumCulled = false;
      world.scene.add(line);
      return line;
    };
    const trace = { ...owner, whole: make(0.25, 1.2), past: make(0.8, 2.2) };
    if (owner.chosen) {
      trace.dot = solid("sphere", 1.1 * world.g, 1.1 * world.g, 1.1 * world.g, paint(color, { roughness: 0.4 }));
      trace.dot.position.fromArray(s);
      world.bodies[index].group.add(trace.dot);
    }
    this.all.push(trace);
    return trace;
  }

  // The path of a joint is made when the joint is selected for the first time.
  need(k) {
    const joint = this.world.joints[k];
    if (this.known.has(k) || ["orientation", "none"].includes(joint.glyph) || joint.glyph.endsWith("driver")) return;
    this.known.add(k);
    this.add(joint.j, joint.s_j, { joint: k });
  }

  place() {
    const { selected, shown, t, bodies } = this.world;
    if (selected && selected.kind === "joint") this.need(selected.index);
    const many = bodies.length > MANY_BODIES, k = Math.max(0, stepAt(this.ticks, t));
    for (const { index, joint, chosen, whole, past } of this.all) {
      const mine = selected && (selected.kind === "joint" ? selected.index === joint : selected.index === index);
      whole.visible = past.visible = Boolean(shown.traces && (chosen || mine || (index !== undefined && !many)));
      past.geometry.instanceCount = k;
      if (k === 0) past.visible = false;
    }
  }

  // The point of a body that is under these CSS pixels leaves a path from now on.
  choose(x, y) {
    const { world } = this, hit = world.under(x, y).find(({ object }) => object.userData.body);
    if (!hit) return null;
    const { body } = hit.object.userData, s = world.bodies[body].group.worldToLocal(hit.point.clone()).toArray();
    return this.add(body, s, { chosen: true });
  }

  // The paths of chosen points go.
  forget() {
    for (const { chosen, whole, past, dot } of this.all) if (chosen) for (const object of [whole, past, dot]) object.removeFromParent();
    this.all = this.all.filter(({ chosen }) => !chosen);
  }
}
