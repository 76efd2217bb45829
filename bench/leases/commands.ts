// Redis commands inside each script, path by path: users pay for each, so each path has a bound.
import { setTimeout as sleep } from "node:timers/promises";
import type { Options } from "../lib/benchmark.ts";
import { type Database, evaluatorOn, spentIn } from "../lib/redis.ts";
import type { Table } from "../lib/table.ts";
import { PATHS } from "./paths.ts";
import { poolOf } from "./pool.ts";

const CALLS = ["evalsha", "eval"];

/** Resolves with the bounds that are broken. */
export async function commands({ main }: Database, { show }: Options): Promise<string[]> {
  const store = evaluatorOn(main);
  const rows: Table["rows"][number][] = [];
  const broken: string[] = [];
  for (const [i, { verb, path, bound, kind, prepare, call }] of PATHS.entries()) {
    const pool = poolOf(store, `commands-${i}`);
    await prepare(pool);
    await sleep(3); // leases of a millisecond are over now
    let got = "";
    const { inner } = await spentIn(main, CALLS, async () => {
      got = (await call(pool)).kind;
    });
    if (got !== kind) throw new Error(`${verb}, ${path}: ${kind} was expected, not ${got}`);
    const count = [...inner.values()].reduce((sum, calls) => sum + calls, 0);
    const ok = bound === undefined || count <= bound;
    if (!ok) broken.push(`${verb}, ${path}: ${count} commands, the bound is ${bound}`);
    const names = [...inner].map(([name, calls]) => (calls > 1 ? `${name} x${calls}` : name)).sort();
    rows.push([
      verb,
      path,
      count,
      bound ?? "",
      bound === undefined ? "" : ok ? "ok" : "BROKEN",
      names.join(" "),
    ]);
  }
  show({
    title: "Commands inside each script",
    columns: ["verb", "path", "commands", "bound", "", "which"],
    rows,
    notes: ["counted by Redis (INFO commandstats); the EVALSHA itself comes on top"],
  });
  return broken;
}
