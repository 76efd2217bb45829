// The books of a test's cell: they must be right after each test, and a refusal must have left them as they were.
import { afterEach, expect } from "vitest";
import { check } from "../checker/check.ts";
import type { useRedis } from "./redis.ts";

type TestRedis = ReturnType<typeof useRedis>;

/** What an independent reading of the raw keys has to say against them. */
export const violations = ({ raw, now_ms }: TestRedis, more: Parameters<typeof check>[2] = {}) =>
  check(raw, "test", { now_ms, ...more });

/** After each test of the file: nothing. */
export function useBooks(redis: TestRedis) {
  afterEach(async () => {
    expect(await violations(redis)).toEqual([]);
  });
}

async function contentOf({ raw }: TestRedis, key: string): Promise<unknown> {
  const type = await raw.type(key);
  if (type === "hash") return raw.hgetall(key);
  if (type === "stream") return raw.xrange(key, "-", "+");
  if (type === "zset") return raw.zrange(key, "0", "-1", "WITHSCORES");
  return raw.get(key);
}

/** Every key of the cell with its value. */
export async function dump(redis: TestRedis): Promise<Record<string, unknown>> {
  const names = (await redis.raw.keys("{test}:*")).sort();
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await contentOf(redis, name)])),
  );
}
