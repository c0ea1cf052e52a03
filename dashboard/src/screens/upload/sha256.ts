/** SHA-256 (FIPS 180-4) of data that arrives in parts: `crypto.subtle` needs all at once, and https. */

const ROUNDS = new Uint32Array(64);
const START = new Uint32Array(8);
{
  // The first 32 bits of the fractional parts of roots of the first 64 primes.
  let count = 0;
  for (let n = 2; count < 64; n++) {
    let isPrime = true;
    for (let d = 2; d * d <= n; d++) if (n % d === 0) isPrime = false;
    if (!isPrime) continue;
    if (count < 8) START[count] = (Math.sqrt(n) % 1) * 2 ** 32;
    ROUNDS[count++] = (Math.cbrt(n) % 1) * 2 ** 32;
  }
}

export class Sha256 {
  private readonly state = START.slice();
  private readonly words = new Uint32Array(64);
  private readonly block = new Uint8Array(64);
  private readonly view = new DataView(this.block.buffer);
  private filled = 0;
  private length = 0;

  update(data: Uint8Array): void {
    this.length += data.length;
    let at = 0;
    if (this.filled > 0) {
      at = Math.min(64 - this.filled, data.length);
      this.block.set(data.subarray(0, at), this.filled);
      this.filled += at;
      if (this.filled < 64) return;
      this.compress(this.view, 0);
      this.filled = 0;
    }
    const view = new DataView(data.buffer, data.byteOffset, data.length);
    for (; at + 64 <= data.length; at += 64) this.compress(view, at);
    this.block.set(data.subarray(at));
    this.filled = data.length - at;
  }

  /** The digest in hexadecimal; afterwards the object is of no use. */
  hex(): string {
    const { length } = this;
    const padding = new Uint8Array(((this.filled < 56 ? 56 : 120) - this.filled) + 8);
    padding[0] = 0x80;
    const end = new DataView(padding.buffer);
    end.setUint32(padding.length - 8, Math.floor(length / 2 ** 29));
    end.setUint32(padding.length - 4, (length * 8) >>> 0);
    this.update(padding);
    return Array.from(this.state, (word) => word.toString(16).padStart(8, "0")).join("");
  }

  private compress(view: DataView, at: number): void {
    const { state, words } = this;
    for (let i = 0; i < 16; i++) words[i] = view.getUint32(at + i * 4);
    for (let i = 16; i < 64; i++) {
      const x = words[i - 15]!;
      const y = words[i - 2]!;
      const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
      const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
      words[i] = words[i - 16]! + s0 + words[i - 7]! + s1;
    }
    let [a, b, c, d, e, f, g, h] = state as unknown as [number, number, number, number, number, number, number, number];
    for (let i = 0; i < 64; i++) {
      const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
      const t1 = (h + s1 + ((e & f) ^ (~e & g)) + ROUNDS[i]! + words[i]!) | 0;
      const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
      const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      h = g;
      g = f;
      f = e;
      e = (d + t1) | 0;
      d = c;
      c = b;
      b = a;
      a = (t1 + t2) | 0;
    }
    for (const [i, value] of [a, b, c, d, e, f, g, h].entries()) state[i] = state[i]! + value;
  }
}
