// Which fields of a JSON text matter: a tree of names, through arrays as if they were not there.

/** text: its length counts. twin: so does it, but of several in one object only the longest. value: read whole, if small. */
export type Shape = { readonly [name: string]: Leaf | Shape };
type Leaf = "text" | "twin" | "value";

export interface Node {
  /** Of a value, and of an array of objects: its name among the facts, as in `response.usage`. */
  readonly path: string;
  readonly kind: Leaf | "inner";
  readonly children: readonly { readonly name: Uint8Array; readonly node: Node }[];
}

const LONGEST_NAME = 32;

export function compile(shape: Shape, path = ""): Node {
  const children = Object.entries(shape).map(([key, inner]) => {
    const name = new TextEncoder().encode(key);
    if (name.length > LONGEST_NAME) throw new RangeError(`${key} is longer than ${LONGEST_NAME} bytes`);
    const inner_path = path === "" ? key : `${path}.${key}`;
    const leaf = typeof inner === "string";
    const node: Node = leaf ? { path: inner_path, kind: inner, children: [] } : compile(inner, inner_path);
    return { name, node };
  });
  return { path, kind: "inner", children };
}

/** A name as it passes. Escapes stay as they are: no name that matters has any. */
export class NameReader {
  readonly #bytes = new Uint8Array(LONGEST_NAME + 1);
  #length = 0;

  clear() {
    this.#length = 0;
  }

  add(bytes: Uint8Array, from: number, to: number) {
    let length = this.#length;
    for (let at = from; at < to && length <= LONGEST_NAME; at++) this.#bytes[length++] = bytes[at] as number;
    this.#length = length;
  }

  /** Compares bytes, since most names in an answer matter to nobody and need not become strings. */
  childOf(node: Node): Node | undefined {
    for (const child of node.children) {
      if (child.name.length !== this.#length) continue;
      let same = 0;
      while (same < this.#length && child.name[same] === this.#bytes[same]) same++;
      if (same === this.#length) return child.node;
    }
    return undefined;
  }
}
