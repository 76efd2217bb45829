// What the tests of the lease verbs share: two pools of a provider, a grant that must succeed, and the raw state.
import { poolOf, poolStateOf, stateOf } from "./pool.ts";
import type { useRedis } from "./redis.ts";

/** The whole database, to prove that a refusal changed nothing. */
export async function dumpOf(raw: ReturnType<typeof useRedis>["raw"]): Promise<Record<string, unknown>> {
  const read: Record<string, (key: string) => Promise<unknown>> = {
    hash: (key) => raw.hgetall(key),
    zset: (key) => raw.zrange(key, "0", "-1", "WITHSCORES"),
    stream: (key) => raw.xrange(key, "-", "+"),
    string: async (key) => [await raw.get(key), await raw.pexpiretime(key)],
  };
  const dump: Record<string, unknown> = {};
  for (const key of (await raw.keys("{*")).sort()) dump[key] = await read[await raw.type(key)]?.(key);
  return dump;
}

export function leaseKit(redis: ReturnType<typeof useRedis>) {
  const pool = poolOf(() => redis.store());
  return {
    pool,
    vip: poolOf(() => redis.store(), "openai", "vip"),
    state: async (id: string) => stateOf(await redis.raw.hget(pool.pool_key, id)),
    own: async () => poolStateOf(await redis.raw.hget(pool.pool_key, "@pool")),
    dump: () => dumpOf(redis.raw),
    granted: async (id: string, candidates: string[], lease_ms = 1000, at = pool) => {
      const reply = await at.allocate(id, candidates, lease_ms);
      if (reply.kind !== "granted") throw new Error(`not granted: ${reply.kind}`);
      return reply;
    },
  };
}
