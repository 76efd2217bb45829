// A Lua script as a typed function: its text, its keys, its arguments, its replies, declared once.
import { createHash } from "node:crypto";
import { z } from "zod";

type Shape = Record<string, z.ZodType>;
type Replies = Record<string, Shape>;

/** The discriminated union of a script's outcomes: `{ kind, ...fields }`. */
export type ReplyOf<R extends Replies> = {
  [K in keyof R & string]: { kind: K } & { [F in keyof R[K]]: z.output<R[K][F]> };
}[keyof R & string];

/** `upstash` locks only KEYS while a script runs; stock Redis rejects the line that says so. */
export type Dialect = "upstash" | "redis";
export const KEY_LOCKING = "#!lua flags=allow-key-locking\n";

export interface Script<K extends string, A extends Shape, R extends Replies> {
  readonly name: string;
  /** Whether it may write: then a lost reply means that the change may have happened. */
  readonly changes: boolean;
  readonly text: Record<Dialect, { readonly source: string; readonly sha: string }>;
  readonly keys: readonly K[];
  readonly args: A;
  readonly replies: R;
}

const hashed = (source: string) => ({ source, sha: createHash("sha1").update(source).digest("hex") });

export function defineScript<const K extends string, A extends Shape, R extends Replies>(def: {
  name: string;
  changes: boolean;
  lua: readonly string[];
  keys: readonly K[];
  args: A;
  replies: R;
}): Script<K, A, R> {
  const { lua, ...rest } = def;
  const source = lua.join("\n");
  return { ...rest, text: { upstash: hashed(KEY_LOCKING + source), redis: hashed(source) } };
}

/** A list argument: one ARGV of JSON, read in Lua with cjson.decode. */
export const list = <T extends z.ZodType>(item: T, max: number) =>
  z
    .array(item)
    .max(max)
    .transform((items) => JSON.stringify(items));

/** A list of records: one ARGV of JSON rows in the columns' order, read in Lua by `rows(ARGV[n], "<column> <column>")`. */
export function rows<C extends Shape>(columns: C, max: number) {
  const names = Object.keys(columns);
  const type = z
    .array(z.object(columns))
    .max(max)
    .transform((all) =>
      JSON.stringify(all.map((row) => names.map((name) => (row as Record<string, unknown>)[name]))),
    );
  return Object.assign(type, { columns: names });
}

/** A reply's field that is JSON text. */
export const json = <T extends z.ZodType>(type: T) =>
  z.string().transform((text): z.output<T> => type.parse(JSON.parse(text)));
