// The one place that evaluates a script: EVALSHA, on NOSCRIPT one EVAL, then a checked reply.
import { z } from "zod";
import { NoScript } from "../store.ts";
import type { Dialect, ReplyOf, Script } from "./define.ts";

/** What a script runs on: the Store of a request, or a direct connection in a test or a benchmark. */
export interface Evaluator {
  readonly dialect: Dialect;
  /** Throws NoScript when the database does not know the hash. */
  evalsha(sha: string, keys: string[], args: string[], changes: boolean): Promise<unknown>;
  eval(source: string, keys: string[], args: string[], changes: boolean): Promise<unknown>;
}

type Shape = Record<string, z.ZodType>;

const rawReply = z.array(z.union([z.string(), z.number()])).nonempty();

/** A reply of Redis as the union that the script declares. Throws when the script broke its contract. */
function parseReply<R extends Record<string, Shape>>(name: string, replies: R, raw: unknown): ReplyOf<R> {
  const [kind, ...fields] = rawReply.parse(raw);
  const shape = replies[String(kind)];
  if (!shape) throw new Error(`${name}: a reply that is not declared`);
  const entries = Object.entries(shape);
  if (entries.length !== fields.length) throw new Error(`${name}: ${kind} has ${fields.length} fields`);
  const named = entries.map(([field, type], i) => [field, type.parse(fields[i])]);
  return { kind, ...Object.fromEntries(named) };
}

/** Runs a script once. Throws StoreUnavailable when Redis does not answer, ScriptFault when the script fails. */
export async function run<K extends string, A extends Shape, R extends Record<string, Shape>>(
  store: Evaluator,
  script: Script<K, A, R>,
  keys: Record<K, string>,
  args: { [P in keyof A]: z.input<A[P]> },
): Promise<ReplyOf<R>> {
  const { source, sha } = script.text[store.dialect];
  const keyList = script.keys.map((name) => keys[name]);
  const argList = Object.entries(script.args).map(([name, type]) => String(type.parse(args[name])));
  let raw: unknown;
  try {
    raw = await store.evalsha(sha, keyList, argList, script.changes);
  } catch (error) {
    if (!(error instanceof NoScript)) throw error;
    raw = await store.eval(source, keyList, argList, script.changes);
  }
  return parseReply(script.name, script.replies, raw);
}
