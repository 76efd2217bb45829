// A script that takes what another takes and does nothing: what a call costs before it does anything.
import type { ZodType } from "zod";
import { defineScript } from "../../src/scripts/define.ts";

/** The keys and arguments of another script, and an answer at once. */
export const noop = <const K extends string, A extends Record<string, ZodType>>(
  name: string,
  { keys, args }: { keys: readonly K[]; args: A },
) => defineScript({ name, changes: true, lua: ['return { "done" }'], keys, args, replies: { done: {} } });
