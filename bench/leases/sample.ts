// One sample of a way to take units and to give them back: server time of each half, and throughput.
import { type Database, evaluatorOn, spentIn } from "../lib/redis.ts";
import { inParallel } from "../lib/timing.ts";
import { granted, idsOf, newLeaseId, poolOf } from "./pool.ts";

export const WIDTH = 64; // calls under way on the one connection
export const SENT = ["evalsha", "eval", "zrem"];
const MOST_CANDIDATES = 32;

export interface Sample {
  readonly take_us: number;
  readonly give_us: number;
  readonly pair_us: number;
  readonly pairs_per_s: number;
}

/** `prepare` is not measured; `take` and `give` are called with 0 to count - 1. */
export interface Subject {
  readonly name: string;
  readonly prepare: (count: number) => unknown;
  readonly take: (i: number) => Promise<unknown>;
  readonly give: (i: number) => Promise<unknown>;
}

export async function sample({ main }: Database, subject: Subject, count: number): Promise<Sample> {
  await subject.prepare(count);
  let seconds = 0;
  const phase = async (call: (i: number) => Promise<unknown>) => {
    const { server_us } = await spentIn(main, SENT, async () => {
      seconds += await inParallel(count, WIDTH, call);
    });
    return server_us / count;
  };
  const take_us = await phase(subject.take);
  const give_us = await phase(subject.give);
  return { take_us, give_us, pair_us: take_us + give_us, pairs_per_s: count / seconds };
}

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
