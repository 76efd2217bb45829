// Bytes copied together, up to a bound: a view of a chunk would keep the whole chunk, and may be taken away downstream.

export class BoundedBuffer {
  readonly #most: number;
  #bytes = new Uint8Array(0);
  #length = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get length() {
    return this.#length;
  }

  /** False, and nothing is added, when there is no room. */
  append(bytes: Uint8Array): boolean {
    const length = this.#length + bytes.length;
    if (length > this.#most) return false;
    if (length > this.#bytes.length) {
      const larger = new Uint8Array(Math.min(this.#most, Math.max(512, 2 * length)));
      larger.set(this.#bytes.subarray(0, this.#length));
      this.#bytes = larger;
    }
    this.#bytes.set(bytes, this.#length);
    this.#length = length;
    return true;
  }

  clear() {
    this.#length = 0;
  }

  /** A copy of what was added since the last time. */
  take(): Uint8Array {
    const taken = this.#bytes.slice(0, this.#length);
    this.clear();
    return taken;
  }
}
