// Whether the cost of a hold grows: with the sub-accounts of a tenant, and with the holds that are open in it.
import type { Options } from "../lib/benchmark.ts";
import { showGrowth } from "../lib/growth.ts";
import type { Database } from "../lib/redis.ts";
import { holds } from "./subject.ts";

const ALL = { subs: [1, 100, 10_000], open: [1, 1_000, 10_000, 100_000] };
const QUICK = { subs: [1, 1_000], open: [1, 10_000] };

/** Resolves with the bounds that are broken. */
export async function growth(db: Database, options: Options): Promise<string[]> {
  const sizes = options.quick ? QUICK : ALL;
  const pair = { take: "reserve", give: "settle", count: options.quick ? 300 : 1_000 };
  const ofSubs = await showGrowth(db, options, {
    ...pair,
    title: "Server time by sub-accounts of the tenant",
    what: "sub-accounts",
    sizes: sizes.subs,
    subjectOf: (name, subs) => holds(db, name, { subs }),
    notes: ["each has funds of its own; they call in turn"],
  });
  const ofOpen = await showGrowth(db, options, {
    ...pair,
    title: "Server time by open holds of the tenant",
    what: "open holds",
    sizes: sizes.open,
    subjectOf: (name, open) => holds(db, name, { subs: 100, open }),
    notes: ["100 sub-accounts"],
  });
  return [...ofSubs, ...ofOpen];
}
