// Finds lines and events in a stream of server-sent events, cut anywhere; hands on the data without copying it.

export interface EventHandler {
  /** A piece of an event's data: bytes `from` to `to`. */
  data(bytes: Uint8Array, from: number, to: number): void;
  /** The event's last byte stands before `at`. `named_error`: its name is `error`. */
  ended(at: number, event: { has_data: boolean; named_error: boolean }): void;
  /** The event had ended with a CR; now its LF came, before `at`. */
  endedLate(at: number): void;
}

const [LF, CR] = [0x0a, 0x0d];
const ERROR_NAME = /^event: ?error$/;
const LONGEST_FIELD = 16;

/** The first place of `byte` from `at` on; `known` is what was found before, or the length when there is none. */
function nextOf(bytes: Uint8Array, byte: number, known: number, at: number): number {
  if (known >= at) return known;
  const found = bytes.indexOf(byte, at);
  return found === -1 ? bytes.length : found;
}

export class EventReader {
  readonly #handler: EventHandler;
  #line: "field" | "data" | "other" = "field";
  /** The beginning of a line that is not (yet) known to be data. */
  #field = "";
  #blank = true;
  #after_cr = false;
  #has_data = false;
  #named_error = false;
  /** No byte since the last event. */
  #between = true;

  constructor(handler: EventHandler) {
    this.#handler = handler;
  }

  feed(bytes: Uint8Array) {
    if (bytes.length === 0) return;
    const late = this.#after_cr && bytes[0] === LF;
    this.#after_cr = false;
    if (late && this.#between) this.#handler.endedLate(1);
    let at = late ? 1 : 0;
    let [lf, cr] = [-1, -1];
    while (at < bytes.length) {
      lf = nextOf(bytes, LF, lf, at);
      cr = nextOf(bytes, CR, cr, at);
      const end = Math.min(lf, cr);
      if (end > at) this.#read(bytes, at, end);
      if (end === bytes.length) return;
      at = end + 1;
      if (end === cr && at === bytes.length) this.#after_cr = true;
      if (end === cr && bytes[at] === LF) at += 1;
      this.#endLine(at);
    }
  }

  /** The stream is over: what stands there is the last event, even without an empty line. */
  end() {
    if (!this.#blank) this.#endLine(0);
    if (!this.#between) this.#endLine(0);
  }

  #read(bytes: Uint8Array, from: number, to: number) {
    this.#blank = false;
    this.#between = false;
    let at = from;
    if (this.#line === "field") at = this.#readField(bytes, from, to);
    if (this.#line === "data" && at < to) this.#handler.data(bytes, at, to);
  }

  #readField(bytes: Uint8Array, from: number, to: number): number {
    let at = from;
    while (at < to && this.#line === "field") {
      const byte = bytes[at++] as number;
      if (byte >= 0x80 && this.#field === "") continue; // a byte order mark
      this.#field += String.fromCharCode(byte);
      if (this.#field === "data:") this.#line = "data";
      else if (this.#field.length === LONGEST_FIELD) this.#line = "other";
    }
    if (this.#line === "data") this.#has_data = true;
    return at;
  }

  #endLine(at: number) {
    if (this.#blank) {
      this.#between = true;
      const event = { has_data: this.#has_data, named_error: this.#named_error };
      this.#has_data = false;
      this.#named_error = false;
      this.#handler.ended(at, event);
    } else if (this.#line === "field" && ERROR_NAME.test(this.#field)) this.#named_error = true;
    this.#line = "field";
    this.#field = "";
    this.#blank = true;
  }
}
