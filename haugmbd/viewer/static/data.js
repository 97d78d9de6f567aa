// Numbers over time, as haugmbd/viewer/packing.py wrote them.

const LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%.()*+-;,=:?@^_`{|}~";

// Bytes in base 85: five letters for four bytes, n + 1 for the last n.
function from85(text) {
  const value = new Uint8Array(128), n = text.length, bytes = new Uint8Array(Math.floor((4 * n) / 5));
  for (let k = 0; k < 85; k++) value[LETTERS.charCodeAt(k)] = k;
  for (let k = 0, at = 0; k < n; k += 5) {
    let word = 0;
    for (let i = k; i < k + 5; i++) word = 85 * word + (i < n ? value[text.charCodeAt(i)] : 84);
    for (let bit = 24; bit >= 0 && at < bytes.length; bit -= 8) bytes[at++] = (word / 2 ** bit) & 255;
  }
  return bytes;
}

async function unpack(text) {
  const own = text.trim(), packed = own[0] === "~" ? from85(own.slice(1)) : Uint8Array.from(atob(own), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Numbers that were written as they are: eight planes of bytes.
function exactNumbers(bytes, { at, n }) {
  const out = new Uint8Array(8 * n);
  for (let k = 0; k < n; k++) for (let b = 0; b < 8; b++) out[8 * k + b] = bytes[at + b * n + k];
  return new Float64Array(out.buffer);
}

// An array of c channels with n values each: the channel k is out.subarray(k n, (k + 1) n).
function channels(bytes, { at, n, c, orders, offset, step, miss }) {
  const out = new Float64Array(n * c), plane = n * c, q = new Int32Array(n);
  for (let k = 0; k < c; k++) {
    const lift = Array.isArray(offset) ? offset[k] : offset, size = Array.isArray(step) ? step[k] : step;
    for (let i = 0, from = at + k * n; i < n; i++, from++) {
      const u = bytes[from] | (bytes[from + plane] << 8) | (bytes[from + 2 * plane] << 16) | (bytes[from + 3 * plane] << 24);
      q[i] = (u >>> 1) ^ -(u & 1);
    }
    for (let order = 0; order < orders[k]; order++) for (let i = 1; i < n; i++) q[i] = (q[i] + q[i - 1]) | 0;
    for (let i = 0; i < n; i++) out[k * n + i] = miss && q[i] === -1 ? NaN : lift + size * q[i];
  }
  return out;
}

// The largest k with times[k] <= t, at most the last but one: the step that t lies in.
function stepAt(times, t) {
  let low = 0, high = times.length - 1;
  if (t >= times[high]) return high;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (times[middle] <= t) low = middle; else high = middle;
  }
  return low;
}

// Poses of the bodies over time.  at(t, body, r, p) fills r (3) and p (4, scalar first); body 0 is the ground.
class Motion {
  constructor(bytes, { t, r, p }) {
    this.t = exactNumbers(bytes, t);
    this.n = this.t.length;
    this.r = channels(bytes, r);
    this.p = channels(bytes, p);
  }
  at(t, body, r, p) {
    if (body === 0) { r.fill(0); p[0] = 1; p[1] = p[2] = p[3] = 0; return; }
    const { n } = this, k = stepAt(this.t, t), next = Math.min(k + 1, n - 1), h = this.t[next] - this.t[k];
    const s = h > 0 ? Math.min(Math.max((t - this.t[k]) / h, 0), 1) : 0, R = 3 * (body - 1) * n, P = 4 * (body - 1) * n;
    for (let a = 0; a < 3; a++) r[a] = (1 - s) * this.r[R + a * n + k] + s * this.r[R + a * n + next];
    let same = 0, length = 0;
    for (let a = 0; a < 4; a++) same += this.p[P + a * n + k] * this.p[P + a * n + next];
    const sign = same < 0 ? -1 : 1;  // p and -p are one rotation
    for (let a = 0; a < 4; a++) {
      p[a] = (1 - s) * this.p[P + a * n + k] + s * sign * this.p[P + a * n + next];
      length += p[a] * p[a];
    }
    length = Math.sqrt(length);
    for (let a = 0; a < 4; a++) p[a] /= length;
  }
}
