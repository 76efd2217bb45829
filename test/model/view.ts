// The raw keys of the provider, and a step's effect on them.
import assert from "node:assert/strict";
import { homeOf } from "../../src/keys.ts";
import { keys } from "../support/redis.ts";
import type { Text } from "./database.ts";
import { LEASES, POOLS, type PoolName } from "./operations.ts";

export const PROVIDER = "openai";

export interface Member {
  readonly credential: string;
  readonly fence: number;
  readonly lease: string;
  readonly expires_at_ms: number;
}
type Hash = Record<string, string>;

export interface RawPool {
  readonly hash: Hash;
  readonly members: readonly Member[];
  readonly config: Hash;
  readonly secrets: Hash;
}
export interface View {
  readonly pools: Record<PoolName, RawPool>;
  readonly provider: Hash;
  readonly index: Hash;
  readonly records: Hash;
}

const commandsOf = (pool: PoolName) => {
  const { pool_key, leases_key, config_key, secrets_key } = keys.pool(PROVIDER, pool);
  return [
    ["HGETALL", pool_key],
    ["ZRANGE", leases_key, "0", "-1", "WITHSCORES"],
    ["HGETALL", config_key],
    ["HGETALL", secrets_key],
  ];
};
/** Everything that a view is made of. */
export const WATCH = [
  ["HGETALL", keys.provider(PROVIDER)],
  ["HGETALL", keys.index("pools")],
  ["MGET", ...LEASES.map(keys.lease)],
  ...POOLS.flatMap(commandsOf),
];

function pairs(reply: Text | undefined): [string, string][] {
  const flat = Array.isArray(reply) ? reply.map(String) : [];
  return flat.flatMap((name, i) => (i % 2 === 0 ? [[name, flat[i + 1] ?? ""] as [string, string]] : []));
}
const hashOf = (reply: Text | undefined): Hash => Object.fromEntries(pairs(reply));

function memberOf([text, score]: [string, string]): Member {
  const [credential = "", fence, lease = ""] = text.split(" ");
  return { credential, fence: Number(fence), lease, expires_at_ms: Number(score) };
}

export function viewOf([provider, index, records, ...rest]: Text[]): View {
  const pools = POOLS.map((name, i): [PoolName, RawPool] => {
    const [hash, members, config, secrets] = rest.slice(4 * i);
    return [
      name,
      {
        hash: hashOf(hash),
        members: pairs(members).map(memberOf),
        config: hashOf(config),
        secrets: hashOf(secrets),
      },
    ];
  });
  const texts = Array.isArray(records) ? records : [];
  const known = LEASES.flatMap((id, i) => (texts[i] === null ? [] : [[id, String(texts[i])]]));
  return {
    provider: hashOf(provider),
    index: hashOf(index),
    records: Object.fromEntries(known),
    pools: Object.fromEntries(pools) as View["pools"],
  };
}

/**
 * What a step may do to the keys: `nothing` at all; `counted`: events of @pool; `swept`: besides, units and probes of expired
 * leases came back; `changed`.
 */
export type Effect = "nothing" | "counted" | "swept" | "changed";

/** A pool's hash without what a refusal may touch. */
function withoutCounts(hash: Hash, swept: boolean): Hash {
  const cut = (field: string, text: string) => {
    if (field === "@pool") return text.split(" ", swept ? 5 : 6).join(" ");
    if (!swept || field === "@limits" || field === "@health" || field === "@made") return text;
    return text.split(" ").toSpliced(4, 1).join(" "); // @breaker's probes out, a credential's units
  };
  return Object.fromEntries(Object.entries(hash).map(([field, text]) => [field, cut(field, text)]));
}

const withoutCountsOf = (view: View, pool: PoolName, members: readonly Member[], swept: boolean): View => ({
  ...view,
  pools: {
    ...view.pools,
    [pool]: { ...view.pools[pool], members, hash: withoutCounts(view.pools[pool].hash, swept) },
  },
});

/** Fails when a refusal did more than it may. `gone`: how many of the first members a sweep takes. */
export function checkEffect(effect: Effect, before: View, after: View, pool: PoolName, gone: number) {
  if (effect === "changed") return;
  if (effect === "nothing") {
    assert.deepEqual(after, before, "a refusal changes nothing");
    return;
  }
  const swept = effect === "swept";
  const members = before.pools[pool].members.slice(swept ? gone : 0);
  assert.deepEqual(
    withoutCountsOf(after, pool, after.pools[pool].members, swept),
    withoutCountsOf(before, pool, members, swept),
    "a refusal changes nothing but counters",
  );
}

export const homeOfPool = (pool: PoolName) => homeOf(PROVIDER, pool);
