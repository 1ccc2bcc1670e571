import { SurfaceKeys } from '../reading/surface-keys.ts';

/**
 * Which events stand on the surface: one bit an event, so that a log of a million events takes 125 KB.
 * A replacement is remembered by {@link SurfaceKeys}.
 */
export class SurfaceNodes {
  readonly keys = new SurfaceKeys();
  #live = new Uint8Array(1024);

  append(seq: number): void {
    const byte = seq >>> 3;
    if (byte >= this.#live.length) {
      const grown = new Uint8Array(Math.max(byte + 1, this.#live.length * 2));
      grown.set(this.#live);
      this.#live = grown;
    }
    this.#live[byte]! |= 1 << (seq & 7);
  }

  has(seq: number): boolean {
    return this.keys.isReplacement(seq) || ((this.#live[seq >>> 3] ?? 0) & (1 << (seq & 7))) !== 0;
  }

  /** Takes the span of a replacement off the surface; the fold that shares {@link keys} puts the replacement in. */
  shadow(start: number, end: number): void {
    const to = this.keys.keyOf(end);
    for (let seq = this.keys.keyOf(start); seq <= to; seq++) this.#live[seq >>> 3]! &= ~(1 << (seq & 7));
  }
}
