// Many callers of one Redis, each with a connection of its own, and the two usual ways to keep them out of each other's way.
import { randomUUID } from "node:crypto";
import type { Redis } from "ioredis";
import { patiently } from "./patience.ts";
import type { Database } from "./redis.ts";

/** Each caller has its own. */
export type Connections = (caller: number) => Redis;

/** A connection for each caller, opened once for all ways. */
export async function connectionsOf({ connect }: Database, callers: number): Promise<Connections> {
  const all = Array.from({ length: callers }, connect);
  await Promise.all(all.map((connection) => connection.ping()));
  return (caller) => {
    const connection = all[caller];
    if (!connection) throw new Error(`caller ${caller} has no connection`);
    return connection;
  };
}

/** Writes what `next` makes of a number, only if nobody wrote in between; else again. `next` says undefined to write nothing. */
export const watched = (redis: Redis, key: string, next: (value: number) => number | undefined) =>
  patiently(async () => {
    await redis.watch(key);
    const value = next(Number(await redis.get(key)));
    if (value === undefined) {
      await redis.unwatch();
      return false;
    }
    return (await redis.multi().set(key, value).exec()) ? true : "again";
  });

const LOCK_MS = 5_000;
const UNLOCK = 'if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0';

/** Works under a lock that ends by itself and that only its owner opens. */
export async function locked<T>(redis: Redis, lock_key: string, work: () => Promise<T>): Promise<T> {
  const owner = randomUUID();
  await patiently(async () => {
    return (await redis.set(lock_key, owner, "PX", LOCK_MS, "NX")) ? "ours" : "again";
  });
  try {
    return await work();
  } finally {
    await redis.eval(UNLOCK, 1, lock_key, owner);
  }
}
