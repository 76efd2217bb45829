// Collects the values that matter out of one JSON document, each read only once it is whole.
import { BoundedBuffer } from "./buffer.ts";

/** Values by their path, and `true` for a list in which an object began. */
export type Facts = Record<string, unknown>;

/** A value that matters, but is larger than this, is a fact without content: `{}`. */
export const LARGEST_VALUE_BYTES = 16_384;

const LETTER_N = 0x6e;

const decoder = new TextDecoder();

const isNull = (bytes: Uint8Array) => bytes.length === 4 && bytes[0] === LETTER_N;

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(decoder.decode(bytes));
  } catch {
    return undefined;
  }
}

export class FactReader {
  facts: Facts = {};
  #path: string | undefined;
  #from = 0;
  #fits = true;
  readonly #bytes = new BoundedBuffer(LARGEST_VALUE_BYTES);

  begin(path: string, from: number) {
    this.#path = path;
    this.#from = from;
    this.#fits = true;
    this.#bytes.clear();
  }

  /** The piece of the document ends here, and the value may go on in another: see `resume`. */
  cut(bytes: Uint8Array, to: number) {
    if (this.#path !== undefined && this.#fits) {
      this.#fits = this.#bytes.append(bytes.subarray(this.#from, to));
    }
  }

  resume(from: number) {
    this.#from = from;
  }

  end(bytes: Uint8Array, to: number) {
    if (this.#path === undefined) return;
    const path = this.#path;
    this.#path = undefined;
    const piece = bytes.subarray(this.#from, to);
    if (this.#fits && this.#bytes.length === 0 && isNull(piece)) {
      this.facts[path] = null; // what most chunks of a stream say
    } else if (this.#fits && this.#bytes.append(piece)) {
      this.facts[path] = parsed(this.#bytes.take());
    } else this.facts[path] = {};
  }

  reset() {
    this.facts = {};
    this.#path = undefined;
  }
}
