// The sweep of holds: ends those whose deadline has passed, in all shards, so that nothing stays held for ever.
import type { Deps } from "../deps.ts";
import { SHARDS } from "../keys.ts";
import { expireHolds, readOverdue } from "./overdue.ts";

/** Of one shard in one round, and scripts in one round trip: some milliseconds of Redis, so that other callers need not wait. */
const OF_A_SHARD = 64;
const CHUNK = 50;
const MOST = 10_240;

/** Ends some 10,000 holds at most; what is left waits for the next run. Each round trip has a deadline of its own. */
export async function sweepHolds(deps: Deps) {
  const shards = Array.from({ length: SHARDS }, (_, shard) => ({ due_key: deps.keys.due(shard), skip: 0 }));
  const report = { holds_expired: 0, holds_gone: 0, holds_failed: 0 };
  for (let seen = 0; seen < MOST; ) {
    const due = await readOverdue({ store: deps.backgroundStore() }, shards, OF_A_SHARD);
    if (due.length === 0) break;
    seen += due.length;
    for (let from = 0; from < due.length; from += CHUNK) {
      const own = {
        store: deps.backgroundStore(),
        keys: deps.keys,
        settings: deps.settings,
        metrics: deps.metrics,
      };
      const chunk = due.slice(from, from + CHUNK);
      for (const [i, reply] of (await expireHolds(own, chunk)).entries()) {
        const shard = shards[chunk[i]?.look ?? 0];
        if (!(reply instanceof Error) && reply.kind !== "not_due") {
          if (reply.kind === "expired") report.holds_expired++;
          else report.holds_gone++;
          continue;
        }
        // It stays where it is: the next round looks behind it, or 64 such would hide the rest.
        if (reply instanceof Error) report.holds_failed++;
        if (shard) shard.skip++;
      }
    }
  }
  return report;
}
