// Weighs the strings of a JSON text as they pass, by what they say and not by how they are escaped.
import { quartersOfByte, quartersOfCodeUnit } from "./tokens.ts";

const [QUOTE, BACKSLASH, LETTER_U] = [0x22, 0x5c, 0x75];

const digitOf = (byte: number) => (byte <= 0x39 ? byte & 0x0f : (byte & 0x0f) + 9);

/** What is left of an escape: nothing, the digits of `\u0000`, or all of it. */
const [NONE, FOUR_DIGITS, ALL] = [0, 4, 5];

export class JsonString {
  quarters = 0;
  /** Within a string. */
  open = false;
  #left = NONE;
  #unit = 0;
  #twin = false;
  #begun_at = 0;
  /** Of the longest twin so far. */
  #twin_quarters = 0;

  begin(twin: boolean) {
    this.open = true;
    this.#left = NONE;
    this.#twin = twin;
    this.#begun_at = this.quarters;
  }

  /** Another object begins: its twins are others. */
  beginObject() {
    this.#twin_quarters = 0;
  }

  /** Returns the place after the closing quote, or `to` when it did not come yet. */
  read(bytes: Uint8Array, from: number, to: number): number {
    let quarters = 0;
    let at = from;
    while (at < to && this.open) {
      const byte = bytes[at++] as number;
      if (this.#left !== NONE) quarters += this.#unescape(byte);
      else if (byte === QUOTE) this.open = false;
      else if (byte === BACKSLASH) this.#left = ALL;
      else quarters += quartersOfByte(byte);
    }
    this.quarters += quarters;
    if (!this.open && this.#twin) this.#countOnce();
    return at;
  }

  #countOnce() {
    const own = this.quarters - this.#begun_at;
    this.quarters -= Math.min(own, this.#twin_quarters);
    this.#twin_quarters = Math.max(own, this.#twin_quarters);
  }

  #unescape(byte: number): number {
    if (this.#left === ALL) {
      this.#left = byte === LETTER_U ? FOUR_DIGITS : NONE;
      this.#unit = 0;
      return byte === LETTER_U ? 0 : quartersOfByte(byte);
    }
    this.#unit = this.#unit * 16 + digitOf(byte);
    this.#left -= 1;
    return this.#left === NONE ? quartersOfCodeUnit(this.#unit) : 0;
  }
}
