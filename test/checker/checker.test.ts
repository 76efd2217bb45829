// The checker finds nothing in a rich history, and says each fault that is planted in its raw keys.
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { useRedis } from "../support/redis.ts";
import { check } from "./check.ts";
import { ENDED, OPEN } from "./faults/holds.ts";
import { JOURNALS } from "./faults/journal.ts";
import { KEYS, LEASES } from "./faults/keys.ts";
import { type Fault, planter, restore, type Saved, save } from "./faults/plant.ts";
import { CREDENTIALS, POOLS } from "./faults/pools.ts";
import { PURSES, TENANTS } from "./faults/purses.ts";
import { OPS, STORIES } from "./faults/stories.ts";
import { play } from "./history.ts";

const redis = useRedis();
let played: Saved[] = [];
let now_ms = 0;

beforeAll(async () => {
  await redis.at(Date.now() + 1000);
  await play(redis);
  played = await save(redis.raw);
  now_ms = redis.now_ms;
});
beforeEach(() => restore(redis.raw, played));

const violations = (more: Parameters<typeof check>[2] = {}) => check(redis.raw, "test", { now_ms, ...more });

test("a rich history has no fault", async () => {
  expect(await violations()).toEqual([]);
  expect(played.length).toBeGreaterThan(50);
});

test("a cell that is empty has no fault, nor has another cell's key", async () => {
  await redis.raw.flushall();
  await redis.raw.set("{other}:surprise", "1");
  expect(await violations()).toEqual([]);
});

test("a hold that is open past its deadline is overdue only behind a sweep", async () => {
  const overdue = ["hold:acme:h-old: overdue, it should have expired"];
  expect(await violations({ swept: true })).toEqual(overdue);
  expect(await violations({ swept: true, now_ms: now_ms - 60_000 })).toEqual([]);
});

test("entries that were archived and trimmed count; those that are in both count once", async () => {
  const key = "{test}:journal:14";
  const hot = await redis.raw.xrange(key, "-", "+");
  const archived = hot.slice(0, 20).map(([id, fields]) => ({ shard: 14, id, fields }));
  for (const { id } of archived.slice(0, 10)) await redis.raw.xdel(key, id);
  expect(await violations({ archived })).toEqual([]);
  expect(await violations()).toContain("tenant:acme: entries 1 to 10 are missing");
  const [first, ...rest] = archived.toReversed();
  const other = { shard: 14, id: first?.id ?? "", fields: (first?.fields ?? []).with(3, "tenant:x") };
  const place = `journal:14 ${other.id}: archived with other content`;
  expect(await violations({ archived: [...rest, other] })).toContain(place);
});

const TABLES: Record<string, Fault[]> = {
  ...{ PURSES, TENANTS, JOURNALS, OPEN, ENDED, STORIES },
  ...{ OPS, POOLS, CREDENTIALS, LEASES, KEYS },
};
describe.each(Object.entries(TABLES))("%s: a fault is said, and nothing else", (_, faults) => {
  test.each(faults)("%s", async (_what, plant, ...said) => {
    await plant(planter(redis.raw));
    const found = await violations();
    const unsaid = said.filter((one) => !found.some((violation) => one.test(violation)));
    const other = found.filter((violation) => !said.some((one) => one.test(violation)));
    expect({ unsaid, other, found }, "").toEqual({ unsaid: [], other: [], found: expect.any(Array) });
    expect(found, "one thing said for each violation").toHaveLength(said.length);
  });
});
