// A balance in one key and a stream beside it: the script that people write first. It knows no hold, so that a repeat deducts
// again, a lost caller's amount is gone, and a refund can come twice.

import type { Redis } from "ioredis";
import { z } from "zod";
import { defineScript } from "../../../src/scripts/define.ts";
import { run } from "../../../src/scripts/run.ts";
import { evaluatorOn } from "../../lib/redis.ts";

const args = { hold_id: z.string(), amount: z.int() };
const keys = ["balance_key", "stream_key"] as const;

const deduct = defineScript({
  name: "deduct",
  changes: true,
  lua: [
    `local balance, amount = tonumber(redis.call("GET", KEYS[1]) or "0"), tonumber(ARGV[2])
if balance < amount then return { "refused" } end
redis.call("DECRBY", KEYS[1], ARGV[2])
redis.call("XADD", KEYS[2], "*", "kind", "deduct", "hold", ARGV[1], "amount", ARGV[2])
return { "deducted" }`,
  ],
  keys,
  args,
  replies: { deducted: {}, refused: {} },
});

const refund = defineScript({
  name: "refund",
  changes: true,
  lua: [
    `redis.call("INCRBY", KEYS[1], ARGV[2])
redis.call("XADD", KEYS[2], "*", "kind", "refund", "hold", ARGV[1], "amount", ARGV[2])
return { "refunded" }`,
  ],
  keys,
  args,
  replies: { refunded: {} },
});

export function balanceOn(connection: Redis, name: string) {
  const store = evaluatorOn(connection);
  const place = { balance_key: `{${name}}:balance`, stream_key: `{${name}}:stream` };
  return {
    put: async (amount: number) => {
      await connection.del(place.stream_key);
      await connection.set(place.balance_key, amount);
    },
    left: async () => Number(await connection.get(place.balance_key)),
    deduct: (hold_id: string, amount: number) => run(store, deduct, place, { hold_id, amount }),
    refund: (hold_id: string, amount: number) => run(store, refund, place, { hold_id, amount }),
  };
}
