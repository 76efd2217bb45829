// What the tests of a call's verbs share: a tenant, a pool, and short looks at their raw state.
import { afterEach, expect } from "vitest";
import { check } from "../checker/check.ts";
import { callsOf } from "../support/call.ts";
import { entriesOf, ledgerOf, purseOf, tenantStateOf } from "../support/ledger.ts";
import { poolOf, poolStateOf, stateOf } from "../support/pool.ts";
import type { useRedis } from "../support/redis.ts";

/** Each test ends with the checker. */
export function callKit(redis: ReturnType<typeof useRedis>) {
  const store = () => redis.store();
  const ledger = ledgerOf(store);
  const pool = poolOf(store);
  afterEach(async () => expect(await check(redis.raw, "test", { now_ms: redis.now_ms })).toEqual([]));
  return {
    ledger,
    pool,
    call: callsOf(store),
    vip: callsOf(store, "acme", "openai", "vip"),
    alice: async () => purseOf(await redis.raw.hget(ledger.tenant_key, "purse:alice")),
    tenant: async () => tenantStateOf(await redis.raw.hget(ledger.tenant_key, "state")),
    own: async () => poolStateOf(await redis.raw.hget(pool.pool_key, "@pool")),
    state: async (id: string) => stateOf(await redis.raw.hget(pool.pool_key, id)),
    members: () => redis.raw.zrange(pool.leases_key, "0", "-1"),
    lastEntry: async () => entriesOf(await redis.raw.xrange(ledger.journal_key, "-", "+")).at(-1),
  };
}
