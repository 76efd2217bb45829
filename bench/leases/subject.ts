// Allocate and release as a pair to be sampled, in a pool of any size.
import { granted, idsOf, newLeaseId, poolOf } from "../lib/pool.ts";
import { type Database, evaluatorOn } from "../lib/redis.ts";
import { type Subject, WIDTH } from "../lib/sample.ts";
import { inParallel } from "../lib/timing.ts";

const MOST_CANDIDATES = 32;

/** At most 32 of all, another one first each time. */
function candidatesOf(ids: readonly string[], turn: number): string[] {
  const count = Math.min(MOST_CANDIDATES, ids.length);
  return Array.from({ length: count }, (_, i) => ids[(turn + i) % ids.length] ?? "");
}

/** A pool in which all are free, and `live` leases stand while others come and go. */
export async function leases(db: Database, name: string, credentials: number, live = 0): Promise<Subject> {
  const pool = poolOf(evaluatorOn(db.main), newLeaseId());
  const ids = idsOf(credentials);
  await pool.fill(ids, 10_000);
  await inParallel(live, 4 * WIDTH, (i) => granted(pool, newLeaseId(), candidatesOf(ids, i)));
  let turn = 0;
  let wanted: { id: string; candidates: string[]; credential: string }[] = [];
  return {
    name,
    prepare: (count) => {
      wanted = Array.from({ length: count }, () => {
        const candidates = candidatesOf(ids, turn++);
        return { id: newLeaseId(), candidates, credential: candidates[0] ?? "" };
      });
    },
    take: async (i) => {
      const lease = wanted[i];
      if (lease) await granted(pool, lease.id, lease.candidates);
    },
    give: async (i) => {
      const lease = wanted[i];
      if (lease) await pool.release(lease.id, lease.credential);
    },
  };
}
