// Whether the cost of a lease grows: with the credentials of a pool, and with the leases that are live in it.
import type { Options } from "../lib/benchmark.ts";
import type { Database } from "../lib/redis.ts";
import type { Table } from "../lib/table.ts";
import { inRounds, median, ratioOf } from "../lib/timing.ts";
import { leases, type Sample, type Subject, sample } from "./sample.ts";

const FLAT = 1.5;
const ALL = { credentials: [1, 10, 100, 1_000, 10_000], live: [1, 1_000, 10_000, 100_000] };
const QUICK = { credentials: [1, 32, 1_000], live: [1, 1_000, 10_000] };

function tableOf(
  title: string,
  subjects: readonly Subject[],
  samples: readonly Sample[][],
  notes: string[],
): Table {
  const column = (i: number, field: keyof Sample) => (samples[i] ?? []).map((one) => one[field]);
  const rows = subjects.map(({ name }, i) => {
    const ratio = ratioOf(column(i, "pair_us"), column(0, "pair_us"));
    return [
      name,
      median(column(i, "take_us")),
      median(column(i, "give_us")),
      median(column(i, "pair_us")),
      ratio,
      ratio.median <= FLAT ? "flat" : "GROWS",
    ];
  });
  return { title, columns: ["", "allocate, µs", "release, µs", "both, µs", "x the first", ""], rows, notes };
}

export async function growth(db: Database, { quick, runs, progress, show }: Options) {
  const sizes = quick ? QUICK : ALL;
  const count = quick ? 300 : 1_000;
  const measured = (subjects: readonly Subject[], what: string) =>
    inRounds(
      runs,
      subjects.map((subject) => () => sample(db, subject, count)),
      (round) => progress(`growth with ${what}, round ${round} of ${runs}`),
    );

  const bySize: Subject[] = [];
  for (const size of sizes.credentials) {
    progress(`a pool of ${size} credentials`);
    bySize.push(await leases(db, size.toLocaleString("en-US"), size));
  }
  const ofSize = await measured(bySize, "credentials");
  show(
    tableOf("Server time by credentials in the pool", bySize, ofSize, [
      `the call names 32 of them, or all when there are fewer; flat: within ${FLAT} times the first row`,
    ]),
  );

  const byLive: Subject[] = [];
  for (const live of sizes.live) {
    progress(`${live} live leases`);
    byLive.push(await leases(db, live.toLocaleString("en-US"), 32, live));
  }
  const ofLive = await measured(byLive, "live leases");
  show(
    tableOf("Server time by live leases in the pool", byLive, ofLive, [
      `both tables: ${runs} interleaved rounds of ${count} pairs`,
    ]),
  );
}
