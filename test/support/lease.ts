// What the tests of the lease verbs share: two pools of a provider, a grant that must succeed, and the raw state.
import { poolOf, poolStateOf, stateOf } from "./pool.ts";
import type { useRedis } from "./redis.ts";

export function leaseKit(redis: ReturnType<typeof useRedis>) {
  const pool = poolOf(() => redis.store());
  return {
    pool,
    vip: poolOf(() => redis.store(), "openai", "vip"),
    state: async (id: string) => stateOf(await redis.raw.hget(pool.pool_key, id)),
    own: async () => poolStateOf(await redis.raw.hget(pool.pool_key, "@pool")),
    /** The whole database, to prove that a refusal changed nothing. */
    dump: async () => {
      const dumps: Record<string, unknown> = {};
      for (const key of (await redis.raw.keys("{*")).sort()) {
        dumps[key] = (await redis.raw.dumpBuffer(key)).toString("hex");
      }
      return dumps;
    },
    granted: async (id: string, candidates: string[], lease_ms = 1000, at = pool) => {
      const reply = await at.allocate(id, candidates, lease_ms);
      if (reply.kind !== "granted") throw new Error(`not granted: ${reply.kind}`);
      return reply;
    },
  };
}
