/** A mechanism in WebAssembly: the functions of haugmbd.h for JavaScript.
 *
 *     const engine = await Mechanism.load(wasmBytes, blobBytes);
 *     engine.set("motor", 0.5);  engine.run(16);  engine.state;  engine.reaction("R.i");
 *
 * wasmBytes may be a WebAssembly.Module, too. Every mechanism has an instance of its own, so that its memory goes with it.
 */
export const BODY = 1, REACTION = 2, COORDINATE = 3, INPUT = 4, PARAMETER = 5, OUTPUT = 6, LAW = 7;
const WHY = { 101: "not a whole blob", 102: "a blob of another version", 103: "a blob of an engine of other sources, or of one with more parts", 104: "no memory", 105: "no such item", 106: "not a finite number, or not a positive step" };

export class Mechanism {
  static async load(wasm, blob) {
    const module = wasm instanceof WebAssembly.Module ? wasm : await WebAssembly.compile(wasm);
    return new Mechanism(await WebAssembly.instantiate(module, {}), blob);
  }
  /** instance: a new one; blob: bytes */
  constructor(instance, blob) {
    const X = (this.X = instance.exports), bytes = new Uint8Array(blob);
    X._initialize?.();
    const at = X.haug_alloc(BigInt(bytes.length + 8));
    if (!at) throw new Error("no memory");
    new Uint8Array(X.memory.buffer, at, bytes.length).set(bytes);
    this.m = X.haug_load(at, BigInt(bytes.length), at + bytes.length + 7 & ~7);
    const code = this.m ? 0 : Number(new BigInt64Array(X.memory.buffer, at + bytes.length + 7 & ~7, 1)[0]);
    X.haug_free(at);
    if (code) throw new Error(`the engine refuses the blob: ${WHY[-code] ?? code}`);
    this.size = Number(X.haug_size(this.m));
    this.room = X.haug_alloc(64n);
    this.items = new Map();
    for (let k = 0; k < Number(X.haug_items(this.m)); k++) this.items.set(`${X.haug_kind(this.m, BigInt(k))} ${this.#text(X.haug_name(this.m, BigInt(k)))}`, BigInt(k));
  }
  #text(at) { const b = new Uint8Array(this.X.memory.buffer); let end = at; while (b[end]) end++; return new TextDecoder().decode(b.slice(at, end)); }
  #item(kind, name) { const k = this.items.get(`${kind} ${name}`); if (k === undefined) throw new Error(`there is no ${name}`); return k; }
  #need(code) { const n = Number(code); if (n < 0) throw new Error(`the engine stops: ${this.#text(this.X.haug_why(this.m, BigInt(n)))}`); return n; }
  /** Names of a kind: BODY, REACTION, COORDINATE, INPUT or PARAMETER. */
  names(kind) { return [...this.items.keys()].filter(k => k.startsWith(`${kind} `)).map(k => k.slice(2)); }
  get t() { return this.X.haug_time(this.m); }
  get h() { return this.X.haug_step(this.m); }
  set h(x) { this.#need(this.X.haug_set_step(this.m, x)); }
  /** The current state, a view: 13 numbers of each body, r, p, v, omega_bar. Write to it, then call changed(). */
  get state() { return new Float64Array(this.X.memory.buffer, this.X.haug_state(this.m), this.size); }
  get rates() { return new Float64Array(this.X.memory.buffer, this.X.haug_rates(this.m), this.size); }
  changed() { this.X.haug_changed(this.m); }
  /** Make n steps; return their number, which is smaller where constraints are about to become dependent, or a sampled block is due: calling again goes on. */
  run(n) { return this.#need(this.X.haug_run(this.m, BigInt(n), 0)); }
  /** The name of a sampled block that is to be called now: ask before run, until there is none; hold(name, value) is its answer. */
  get due() { const k = this.X.haug_due(this.m); for (const [name, item] of this.items) if (item === k) return name.slice(2); }
  hold(name, value) { this.#need(this.X.haug_hold(this.m, this.#item(LAW, name), value)); }
  evaluate() { this.#need(this.X.haug_evaluate(this.m)); }
  set(name, value) { this.#need(this.X.haug_set(this.m, this.items.get(`${INPUT} ${name}`) ?? this.#item(PARAMETER, name), value)); }
  get(name) { return this.X.haug_get(this.m, this.items.get(`${INPUT} ${name}`) ?? this.#item(PARAMETER, name)); }
  /** An output of the blob at the state of now. */
  output(name) { this.#need(this.X.haug_output(this.m, this.#item(OUTPUT, name), this.room)); return new Float64Array(this.X.memory.buffer, this.room, 1)[0]; }
  /** Force and torque of a joint on one of its bodies, such as "R.i". */
  reaction(name) { this.#need(this.X.haug_reaction(this.m, this.#item(REACTION, name), this.room)); return [...new Float64Array(this.X.memory.buffer, this.room, 6)]; }
  /** A coordinate of a joint and its rate, such as "R.angle". */
  coordinate(name) { this.#need(this.X.haug_coordinate(this.m, this.#item(COORDINATE, name), this.room)); return [...new Float64Array(this.X.memory.buffer, this.room, 2)]; }
  /** The place of a body's 13 numbers in the state. */
  place(name) { return Number(this.X.haug_place(this.m, this.#item(BODY, name))); }
  reset() { this.X.haug_reset(this.m); }
}
