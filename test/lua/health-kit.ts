// What the tests of health share: a pool whose breaker keeps out of the way, calls with an outcome, and what it did.
import { defaultsOf, type PoolSettings, patchSettings } from "../../src/pools/settings.ts";
import type { OUTCOMES } from "../../src/scripts/lease/release.ts";
import { poolOf, stateOf } from "../support/pool.ts";
import type { useRedis } from "../support/redis.ts";

export type Outcome = (typeof OUTCOMES)[number] | "";

export const settingsOf = (patch: Parameters<typeof patchSettings>[1]) =>
  patchSettings(defaultsOf("default"), patch);
const calm = settingsOf({ breaker: { failures: 1_000 } });

export function healthKit(redis: ReturnType<typeof useRedis>, settings: PoolSettings = calm) {
  const pool = poolOf(() => redis.store(), "openai", "default", settings);
  let calls = 0;
  const state = async (id: string) => stateOf(await redis.raw.hget(pool.pool_key, id));

  /** A lease that the test ends itself, long enough for that. */
  async function hold(...ids: string[]) {
    const lease_id = `call-${++calls}`;
    const reply = await pool.allocate(lease_id, ids, 3_600_000);
    if (reply.kind !== "granted") throw new Error(`not granted: ${JSON.stringify(reply)}`);
    const { credential } = reply;
    return {
      credential,
      lease_id,
      end: (outcome: Outcome, retry_after_ms: number | "" = "") =>
        pool.release(lease_id, credential, outcome, retry_after_ms),
    };
  }

  return {
    pool,
    state,
    hold,
    /** So many at once on one credential. */
    holdMany: (count: number, id: string) => Promise.all(Array.from({ length: count }, () => hold(id))),
    /** One call from its grant to its outcome. */
    call: async (id: string, outcome: Outcome, retry_after_ms: number | "" = "") =>
      (await hold(id)).end(outcome, retry_after_ms),
    /** Whether it gives a unit now, and takes it back; otherwise why not. */
    serves: async (id: string) => {
      const lease_id = `look-${++calls}`;
      const reply = await pool.allocate(lease_id, [id]);
      if (reply.kind === "granted") await pool.undo(lease_id);
      return reply.kind === "no_capacity" ? Object.keys(reply.reasons).join() : reply.kind;
    },
    /** Its status, and the ms until that ends; undefined without an end. */
    bench: async (id: string) => {
      const { status, until_ms } = await state(id);
      return [status, until_ms > 0 ? until_ms - redis.now_ms : undefined];
    },
  };
}
