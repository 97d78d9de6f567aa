// The page: it reads the scene, plays it, and answers what is asked by keyboard, touch, address and window.mechanism.

const $ = (id) => document.getElementById(id);
const SPEEDS = [0.0001, 0.001, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 4, 10, 50, 200, 1000];

function nearest(name, names) {
  const distance = (a, b) => {
    let row = Array.from({ length: b.length + 1 }, (_, k) => k);
    for (let i = 1; i <= a.length; i++) {
      const next = [i];
      for (let j = 1; j <= b.length; j++) next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1));
      row = next;
    }
    return row[b.length];
  };
  const best = names.map((one) => [distance(String(name).toLowerCase(), one.toLowerCase()), one]).sort((a, b) => a[0] - b[0])[0];
  return best && best[0] <= Math.max(2, 0.5 * best[1].length) ? ` Did you mean '${best[1]}'?` : ` There are ${names.map((one) => `'${one}'`).join(", ")}.`;
}

class Player {
  constructor(data, motion, world) {
    Object.assign(this, { data, motion, world });
    this.t0 = motion.t[0];
    this.t1 = motion.t[motion.n - 1];
    this.time = this.t0;
    this.playing = false;
    this.longTouch = 600;  // [ms]
    this.loop = true;
    const span = this.t1 - this.t0;  // a short motion is slowed down, a long one quickened, to be seen within a minute
    this.speed = span >= 1 && span <= 120 ? 1 : [...SPEEDS].reverse().find((speed) => span / speed >= 3) || SPEEDS[0];
    this.dirty = true;
    this.plots = [];
  }

  seek(t) {
    if (typeof t !== "number" || !Number.isFinite(t)) throw new Error(`seek(t) needs a time in seconds, got ${t}.`);
    this.time = Math.min(Math.max(t, this.t0), this.t1);
    this.world.motion = this.motion;
    this.world.place(this.time);
    this.refresh();
  }

  // The bodies stand at these poses, each r (3) and p (4, scalar first), the ground first, until the motion plays again.
  stand(r, p) {
    this.pause();
    this.world.motion = { at: (t, body, to, turn) => { to.set(r[body]); turn.set(p[body]); } };
    this.world.place(this.time);
    this.refresh();
  }

  play() {
    this.world.motion = this.motion;
    if (this.t1 <= this.t0) { this.world.place(this.time); this.dirty = true; return; }
    if (this.time >= this.t1) this.seek(this.t0);
    this.playing = true;
    this.last = null;
    this.refresh();
  }

  pause() { this.playing = false; this.refresh(); }

  // One frame of the screen.
  tick(now) {
    if (this.playing) {
      const passed = this.last === null ? 0 : Math.min((now - this.last) / 1000, 0.25);
      this.last = now;
      let t = this.time + this.speed * passed;
      if (t > this.t1) {
        if (this.loop) t = this.t0 + (t - this.t0) % (this.t1 - this.t0);
        else { t = this.t1; this.playing = false; }
      }
      this.time = t;
      this.world.place(t);
      this.refresh();
    }
    if (this.dirty) { this.dirty = false; this.world.draw(); this.overlay(); }
    requestAnimationFrame((next) => this.tick(next));
  }

  refresh() {
    this.dirty = true;
    $("time").value = this.time;
    $("clock").textContent = `${this.time.toFixed(this.decimals)} s`;
    const look = this.playing ? "M3 2h4v14H3zM11 2h4v14h-4z" : "M4 1.5v15l12-7.5z";
    if (look !== this.look) { this.look = look; $("play").innerHTML = `<svg viewBox="0 0 18 18"><path d="${look}"/></svg>`; }
  }

  // Names over the picture, and cursors in the plots.
  overlay() {
    const { world } = this, labels = $("labels");
    const all = world.shown.names, chosen = world.selected;
    const wanted = [];
    if (all || chosen) for (const one of world.anchors()) {
      const here = chosen && chosen.kind === one.kind && chosen.index === one.index;
      if (one.there && (all || here)) wanted.push({ text: one.name, x: one.x + 10, y: one.y - 24, look: `${one.kind}${here ? " chosen" : ""}` });
    }
    for (const { text, point } of world.inset.marks) { const [x, y] = world.inset.pixels(point); wanted.push({ text, x: Math.max(2, x - 4 - 3.2 * (text.length - 1)), y: y - 11, look: "mark" }); }
    while (labels.children.length < wanted.length) labels.append(document.createElement("span"));
    [...labels.children].forEach((span, k) => {
      const one = wanted[k];
      span.hidden = !one;
      if (!one) return;
      span.textContent = one.text;
      span.className = one.look;
      span.style.transform = `translate(${one.x.toFixed(1)}px, ${one.y.toFixed(1)}px)`;
    });
    for (const plot of this.plots) plot.show(this.time);
  }

  // A switch of the picture: forces, violation, traces, names.
  turn(what, on = !this.world.shown[what]) {
    this.world.shown[what] = on;
    this.switches[what].setAttribute("aria-pressed", String(on));
    $("legend").hidden = !(this.world.shown.violation && this.curves.violation);
    this.world.adorn();
    this.dirty = true;
  }

  dress(dark) {
    this.dark = dark;
    document.documentElement.classList.toggle("dark", dark);
    this.world.dress(dark);
    this.world.adorn();
    this.dirty = true;
  }

  // The mechanism stands in the middle of what title, bar and panel leave free, and is as large as that, until it is turned or zoomed.
  makeWay() {
    const { world } = this, W = window.innerWidth, H = window.innerHeight, narrow = W <= 720, box = (id) => $(id).getBoundingClientRect();
    const open = !$("panel").hidden, still = this.t1 <= this.t0, top = narrow ? document.querySelector("header").getBoundingClientRect().bottom + 6 : 58;
    const low = narrow ? H - Math.min(box("switches").top, box("bar").top) + 6 : still ? 16 : H - box("bar").top + 14;
    const lab = $("lab"), beside = lab && !lab.classList.contains("folded");  // the sliders of a page that simulates
    if (lab) lab.style.top = narrow ? `${top}px` : "";
    world.room = { top: beside && narrow ? box("lab").bottom + 6 : top, bottom: open && narrow ? H - box("panel").top : low,
      left: beside && !narrow ? box("lab").right : 0, right: open && !narrow ? W - box("panel").left : 0 };
    if (world.moved) world.resize(W, H); else world.home(W, H);
    this.dirty = true;
  }

  // What there is to know of the selection; pinned plots stay.
  tell(found, open = Boolean(found)) {
    const { data, curves } = this, facts = [];
    this.plots = this.plots.filter((plot) => plot.pinned);
    $("panel").hidden = !open && !this.plots.length;
    const plots = this.t1 > this.t0;  // a picture that stands still, or simulates, has no curves
    let curvesOf = [];
    if (found && found.kind === "body") {
      const body = data.bodies[found.index];
      facts.push(found.index ? `body, mass ${body.mass === null ? "unknown" : `${short(body.mass)} kg`}` : "the ground");
      if (plots) curvesOf = curves.ofBody(found.index, this.world.ghost);
    } else if (found && found.kind === "load") {
      const load = data.loads[found.index], ends = [...new Set([data.bodies[load.i].name, data.bodies[load.j].name])];
      facts.push(`${load.kind}: ${ends.join(" \u2013 ")}`);
      const numbers = [["k", "N/m"], ["c", "N s/m"], ["l0", "m"]].filter(([key]) => load[key]).map(([key, unit]) => `${key} = ${short(load[key])} ${unit}`);
      if (numbers.length) facts.push(numbers.join(", "));
      if (plots) curvesOf = curves.ofLoad(found.index);
    } else if (found) {
      const joint = data.joints[found.index];
      facts.push(`${joint.kind}: ${data.bodies[joint.i].name} \u2013 ${data.bodies[joint.j].name}`);
      if (joint.said) facts.push(joint.said);
      if (plots) curvesOf = curves.ofJoint(found.index);
    } else if (open && plots) curvesOf = curves.ofAll();
    $("what").textContent = found ? found.name : open ? data.name : "";
    $("facts").textContent = facts.join("\n");
    for (const curve of curvesOf) {
      const plot = new Plot({ ...curve, title: curve.title }, { t0: this.t0, t1: this.t1, seek: (t) => { this.pause(); this.seek(t); } });
      plot.owner = found ? `${found.name}: ` : "";
      plot.pin.addEventListener("click", () => {
        plot.pinned = !plot.pinned;
        plot.pin.textContent = plot.pinned ? "unpin" : "pin";
        plot.box.querySelector("span").textContent = (plot.pinned ? plot.owner : "") + plot.curve.title;
      });
      this.plots.push(plot);
    }
    $("plots").replaceChildren(...this.plots.map((plot) => plot.box));
    this.makeWay();
  }

  // The point that is there leaves a path; where nothing is, all chosen points are forgotten.
  trace(x, y) {
    if (!this.world.traces.choose(x, y) && !this.world.under(x, y).length) this.world.traces.forget();
    this.turn("traces", true);
  }

  // Forward or back by frames that are stored.
  step(n) {
    this.pause();
    const { t } = this.motion, k = stepAt(t, this.time), on = t[k] === this.time;
    this.seek(t[Math.min(Math.max(k + n + (n < 0 && !on ? 1 : 0), 0), t.length - 1)]);
  }

  setLoop(loop) { this.loop = loop; $("loop").setAttribute("aria-pressed", String(loop)); }

  setSpeed(speed) { this.speed = speed; $("speed").value = String(speed); }

  faster(by) { this.setSpeed(SPEEDS[Math.min(Math.max(SPEEDS.indexOf(this.speed) + by, 0), SPEEDS.length - 1)]); }

  keys() {
    return {
      " ": () => (this.playing ? this.pause() : this.play()),
      ArrowRight: ({ shiftKey }) => this.step(shiftKey ? 10 : 1),
      ArrowLeft: ({ shiftKey }) => this.step(shiftKey ? -10 : -1),
      Home: () => { this.pause(); this.seek(this.t0); },
      End: () => { this.pause(); this.seek(this.t1); },
      ">": () => this.faster(1), ".": () => this.faster(1), "<": () => this.faster(-1), ",": () => this.faster(-1),
      l: () => this.setLoop(!this.loop),
      r: () => { this.world.moved = false; this.makeWay(); },
      f: () => this.turn("forces"), v: () => this.turn("violation"), t: () => this.turn("traces"), n: () => this.turn("names"),
      e: () => this.tell(null, $("panel").hidden),
      d: () => this.dress(!this.dark),
      "?": () => { $("help").hidden = !$("help").hidden; }, h: () => { $("help").hidden = !$("help").hidden; },
      Escape: () => { $("help").hidden = true; this.plots = []; this.select(null); },
    };
  }

  select(found) {
    this.world.selected = found;
    this.tell(found);
    this.world.adorn();
    this.dirty = true;
  }

  // What a name means: a joint, a body, or a load.
  find(name) {
    const { joints, bodies, loads } = this.data, known = [["joint", joints], ["body", bodies], ["load", loads]];
    for (const [kind, all] of known) { const index = all.findIndex((one) => one.name === name); if (index >= 0) return { kind, index, name }; }
    throw new Error(`no body, joint or load is called '${name}'.${nearest(name, known.flatMap(([, all]) => all.map((one) => one.name)))}`);
  }
  body(name) {
    const names = this.data.bodies.map((body) => body.name), k = names.indexOf(name);
    if (k < 0) throw new Error(`no body is called '${name}'.${nearest(name, names)}`);
    return k;
  }

  // What tests and other pages may use.
  face() {
    const player = this;
    return {
      get ready() { return player.ready === true; },
      get time() { return player.time; },
      get t0() { return player.t0; },
      get t1() { return player.t1; },
      get playing() { return player.playing; },
      get selected() { return player.world.selected ? player.world.selected.name : null; },
      seek: (t) => { player.seek(t); player.world.draw(); player.overlay(); },
      play: () => player.play(),
      pause: () => player.pause(),
      names: () => ({ bodies: player.data.bodies.map((b) => b.name), joints: player.data.joints.map((j) => j.name) }),
      pose: (name) => player.world.pose(player.body(name)),
      screen: (name) => {
        const found = player.find(name);
        player.world.scene.updateMatrixWorld(true);
        if (found.kind === "body" && found.index === 0) return player.world.pixels(player.world.anchor({ body: 0 })).slice(0, 2);
        const { x, y } = player.world.anchors().find((one) => one.kind === found.kind && one.index === found.index);
        return [x, y];
      },
    };
  }
}

const HELP = [
  ["space", "play, pause"], ["\u2190 \u2192", "one frame back, forward (shift: ten)"], ["Home, End", "start, end"], ["< >", "slower, faster"], ["L", "loop"],
  ["click", "select a body, joint, driver, spring or force: its name and curves"], ["drag, wheel", "turn, zoom (right button: move)"], ["R", "the first view again"],
  ["F", "reactions: forces red, torques violet; in pieces: not unique"], ["V", "joints coloured by violation"], ["T", "paths of the centres of mass, and of the selected joint"], ["shift + click, long touch", "the path of this point of a body; beside the bodies: no more such paths"],
  ["N", "names"], ["E", "energy and other curves of the whole"], ["D", "dark or light"], ["Esc", "close"],
];

// The buttons, the legend and the help, made of what there is to switch.
function furnish(player) {
  const { curves, world } = player, bar = $("switches");
  player.switches = {};
  const button = (text, title, act, pressed) => {
    const made = bar.appendChild(Object.assign(document.createElement("button"), { textContent: text, title }));
    if (pressed !== undefined) made.setAttribute("aria-pressed", String(pressed));
    made.addEventListener("click", act);
    return made;
  };
  for (const [what, text, key, there] of [["forces", "Reactions", "F", curves.force], ["violation", "Violation", "V", curves.violation], ["traces", "Paths", "T", world.traces.all.length], ["names", "Names", "N", true]]) {
    player.switches[what] = button(text, `${text.toLowerCase()} (${key})`, () => player.turn(what), world.shown[what]);
    player.switches[what].hidden = !there;
  }
  if (player.t1 > player.t0) button("Curves", "energy and other curves (E)", () => player.tell(null, $("panel").hidden));
  button("\u25d0", "dark or light (D)", () => player.dress(!player.dark)).setAttribute("aria-label", "dark or light");
  button("?", "help (?)", () => { $("help").hidden = !$("help").hidden; }).setAttribute("aria-label", "help");
  $("close").addEventListener("click", () => { player.plots = []; player.select(null); });
  const list = $("help").appendChild(document.createElement("dl"));
  for (const [key, text] of HELP) for (const [tag, said] of [["dt", key], ["dd", text]]) list.appendChild(document.createElement(tag)).textContent = said;
  $("help").addEventListener("click", () => { $("help").hidden = true; });
  const legend = $("legend"), stops = Array.from({ length: 13 }, (_, k) => `#${violationColor(LEAST_VIOLATION + k * (MOST_VIOLATION - LEAST_VIOLATION) / 12).getHexString("srgb")}`);
  legend.append("violation of the joints");
  legend.appendChild(Object.assign(document.createElement("div"), { className: "scale" })).style.background = `linear-gradient(90deg, ${stops.join(", ")})`;
  const ticks = legend.appendChild(Object.assign(document.createElement("div"), { className: "ticks" }));
  for (const power of ["10\u207b\u00b9\u2075", "10\u207b\u2079", "10\u207b\u00b3"]) ticks.appendChild(document.createElement("span")).textContent = power;
  legend.hidden = !(world.shown.violation && curves.violation);
}

function listen(player) {
  const { world } = player, stage = $("stage");
  $("play").addEventListener("click", () => (player.playing ? player.pause() : player.play()));
  $("time").addEventListener("input", (event) => { player.pause(); player.seek(Number(event.target.value)); });
  $("loop").addEventListener("click", () => player.setLoop(!player.loop));
  $("speed").addEventListener("change", (event) => { player.speed = Number(event.target.value); });
  if (world.controls) {
    let held = false;
    world.controls.addEventListener("start", () => { held = true; });
    world.controls.addEventListener("end", () => { held = false; });
    world.controls.addEventListener("change", () => { player.dirty = true; world.moved = world.moved || (held && !world.homing); });
  }
  let down = null, long = null;
  const stop = () => { clearTimeout(long); long = null; };
  stage.addEventListener("pointerdown", (event) => {
    stop();
    down = event.isPrimary ? [event.clientX, event.clientY] : null;
    if (event.pointerType === "touch" && down) long = setTimeout(() => { player.trace(...down); down = null; }, player.longTouch);
  });
  stage.addEventListener("pointermove", (event) => { if (down && Math.hypot(event.clientX - down[0], event.clientY - down[1]) > 6) stop(); });
  stage.addEventListener("pointercancel", stop);
  stage.addEventListener("pointerup", (event) => {
    stop();
    if (!down || Math.hypot(event.clientX - down[0], event.clientY - down[1]) > 6) return;
    if (event.shiftKey) { player.trace(event.clientX, event.clientY); return; }
    player.select(world.pick(event.clientX, event.clientY, event.pointerType === "touch" ? 22 : 13));
  });
  // What was clicked or chosen gives the keyboard back to the picture.
  document.addEventListener("click", (event) => { const button = event.target.closest && event.target.closest("button"); if (button && event.detail) button.blur(); });
  for (const id of ["speed", "time"]) $(id).addEventListener("change", () => $(id).blur());
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === "SELECT" || (event.target.tagName === "BUTTON" && event.key === " ")) return;
    const act = player.keys()[event.key];
    if (!act) return;
    event.preventDefault();
    act(event);
  });
  window.addEventListener("resize", () => player.makeWay());
  window.addEventListener("hashchange", () => player.follow(location.hash));
}

Player.prototype.follow = function (hash) {
  const found = /^#t=([-+0-9.eE]+)$/.exec(hash);
  if (!found || !Number.isFinite(Number(found[1]))) return false;
  this.pause();
  this.seek(Number(found[1]));
  return true;
};

async function open() {
  const data = JSON.parse($("scene").textContent), bytes = await unpack($("numbers").textContent);
  const motion = new Motion(bytes, data.motion), world = new World(data, motion, { stage: $("stage"), bytes }), player = new Player(data, motion, world);
  window.mechanism = player.face();
  window.player = player;
  $("title").textContent = data.name;
  $("notes").textContent = data.notes.concat(data.ghost ? [`orange: the second run${data.ghost.label ? ` (${data.ghost.label})` : ""}`] : []).join("\n");
  const span = player.t1 - player.t0;
  player.decimals = span > 0 ? Math.min(9, Math.max(2, 3 - Math.floor(Math.log10(span)))) : 2;
  Object.assign($("time"), { min: player.t0, max: player.t1 });
  for (const speed of SPEEDS) $("speed").append(new Option(`${speed < 0.05 ? `1/${Math.round(1 / speed)}` : speed}\u00d7`, speed, speed === player.speed, speed === player.speed));
  player.curves = new Curves(bytes, data.curves, data, motion);
  world.attach(player.curves);
  world.traces = new Traces(world);
  if (data.ghost) world.addGhost({ bodies: data.bodies, ...data.ghost, motion: new Motion(bytes, data.ghost.motion || data.motion) });
  const drawn = world.start();
  world.home(window.innerWidth, window.innerHeight);
  if (!drawn) world.flat = new FlatPicture(world);
  furnish(player);
  listen(player);
  world.place(player.t0);
  player.dress(matchMedia("(prefers-color-scheme: dark)").matches);
  player.seek(player.t0);
  if (player.t1 <= player.t0) for (const id of ["play", "time", "clock", "speed", "loop"]) $(id).hidden = true;
  player.makeWay();
  if ($("live")) await startLive(player);
  if (!player.follow(location.hash) && !matchMedia("(prefers-reduced-motion: reduce)").matches) player.play();
  player.ready = true;
  requestAnimationFrame((now) => player.tick(now));
}

open();
