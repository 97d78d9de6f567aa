// Curves beside the motion, each with a cursor at the time that is shown; what there is to see of a body, a joint, a load, or the whole.

const AXES = ["#d8453e", "#2f9e44", "#3b74d8", "#9467bd"];
const SVG = "http://www.w3.org/2000/svg";

const element = (name, attributes = {}, parent = null) => {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (parent) parent.append(made);
  return made;
};

// The value of a curve at t, between its states.
function valueAt(t, times, values) {
  const k = stepAt(times, t), next = Math.min(k + 1, times.length - 1), h = times[next] - times[k];
  const s = h > 0 ? Math.min(Math.max((t - times[k]) / h, 0), 1) : 0;
  return s === 0 ? values[k] : (1 - s) * values[k] + s * values[next];
}

class Curves {
  constructor(bytes, packed, data, motion) {
    Object.assign(this, { data, motion, packed });
    this.t = exactNumbers(bytes, packed.t);
    this.n = this.t.length;
    for (const key of ["v", "omega", "energy", "force", "torque", "violation", "contact", "touch", "column"]) if (packed[key]) this[key] = channels(bytes, packed[key]);
  }

  three(array, k, width = 3) { return Array.from({ length: width }, (_, a) => array.subarray((width * k + a) * this.n, (width * k + a + 1) * this.n)); }

  vector(name, k, t, into) {
    const [x, y, z] = this.three(this[name], k);
    return into.set(valueAt(t, this.t, x), valueAt(t, this.t, y), valueAt(t, this.t, z));
  }

  // The largest size of the vectors of a kind, or of those of one joint.
  largest(name, only = -1) {
    let most = 0;
    const array = this[name], n = this.n;
    if (!array) return 0;
    for (let k = 0; k < array.length / (3 * n); k++) if (only < 0 || k === only) for (let i = 0; i < n; i++) {
      const size = Math.hypot(array[3 * k * n + i], array[(3 * k + 1) * n + i], array[(3 * k + 2) * n + i]);
      if (size > most) most = size;
    }
    return most;
  }

  // What can be plotted of a body: [{title, names, t, lines}].
  ofBody(index, ghost) {
    if (index === 0) return [];
    const { motion } = this, poses = (array, width) => Array.from({ length: width }, (_, a) => array.subarray((width * (index - 1) + a) * motion.n, (width * (index - 1) + a + 1) * motion.n));
    const position = { title: "position r [m]", names: ["x", "y", "z"], t: motion.t, lines: poses(motion.r, 3) };
    if (ghost) {
      const k = ghost.bodies.findIndex((body) => body.name === this.data.bodies[index].name);
      if (k > 0) position.ghost = { t: ghost.motion.t, lines: [0, 1, 2].map((a) => ghost.motion.r.subarray((3 * (k - 1) + a) * ghost.motion.n, (3 * (k - 1) + a + 1) * ghost.motion.n)) };
    }
    return [
      position,
      { title: "velocity v [m/s]", names: ["x", "y", "z"], t: this.t, lines: this.three(this.v, index - 1) },
      { title: "angular velocity, body frame [rad/s]", names: ["x", "y", "z"], t: this.t, lines: this.three(this.omega, index - 1) },
      { title: "Euler parameters p [1]", names: ["e0", "e1", "e2", "e3"], t: motion.t, lines: poses(motion.p, 4) },
    ];
  }

  ofJoint(index, world) {
    const joint = this.data.joints[index], bodies = this.data.bodies, given = this.packed.coordinates[index];
    const made = given ? this.plots(given) : coordinates(joint, this.motion);
    const on = bodies[joint.j].name;
    if (this.force) {
      const [force, torque] = this.packed.unique[index].map((one) => (one ? "" : ", not unique"));
      made.push({ title: `force on ${on}${force} [N]`, names: ["x", "y", "z"], t: this.t, lines: this.three(this.force, index), floor: 1e-9 * this.largest("force") });
      if (this.torque) made.push({ title: `torque on ${on}${torque} [N m]`, names: ["x", "y", "z"], t: this.t, lines: this.three(this.torque, index), floor: 1e-9 * Math.max(this.largest("torque"), this.largest("force") * this.data.size) });
    }
    if (this.violation) made.push({ title: "violation, position level", names: ["|\u03a6|"], t: this.t, lines: this.three(this.violation, index, 1), log: true });
    return made;
  }

  // The plots whose columns are in the page.
  plots(given) {
    return given.map(({ title, names, first }) => ({ title, names, t: this.t, lines: names.map((_, k) => this.column.subarray((first + k) * this.n, (first + k + 1) * this.n)) }));
  }

  // What can be plotted of a spring, a force or a torque; of a spring at least its length.
  ofLoad(index) {
    const load = this.data.loads[index], given = this.packed.loads[load.name];
    if (given) return this.plots(given);
    return load.kind === "TSDA" ? [{ title: "length [m]", names: ["l"], ...lengths(load, this.motion) }] : [];
  }

  ofAll() {
    const made = [];
    if (this.energy) made.push({ title: "energy [J]", names: ["kinetic", "potential", "total"], t: this.t, lines: this.three(this.energy, 0) });
    if (this.contact) made.push({ title: "contact forces [N]", names: this.data.contacts.map((c) => c.name), t: this.t, lines: this.data.contacts.map((_, k) => this.three(this.contact, k, 1)[0]) });
    made.push(...this.plots(this.packed.sensors));
    this.data.loads.forEach((load, k) => { if (load.kind === "TSDA") made.push({ ...this.ofLoad(k)[0], title: `length of ${load.name} [m]` }); });
    for (const [name, given] of Object.entries(this.packed.loads)) if (this.data.loads.every((load) => load.name !== name)) made.push(...this.plots(given).map((plot) => ({ ...plot, title: `${name}: ${plot.title}` })));
    return made;
  }
}

const asQuaternion = (p) => new THREE.Quaternion(p[1], p[2], p[3], p[0]);

// The angle and the displacement of a joint over the frames, of body j against body i about and along h, where the page has no others.
// Turns are counted if no frame is more than a quarter of one from the frame before.
function coordinates(joint, motion) {
  const turns = ["revolute", "cylindrical", "planar", "rotation driver"].includes(joint.glyph), slides = ["cylindrical", "translational", "point on line", "translation driver"].includes(joint.glyph);
  if (!turns && !slides) return [];
  let far = false;
  const n = motion.n, angle = new Float64Array(n), slide = new Float64Array(n), r = new Float64Array(3), p = new Float64Array(4), x = new THREE.Vector3();
  const place = (body, s, own, t) => {
    motion.at(t, body, r, p);
    const q = asQuaternion(p);
    return { at: new THREE.Vector3(...s).applyQuaternion(q).add(x.fromArray(r)), q: q.multiply(asQuaternion(own)) };
  };
  for (let k = 0; k < n; k++) {
    const t = motion.t[k], i = place(joint.i, joint.s_i, joint.p_i, t), j = place(joint.j, joint.s_j, joint.p_j, t);
    const q = i.q.clone().invert().multiply(j.q), d = j.at.clone().sub(i.at).applyQuaternion(i.q.clone().invert());
    slide[k] = d.z;
    let theta = 2 * Math.atan2(q.z, q.w);
    if (k > 0) theta += 2 * Math.PI * Math.round((angle[k - 1] - theta) / (2 * Math.PI));
    angle[k] = k > 0 ? theta : Math.atan2(Math.sin(theta), Math.cos(theta));
    if (k > 0 && Math.abs(angle[k] - angle[k - 1]) > 0.5 * Math.PI) far = true;
  }
  if (far) angle.forEach((theta, k) => { angle[k] = Math.atan2(Math.sin(theta), Math.cos(theta)); });
  const made = [];
  if (turns) made.push({ title: far ? "angle [rad], turns not counted" : "angle [rad]", names: ["\u03b8"], t: motion.t, lines: [angle] });
  if (slides) made.push({ title: "displacement [m]", names: ["x"], t: motion.t, lines: [slide] });
  return made;
}

function lengths({ i, j, s_i, s_j }, motion) {
  const n = motion.n, l = new Float64Array(n), r = new Float64Array(3), p = new Float64Array(4);
  const point = (body, s, t) => { motion.at(t, body, r, p); return new THREE.Vector3(...s).applyQuaternion(asQuaternion(p)).add(new THREE.Vector3().fromArray(r)); };
  for (let k = 0; k < n; k++) l[k] = point(i, s_i, motion.t[k]).distanceTo(point(j, s_j, motion.t[k]));
  return { t: motion.t, lines: [l] };
}

// One plot: lines, a cursor, and the values there.
class Plot {
  constructor(curve, { t0, t1, seek }) {
    Object.assign(this, { curve, t0, t1 });
    const colors = curve.names.length === 1 ? ["var(--accent)"] : AXES.concat(PALETTE);
    this.box = Object.assign(document.createElement("div"), { className: "plot" });
    const head = this.box.appendChild(Object.assign(document.createElement("div"), { className: "head" }));
    head.append(Object.assign(document.createElement("span"), { textContent: curve.title }));
    this.pin = head.appendChild(Object.assign(document.createElement("button"), { textContent: "pin", title: "keep this plot" }));
    const [W, H, L, R, T, B] = [340, 118, 56, 6, 6, 16];
    Object.assign(this, { W, H, L, R, T, B });
    const svg = element("svg", { viewBox: `0 0 ${W} ${H}`, role: "img" }, this.box);
    element("title", {}, svg).textContent = curve.title;
    let low = Infinity, high = -Infinity;
    const every = [...curve.lines, ...(curve.ghost ? curve.ghost.lines : [])];
    for (const line of every) for (const y of line) if (Number.isFinite(y)) { low = Math.min(low, y); high = Math.max(high, y); }
    if (!Number.isFinite(low)) { low = 0; high = 1; }
    const least = curve.log ? 2 : Math.max(1e-9 * Math.abs(low), 1e-9 * Math.abs(high), curve.floor || 0);  // less is rounding
    if (high - low <= least) {
      const middle = 0.5 * (low + high), half = curve.log ? 1 : Math.max(0.02 * Math.abs(middle), 5 * least) || 1;
      low = middle - half; high = middle + half;
    }
    this.x = (t) => L + (W - L - R) * (t1 > t0 ? (t - t0) / (t1 - t0) : 0);
    this.y = (v) => T + (H - T - B) * (1 - (v - low) / (high - low));
    element("rect", { x: L, y: T, width: W - L - R, height: H - T - B, fill: "none", stroke: "var(--line)" }, svg);
    if (low < 0 && high > 0 && !curve.log) element("line", { x1: L, x2: W - R, y1: this.y(0), y2: this.y(0), stroke: "var(--line)" }, svg);
    const say = (v) => (curve.log ? `1e${short(v, 3)}` : Math.abs(v) < 0.01 || Math.abs(v) >= 1e4 ? short(v, 2) : short(v, 3));
    for (const [v, y] of [[high, T + 9], [low, H - B]]) element("text", { x: L - 4, y, "text-anchor": "end" }, svg).textContent = say(v);
    element("text", { x: L, y: H - 3 }, svg).textContent = `${short(t0)} s`;
    element("text", { x: W - R, y: H - 3, "text-anchor": "end" }, svg).textContent = `${short(t1)} s`;
    const path = (times, line) => {
      let d = "", on = false;
      const step = Math.max(1, Math.floor(times.length / 1200));
      for (let k = 0; k < times.length; k += step) {
        if (!Number.isFinite(line[k])) { on = false; continue; }
        d += `${on ? "L" : "M"}${this.x(times[k]).toFixed(1)} ${this.y(line[k]).toFixed(1)}`;
        on = true;
      }
      return d;
    };
    if (curve.ghost) curve.ghost.lines.forEach((line, k) => element("path", { d: path(curve.ghost.t, line), fill: "none", stroke: colors[k], "stroke-width": 1.2, "stroke-dasharray": "4 3" }, svg));
    curve.lines.forEach((line, k) => element("path", { d: path(curve.t, line), fill: "none", stroke: colors[k], "stroke-width": 1.7, "stroke-linejoin": "round" }, svg));
    this.cursor = element("line", { y1: T, y2: H - B, stroke: "var(--ink)", "stroke-width": 1, class: "cursor" }, svg);
    this.dots = curve.lines.map((_, k) => element("circle", { r: 3, fill: colors[k] }, svg));
    const legend = this.box.appendChild(Object.assign(document.createElement("div"), { className: "legend" }));
    this.values = curve.names.map((name, k) => {
      const item = legend.appendChild(document.createElement("span")), mark = item.appendChild(document.createElement("i"));
      mark.style.borderColor = colors[k];
      return item.appendChild(document.createTextNode(name));
    });
    const to = (event) => {
      const box = svg.getBoundingClientRect(), u = (event.clientX - box.left) / box.width * W;
      seek(t0 + (t1 - t0) * Math.min(Math.max((u - L) / (W - L - R), 0), 1));
    };
    svg.addEventListener("pointerdown", (event) => { svg.setPointerCapture(event.pointerId); to(event); });
    svg.addEventListener("pointermove", (event) => { if (event.buttons) to(event); });
  }
  show(t) {
    const { curve } = this;
    this.cursor.setAttribute("x1", this.x(t)); this.cursor.setAttribute("x2", this.x(t));
    curve.lines.forEach((line, k) => {
      const v = valueAt(t, curve.t, line), there = Number.isFinite(v);
      this.dots[k].style.display = there ? "" : "none";
      if (there) { this.dots[k].setAttribute("cx", this.x(t)); this.dots[k].setAttribute("cy", this.y(v)); }
      this.values[k].data = `${curve.names[k]} ${curve.log ? short(10 ** v, 3) : short(v)}`;
    });
  }
}
