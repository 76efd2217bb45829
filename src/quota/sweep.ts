// The sweep of holds: ends those whose deadline has passed, in all shards, so that nothing stays held for ever.
import type { Deps } from "../deps.ts";
import { SHARDS } from "../keys.ts";
import { expireHolds, readOverdue } from "./overdue.ts";

/** Of one shard in one round, and scripts in one round trip: some milliseconds of Redis, so that other callers need not wait. */
const OF_A_SHARD = 64;
const CHUNK = 50;
const ROUNDS = 10;

/** Ends at most 10,240 holds; what is left waits for the next run. Each round trip has a deadline of its own. */
export async function sweepHolds(deps: Deps) {
  const due_keys = Array.from({ length: SHARDS }, (_, shard) => deps.keys.due(shard));
  const report = { holds_expired: 0, holds_gone: 0, holds_failed: 0 };
  for (let round = 0; round < ROUNDS; round++) {
    const due = await readOverdue({ store: deps.backgroundStore() }, due_keys, OF_A_SHARD);
    const failed_before = report.holds_failed;
    for (let from = 0; from < due.length; from += CHUNK) {
      const own = {
        store: deps.backgroundStore(),
        keys: deps.keys,
        settings: deps.settings,
        metrics: deps.metrics,
      };
      for (const reply of await expireHolds(own, due.slice(from, from + CHUNK))) {
        if (reply instanceof Error) report.holds_failed++;
        else if (reply.kind === "expired") report.holds_expired++;
        else report.holds_gone++;
      }
    }
    // Those that fail come again: a round of nothing else would be the last one's twin.
    if (due.length === report.holds_failed - failed_before) break;
  }
  return report;
}
