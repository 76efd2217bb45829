// Redis commands inside each script, path by path: users pay for each, so each path has a bound.
import { setTimeout as sleep } from "node:timers/promises";
import type { Evaluator } from "../../src/scripts/evaluator.ts";
import type { Options } from "./benchmark.ts";
import { type Database, evaluatorOn, spentIn } from "./redis.ts";
import type { Table } from "./table.ts";

/** A path through a script that costs its own number of commands. `S` is what it is called on. */
export interface Path<S> {
  readonly verb: string;
  readonly path: string;
  /** At most so many commands inside the script; undefined where none is set. */
  readonly bound: number | undefined;
  /** What the script must answer, or another path was measured. */
  readonly kind: string;
  readonly prepare: (on: S) => Promise<unknown>;
  readonly call: (on: S) => Promise<{ kind: string }>;
}

const CALLS = ["evalsha", "eval"];

/** Each path in a cell of its own. Resolves with the bounds that are broken. */
export async function countCommands<S>(
  { main }: Database,
  { show }: Options,
  paths: readonly Path<S>[],
  make: (store: Evaluator, cell: string) => S,
): Promise<string[]> {
  const store = evaluatorOn(main);
  const rows: Table["rows"][number][] = [];
  const broken: string[] = [];
  for (const [i, { verb, path, bound, kind, prepare, call }] of paths.entries()) {
    const on = make(store, `commands-${i}`);
    await prepare(on);
    await sleep(3); // what lasts a millisecond is over now
    let got = "";
    const { inner } = await spentIn(main, CALLS, async () => {
      got = (await call(on)).kind;
    });
    if (got !== kind) throw new Error(`${verb}, ${path}: ${kind} was expected, not ${got}`);
    const count = [...inner.values()].reduce((sum, calls) => sum + calls, 0);
    const ok = bound === undefined || count <= bound;
    if (!ok) broken.push(`${verb}, ${path}: ${count} commands, the bound is ${bound}`);
    const names = [...inner].map(([name, calls]) => (calls > 1 ? `${name} x${calls}` : name)).sort();
    const verdict = bound === undefined ? "" : ok ? "ok" : "BROKEN";
    rows.push([verb, path, count, bound ?? "", verdict, names.join(" ")]);
  }
  show({
    title: "Commands inside each script",
    columns: ["verb", "path", "commands", "bound", "", "which"],
    rows,
    notes: ["counted by Redis (INFO commandstats); the EVALSHA itself comes on top"],
  });
  return broken;
}
