// What one would put together instead: a semaphore for the credential, a rate limiter for the caller, a balance for the funds.
// Nothing ties the three: a caller that dies between two of them leaves one behind.
import type { Redis } from "ioredis";
import { Semaphore } from "redis-semaphore";
import { AMOUNT, expecting, newHoldId, PLENTY, USED } from "../quota/ledger.ts";
import { bucketOn } from "../quota/ways/bucket.ts";
import { balanceOn } from "../quota/ways/prededuct.ts";

/** The term of a gateway's call, so that both are renewed equally often. */
const TERM_MS = 120_000;
const UNITS = 10_000;

interface Held {
  readonly semaphore: Semaphore;
  readonly hold_id: string;
}

export function stackOn(connection: Redis, name: string) {
  const bucket = bucketOn(connection, PLENTY);
  const balance = balanceOn(connection, name);
  const terms = { lockTimeout: TERM_MS, refreshInterval: 0 };
  return {
    open: () => balance.put(PLENTY),
    /** Three round trips. */
    take: async (): Promise<Held> => {
      const held = { semaphore: new Semaphore(connection, name, UNITS, terms), hold_id: newHoldId() };
      await bucket.take("team", AMOUNT);
      await expecting("deducted", balance.deduct(held.hold_id, AMOUNT));
      await held.semaphore.acquire();
      return held;
    },
    /** As its own timer does it. */
    refresh: async ({ semaphore }: Held) => {
      const refreshed = await (semaphore as unknown as { _refresh(): Promise<boolean> })._refresh();
      if (!refreshed) throw new Error("a semaphore was lost");
    },
    /** Two: a rate is not given back. */
    give: async ({ semaphore, hold_id }: Held) => {
      await balance.refund(hold_id, AMOUNT - USED);
      await semaphore.release();
    },
  };
}
