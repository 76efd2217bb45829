// lock/take and lock/free on a real Redis: if these failed, a job would be done twice at once, or never again.
import { expect, test } from "vitest";
import { freeLock } from "../../src/scripts/lock/free.ts";
import { takeLock } from "../../src/scripts/lock/take.ts";
import { run } from "../../src/scripts/run.ts";
import { useBooks } from "../support/books.ts";
import { keys, useRedis } from "../support/redis.ts";
import { many } from "../support/worker.ts";

const redis = useRedis();
useBooks(redis);
const lock_key = keys.lock("refresh", "openai", "default", "key_01");
const take = (owner: string, for_ms = 10_000) =>
  run(redis.store(), takeLock, { lock_key }, { owner, for_ms });
const free = (owner: string) => run(redis.store(), freeLock, { lock_key }, { owner });

test("taken: it is the owner's, and it ends by itself", async () => {
  expect(await take("a")).toEqual({ kind: "taken" });
  expect(await redis.raw.get(lock_key)).toBe("a");
  const left_ms = await redis.raw.pttl(lock_key);
  expect(left_ms).toBeGreaterThan(9_000);
  expect(left_ms).toBeLessThanOrEqual(10_000);
});

test("taken again by its owner, as after a lost reply: its time begins anew", async () => {
  await take("a", 1_000);
  expect(await take("a", 60_000)).toEqual({ kind: "taken" });
  expect(await redis.raw.pttl(lock_key)).toBeGreaterThan(50_000);
});

test("held: another's, and its end stays where it was", async () => {
  await take("a", 1_000);
  expect(await take("b", 60_000)).toEqual({ kind: "held" });
  expect(await redis.raw.get(lock_key)).toBe("a");
  expect(await redis.raw.pttl(lock_key)).toBeLessThanOrEqual(1_000);
});

test("of twenty at once one has it", async () => {
  const replies = await many(20, (i) => take(`run-${i}`));
  expect(replies.filter(({ kind }) => kind === "taken")).toHaveLength(1);
});

test("freed: the next one takes it", async () => {
  await take("a");
  expect(await free("a")).toEqual({ kind: "freed" });
  expect(await redis.raw.exists(lock_key)).toBe(0);
  expect(await take("b")).toEqual({ kind: "taken" });
});

test("not_held: who came too late frees nobody else's lock", async () => {
  expect(await free("a")).toEqual({ kind: "not_held" });
  await take("a", 20);
  await expect.poll(() => redis.raw.exists(lock_key)).toBe(0);
  await take("b");
  expect(await free("a")).toEqual({ kind: "not_held" });
  expect(await redis.raw.get(lock_key)).toBe("b");
});
