// Reads the fields that matter out of JSON as it passes: cut anywhere, of any size, one pass, nothing kept but those fields.
import { FactReader } from "./facts.ts";
import { JsonString } from "./json-string.ts";
import { NameReader, type Node } from "./shape.ts";
import { quartersOfByte } from "./tokens.ts";

const LONGEST_WORD = 16;

const [QUOTE, BACKSLASH, COMMA, COLON, SPACE] = [0x22, 0x5c, 0x2c, 0x3a, 0x20];
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_ARRAY, CLOSE_ARRAY] = [0x7b, 0x7d, 0x5b, 0x5d];
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];

type State = "structure" | "name" | "text" | "skipped" | "word";

export class JsonScanner {
  /** What stands where a document should begin, as in `[DONE]`; its first 16 bytes. */
  word = "";

  readonly #root: Node;
  readonly #ended: (complete: boolean) => void;
  readonly #reader = new FactReader();
  readonly #text = new JsonString();
  #state: State = "structure";
  /** Of any document. */
  #outside = true;
  /** The containers around the place of reading as far as they matter, and how deep it is in one that does not. */
  readonly #nodes: Node[] = [];
  readonly #objects: boolean[] = [];
  #ignored = 0;
  /** The one that is ignored is text all the same: a tool's arguments as JSON. */
  #weighs = false;
  #expects_name = false;
  readonly #name = new NameReader();
  #escaped = false;
  /** What the name before the next value stands for. */
  #next: Node | undefined;

  /** `ended` is called when the outermost object is closed, or when it never will be; then facts and quarters start anew. */
  constructor(root: Node, ended: (complete: boolean) => void) {
    this.#root = root;
    this.#ended = ended;
  }

  get facts() {
    return this.#reader.facts;
  }

  /** Quarters of a token of the document's text so far. */
  get quarters() {
    return this.#text.quarters;
  }

  feed(bytes: Uint8Array, from: number, to: number) {
    this.#reader.resume(from);
    let at = from;
    while (at < to) {
      if (this.#state === "structure") at = this.#readStructure(bytes, at, to);
      else if (this.#state === "text") at = this.#readText(bytes, at, to);
      else if (this.#state === "word") at = this.#readWord(bytes, at, to);
      else at = this.#readString(bytes, at, to);
    }
    this.#reader.cut(bytes, to);
  }

  /** What comes next is another document, whatever this one still lacks. */
  reset() {
    if (!this.#outside) this.#end(false);
    this.word = "";
    this.#state = "structure";
  }

  #readStructure(bytes: Uint8Array, from: number, to: number): number {
    for (let at = from; at < to; at++) {
      const byte = bytes[at] as number;
      if (this.#outside && byte !== OPEN_OBJECT) {
        if (byte <= SPACE || BYTE_ORDER_MARK.includes(byte)) continue;
        this.#state = "word";
        return at;
      }
      if (this.#weighs) this.#text.quarters += quartersOfByte(byte);
      if (byte === QUOTE) {
        this.#beginString();
        return at + 1;
      }
      if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) this.#open(byte === OPEN_OBJECT);
      else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) this.#close(bytes, at);
      else if (this.#ignored > 0) continue;
      else if (byte === COMMA) this.#beginNext(bytes, at);
      else if (byte === COLON) this.#beginValue(at + 1);
    }
    return to;
  }

  #open(object: boolean) {
    if (this.#ignored > 0) {
      this.#ignored += 1;
      return;
    }
    const list = this.#objects.at(-1) === false;
    // An object in a list has the list's name; a list in a list matters to nobody.
    const inner = list ? (object ? this.#nodes.at(-1) : undefined) : this.#next;
    const node = this.#outside ? this.#root : inner;
    if (node?.kind !== "inner") {
      this.#ignored = 1;
      this.#weighs = node?.kind === "text" || node?.kind === "twin";
      return;
    }
    if (list) this.facts[node.path] = true;
    this.#outside = false;
    this.#nodes.push(node);
    this.#objects.push(object);
    this.#expects_name = object;
    this.#next = undefined;
    if (object) this.#text.beginObject();
  }

  #close(bytes: Uint8Array, at: number) {
    if (this.#ignored > 0) {
      this.#ignored -= 1;
      if (this.#ignored > 0 || !this.#weighs) return;
      this.#weighs = false;
      this.#text.quarters -= 1; // like the one that opened it, so that an empty one weighs nothing
      return;
    }
    this.#reader.end(bytes, at);
    this.#nodes.pop();
    this.#objects.pop();
    this.#expects_name = false;
    this.#next = undefined;
    if (this.#nodes.length === 0) this.#end(true);
  }

  #beginNext(bytes: Uint8Array, at: number) {
    this.#reader.end(bytes, at);
    this.#expects_name = this.#objects.at(-1) === true;
    this.#next = undefined;
  }

  #beginValue(at: number) {
    const node = this.#nodes.at(-1);
    if (!node || !this.#expects_name) return;
    this.#expects_name = false;
    this.#next = this.#name.childOf(node);
    if (this.#next?.kind === "value") this.#reader.begin(this.#next.path, at);
  }

  #beginString() {
    this.#escaped = false;
    this.#name.clear();
    const kind = this.#expects_name ? undefined : this.#next?.kind;
    const text = this.#ignored > 0 ? this.#weighs : kind === "text" || kind === "twin";
    if (text) this.#text.begin(this.#ignored === 0 && kind === "twin");
    if (this.#weighs) this.#text.quarters += 1; // the quote that will end it
    this.#state = text ? "text" : this.#ignored === 0 && this.#expects_name ? "name" : "skipped";
  }

  #readString(bytes: Uint8Array, from: number, to: number): number {
    let escaped = this.#escaped;
    let at = from;
    for (; at < to; at++) {
      const byte = bytes[at];
      if (escaped) escaped = false;
      else if (byte === BACKSLASH) escaped = true;
      else if (byte === QUOTE) break;
    }
    this.#escaped = escaped;
    if (this.#state === "name") this.#name.add(bytes, from, at);
    if (at === to) return to;
    this.#state = "structure";
    return at + 1;
  }

  #readText(bytes: Uint8Array, from: number, to: number): number {
    const at = this.#text.read(bytes, from, to);
    if (!this.#text.open) this.#state = "structure";
    return at;
  }

  #readWord(bytes: Uint8Array, from: number, to: number): number {
    const end = Math.min(to, from + LONGEST_WORD - this.word.length);
    for (let at = from; at < end; at++) this.word += String.fromCharCode(bytes[at] as number);
    return to;
  }

  #end(complete: boolean) {
    this.#ended(complete);
    this.#reader.reset();
    this.#text.quarters = 0;
    this.#outside = true;
    this.#nodes.length = 0;
    this.#objects.length = 0;
    this.#ignored = 0;
    this.#weighs = false;
    this.#expects_name = false;
    this.#next = undefined;
  }
}
