// The one place that evaluates a script: EVALSHA, on NOSCRIPT one EVAL, then a checked reply.
import { z } from "zod";
import type { ReplyOf, Script } from "./define.ts";
import { type BatchEvaluator, type Call, type Evaluator, NoScript } from "./evaluator.ts";

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

/** What a script is run with: its keys and arguments by name. */
export interface Input<K extends string, A extends Shape> {
  readonly keys: Record<K, string>;
  readonly args: { readonly [P in keyof A]: z.input<A[P]> };
}

const callOf = <K extends string, A extends Shape, R extends Record<string, Shape>>(
  script: Script<K, A, R>,
  { keys, args }: Input<K, A>,
): Call => ({
  keys: script.keys.map((name) => keys[name]),
  args: Object.entries(script.args).map(([name, type]) => String(type.parse(args[name]))),
});

/** Runs a script once. Throws StoreUnavailable when Redis does not answer, ScriptFault when the script fails. */
export async function run<K extends string, A extends Shape, R extends Record<string, Shape>>(
  store: Evaluator,
  script: Script<K, A, R>,
  keys: Input<K, A>["keys"],
  args: Input<K, A>["args"],
): Promise<ReplyOf<R>> {
  const { source, sha } = script.text[store.dialect];
  const call = callOf(script, { keys, args });
  let raw: unknown;
  try {
    raw = await store.evalsha(sha, call.keys, call.args, script.changes);
  } catch (error) {
    if (!(error instanceof NoScript)) throw error;
    raw = await store.eval(source, call.keys, call.args, script.changes);
  }
  return parseReply(script.name, script.replies, raw);
}

/** Runs a script with several inputs in one round trip: a reply each, or the error that it met. */
export async function runMany<K extends string, A extends Shape, R extends Record<string, Shape>>(
  store: BatchEvaluator,
  script: Script<K, A, R>,
  inputs: readonly Input<K, A>[],
): Promise<(ReplyOf<R> | Error)[]> {
  const { source, sha } = script.text[store.dialect];
  const calls = inputs.map((input) => callOf(script, input));
  const answers = await store.evalshaMany(sha, calls, script.changes);
  for (const [i, call] of calls.entries()) {
    if (answers[i] instanceof NoScript)
      answers[i] = await store.eval(source, call.keys, call.args, script.changes);
  }
  return answers.map((raw) => (raw instanceof Error ? raw : parseReply(script.name, script.replies, raw)));
}
