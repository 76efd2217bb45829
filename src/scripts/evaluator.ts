// What scripts run on: the Store of a request, or a direct connection in a test or a benchmark.
import type { Dialect } from "./define.ts";

/** The database does not know the script's hash. */
export class NoScript extends Error {}

export interface Evaluator {
  readonly dialect: Dialect;
  /** Throws NoScript when the database does not know the hash. */
  evalsha(sha: string, keys: string[], args: string[], changes: boolean): Promise<unknown>;
  eval(source: string, keys: string[], args: string[], changes: boolean): Promise<unknown>;
}

/** Keys and arguments of one run of a script, in the script's order. */
export interface Call {
  readonly keys: string[];
  readonly args: string[];
}

export interface BatchEvaluator extends Evaluator {
  /** Several runs in one round trip: an answer each, or the error that it met. */
  evalshaMany(sha: string, calls: readonly Call[], changes: boolean): Promise<unknown[]>;
}
