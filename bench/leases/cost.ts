// What a lease costs: server time and throughput of allocate + release, beside a script that does nothing and a
// semaphore that does nothing else.
import { Semaphore } from "redis-semaphore";
import { allocate } from "../../src/scripts/lease/allocate.ts";
import { release } from "../../src/scripts/lease/release.ts";
import { run } from "../../src/scripts/run.ts";
import type { Options } from "../lib/benchmark.ts";
import { showCosts } from "../lib/cost.ts";
import { noop } from "../lib/noop.ts";
import { idsOf, newLeaseId, poolOf } from "../lib/pool.ts";
import { type Database, evaluatorOn } from "../lib/redis.ts";
import { SENT, type Subject } from "../lib/sample.ts";
import { leases } from "./subject.ts";

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
    sent: [...SENT, "zrem"],
    prepare: (count) => {
      all = Array.from({ length: count }, () => new Semaphore(main, "cost", count, { refreshInterval: 0 }));
    },
    take: async (i) => all[i]?.acquire(),
    give: async (i) => all[i]?.release(),
  };
}

export async function cost(db: Database, options: Options) {
  const count = options.quick ? 500 : 2_000;
  const subjects = [
    noopSubject(db),
    semaphoreSubject(db),
    await leases(db, "allocate + release, 1 candidate", 1),
    await leases(db, "allocate + release, 32 candidates", 32),
  ];
  await showCosts(db, options, {
    title: "What a lease costs",
    take: "take",
    give: "give back",
    subjects,
    against: [
      { at: 0, name: "no-op" },
      { at: 1, name: "semaphore" },
    ],
    count,
    notes: ["the semaphore is one key: no health, no record, no fence, no secret, and the client's clock"],
  });
}
