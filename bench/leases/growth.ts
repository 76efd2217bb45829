// Whether the cost of a lease grows: with the credentials of a pool, and with the leases that are live in it.
import type { Options } from "../lib/benchmark.ts";
import { showGrowth } from "../lib/growth.ts";
import type { Database } from "../lib/redis.ts";
import { leases } from "./subject.ts";

const ALL = { credentials: [1, 10, 100, 1_000, 10_000], live: [1, 1_000, 10_000, 100_000] };
const QUICK = { credentials: [1, 32, 1_000], live: [1, 1_000, 10_000] };

export async function growth(db: Database, options: Options) {
  const sizes = options.quick ? QUICK : ALL;
  const pair = { take: "allocate", give: "release", count: options.quick ? 300 : 1_000 };
  await showGrowth(db, options, {
    ...pair,
    title: "Server time by credentials in the pool",
    what: "credentials",
    sizes: sizes.credentials,
    subjectOf: (name, size) => leases(db, name, size),
    notes: ["the call names 32 of them, or all when there are fewer"],
  });
  await showGrowth(db, options, {
    ...pair,
    title: "Server time by live leases in the pool",
    what: "live leases",
    sizes: sizes.live,
    subjectOf: (name, live) => leases(db, name, 32, live),
    notes: [],
  });
}
