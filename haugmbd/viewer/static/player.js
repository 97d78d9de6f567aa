// The page: it reads the scene, plays it, and answers what is asked by keyboard, touch, address and window.mechanism.

const $ = (id) => document.getElementById(id);
const SPEEDS = [0.05, 0.1, 0.25, 0.5, 1, 2, 4, 10];

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
    this.loop = true;
    this.speed = 1;
    this.dirty = true;
  }

  seek(t) {
    if (typeof t !== "number" || !Number.isFinite(t)) throw new Error(`seek(t) needs a time in seconds, got ${t}.`);
    this.time = Math.min(Math.max(t, this.t0), this.t1);
    this.world.place(this.time);
    this.refresh();
  }

  play() {
    if (this.t1 <= this.t0) return;
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

  overlay() {}

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
      r: () => { this.world.home(window.innerWidth, window.innerHeight); this.dirty = true; },
      Escape: () => this.select(null),
    };
  }

  select(found) {
    this.world.selected = found;
    this.dirty = true;
  }

  // What a name means: a joint, or a body.
  find(name) {
    const k = this.world.joints.findIndex((joint) => joint.name === name);
    if (k >= 0) return { kind: "joint", index: k, name };
    return { kind: "body", index: this.body(name, "body or joint", [...this.data.joints.map((j) => j.name), ...this.data.bodies.map((b) => b.name)]), name };
  }
  body(name, what = "body", names = this.data.bodies.map((b) => b.name)) {
    const k = this.data.bodies.findIndex((body) => body.name === name);
    if (k < 0) throw new Error(`no ${what} is called '${name}'.${nearest(name, names)}`);
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

function listen(player) {
  const { world } = player, stage = $("stage");
  $("play").addEventListener("click", () => (player.playing ? player.pause() : player.play()));
  $("time").addEventListener("input", (event) => { player.pause(); player.seek(Number(event.target.value)); });
  $("loop").addEventListener("click", () => player.setLoop(!player.loop));
  $("speed").addEventListener("change", (event) => { player.speed = Number(event.target.value); });
  if (world.controls) world.controls.addEventListener("change", () => { player.dirty = true; });
  let down = null;
  stage.addEventListener("pointerdown", (event) => { down = [event.clientX, event.clientY]; });
  stage.addEventListener("pointerup", (event) => {
    if (!down || Math.hypot(event.clientX - down[0], event.clientY - down[1]) > 6) return;
    player.select(world.pick(event.clientX, event.clientY, event.pointerType === "touch" ? 22 : 13));
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || /^(SELECT|INPUT|TEXTAREA)$/.test(event.target.tagName) && event.key !== " ") return;
    const act = player.keys()[event.key];
    if (!act) return;
    event.preventDefault();
    act(event);
  });
  window.addEventListener("resize", () => { world.resize(window.innerWidth, window.innerHeight); player.dirty = true; });
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
  const motion = new Motion(bytes, data.motion), world = new World(data, motion, { stage: $("stage") }), player = new Player(data, motion, world);
  window.mechanism = player.face();
  $("title").textContent = data.name;
  $("notes").textContent = data.notes.join("\n");
  const span = player.t1 - player.t0;
  player.decimals = span > 0 ? Math.min(9, Math.max(2, 3 - Math.floor(Math.log10(span)))) : 2;
  Object.assign($("time"), { min: player.t0, max: player.t1 });
  for (const speed of SPEEDS) $("speed").append(new Option(`${speed}\u00d7`, speed, speed === 1, speed === 1));
  world.start();
  world.home(window.innerWidth, window.innerHeight);
  world.dress(matchMedia("(prefers-color-scheme: dark)").matches);
  listen(player);
  player.seek(player.t0);
  if (!player.follow(location.hash) && !matchMedia("(prefers-reduced-motion: reduce)").matches) player.play();
  player.ready = true;
  requestAnimationFrame((now) => player.tick(now));
}

open();
