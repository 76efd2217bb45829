// What a lease costs: server time and throughput of allocate + release, beside a script that does nothing and a
// semaphore that does nothing else.
import { Semaphore } from "redis-semaphore";
import type { ZodType } from "zod";
import { defineScript } from "../../src/scripts/define.ts";
import { allocate } from "../../src/scripts/lease/allocate.ts";
import { release } from "../../src/scripts/lease/release.ts";
import { run } from "../../src/scripts/run.ts";
import type { Options } from "../lib/benchmark.ts";
import { type Database, evaluatorOn } from "../lib/redis.ts";
import { inRounds, median, ratioOf } from "../lib/timing.ts";
import { idsOf, newLeaseId, poolOf } from "./pool.ts";
import { leases, type Sample, type Subject, sample, WIDTH } from "./sample.ts";

/** A script with the keys and arguments of another that answers at once. */
const noop = <const K extends string, A extends Record<string, ZodType>>(
  name: string,
  { keys, args }: { keys: readonly K[]; args: A },
) => defineScript({ name, changes: true, lua: ['return { "done" }'], keys, args, replies: { done: {} } });

function noopSubject({ main }: Database): Subject {
  const store = evaluatorOn(main);
  const pool = poolOf(store, "cost-noop");
  const [taking, giving] = [noop("allocate-noop", allocate), noop("release-noop", release)];
  const candidates = idsOf(1);
  const [credential = ""] = candidates;
  const id = newLeaseId();
  return {
    name: "no-op EVALSHA, twice",
    prepare: () => {},
    take: () => {
      const { keys, args } = pool.asked(id, candidates);
      return run(store, taking, keys, args);
    },
    give: () => {
      const { keys, args } = pool.reported(id, credential);
      return run(store, giving, keys, args);
    },
  };
}

function semaphoreSubject({ main }: Database): Subject {
  let all: Semaphore[] = [];
  return {
    name: "redis-semaphore: acquire + release",
    prepare: (count) => {
      all = Array.from({ length: count }, () => new Semaphore(main, "cost", count, { refreshInterval: 0 }));
    },
    take: async (i) => all[i]?.acquire(),
    give: async (i) => all[i]?.release(),
  };
}

export async function cost(db: Database, { quick, runs, progress, show }: Options) {
  const count = quick ? 500 : 2_000;
  const subjects = [
    noopSubject(db),
    semaphoreSubject(db),
    await leases(db, "allocate + release, 1 candidate", 1),
    await leases(db, "allocate + release, 32 candidates", 32),
  ];
  const samples = await inRounds(
    runs,
    subjects.map((subject) => () => sample(db, subject, count)),
    (round) => progress(`cost, round ${round} of ${runs}`),
  );
  const column = (of: readonly Sample[] | undefined, field: keyof Sample) =>
    (of ?? []).map((one) => one[field]);
  const rows = subjects.map(({ name }, i) => {
    const [mine, pair] = [samples[i], column(samples[i], "pair_us")];
    return [
      name,
      median(column(mine, "take_us")),
      median(column(mine, "give_us")),
      median(pair),
      ratioOf(pair, column(samples[0], "pair_us")),
      ratioOf(pair, column(samples[1], "pair_us")),
      median(column(mine, "pairs_per_s")),
    ];
  });
  show({
    title: "What a lease costs",
    columns: ["", "take, µs", "give back, µs", "both, µs", "x no-op", "x semaphore", "pairs/s"],
    rows,
    notes: [
      `µs are the server's own (INFO commandstats); medians of ${runs} interleaved rounds of ${count} pairs, ratios round by round with their range`,
      `pairs/s: ${WIDTH} calls under way on one connection, the client's own time included`,
      "the semaphore is one key: no health, no record, no fence, no secret, and the client's clock",
    ],
  });
}
