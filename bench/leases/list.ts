// What it costs to look further down the list of candidates, and to be refused in the end.
import { setTimeout as sleep } from "node:timers/promises";
import type { Options } from "../lib/benchmark.ts";
import { granted, idsOf, newLeaseId, type Pool, poolOf } from "../lib/pool.ts";
import { type Database, evaluatorOn, spentIn } from "../lib/redis.ts";
import { SENT, WIDTH } from "../lib/sample.ts";
import { inParallel, inRounds, median, ratioOf } from "../lib/timing.ts";

const RECLAIM = 64; // what one call takes back at most

interface Case {
  readonly name: string;
  /** What the script must answer. */
  readonly kind: string;
  /** How many of the 32 are full. */
  readonly full: number;
  /** Expired leases that each call finds. */
  readonly expired?: number;
}

const CASES: readonly Case[] = [
  { name: "granted, the first of 32", kind: "granted", full: 0 },
  { name: "granted, the fourth", kind: "granted", full: 3 },
  { name: "granted, the fifth", kind: "granted", full: 4 },
  { name: "granted, the last", kind: "granted", full: 31 },
  { name: "refused, 32 full", kind: "no_capacity", full: 32 },
  { name: `refused, ${RECLAIM} reclaimed in vain`, kind: "reclaim_due", full: 32, expired: RECLAIM },
];

/** Measures allocates alone; what they were given goes back, unmeasured. */
async function measure(
  db: Database,
  pool: Pool,
  { kind, full, expired = 0 }: Case,
  count: number,
): Promise<number> {
  const candidates = idsOf(32);
  const leases = Array.from({ length: count }, newLeaseId);
  await inParallel(count * expired, WIDTH, () => granted(pool, newLeaseId(), ["other"], 1));
  if (expired > 0) await sleep(3);
  const kinds = new Set<string>();
  const { server_us } = await spentIn(db.main, SENT, () =>
    inParallel(count, WIDTH, async (i) => kinds.add((await pool.allocate(leases[i] ?? "", candidates)).kind)),
  );
  if (kinds.size > 1 || !kinds.has(kind))
    throw new Error(`${kind} was expected, not ${[...kinds].join(", ")}`);
  if (kind === "granted") {
    await inParallel(count, WIDTH, (i) => pool.release(leases[i] ?? "", candidates[full] ?? ""));
  }
  return server_us / count;
}

async function prepared(db: Database, { full }: Case): Promise<Pool> {
  const pool = poolOf(evaluatorOn(db.main), newLeaseId());
  const ids = idsOf(32);
  await pool.fill(ids.slice(0, full), 1);
  await pool.fill([...ids.slice(full), "other"], 10_000);
  for (const id of ids.slice(0, full)) await granted(pool, newLeaseId(), [id]);
  return pool;
}

export async function list(db: Database, { quick, runs, progress, show }: Options) {
  const count = quick ? 200 : 1_000;
  const cases: (() => Promise<number>)[] = [];
  for (const one of CASES) {
    const pool = await prepared(db, one);
    cases.push(() => measure(db, pool, one, one.expired ? count / 20 : count));
  }
  const samples = await inRounds(runs, cases, (round) => progress(`the list, round ${round} of ${runs}`));
  const rows = CASES.map(({ name }, i) => [
    name,
    median(samples[i] ?? []),
    ratioOf(samples[i] ?? [], samples[0] ?? []),
  ]);
  show({
    title: "Server time of an allocate by what it finds",
    columns: ["", "µs", "x the first"],
    rows,
    notes: [`${runs} interleaved rounds of ${count} calls`],
  });
}
