// The journal of a pool, on a real Redis: one entry a change, with all that a rebuild needs and no plain secret.
import { describe, expect, test } from "vitest";
import { leaseKit } from "../support/lease.ts";
import { poolOf } from "../support/pool.ts";
import { useRedis } from "../support/redis.ts";
import { settingsOf } from "./health-kit.ts";
import { checkAfterEach, entriesIn, entryLike } from "./ledger-kit.ts";

const redis = useRedis();
const { pool, vip, own, granted, dump } = leaseKit(redis);
const aggregate = `pool:${pool.home}`;
const entries = () => entriesIn(redis, pool.journal_key, aggregate);
const SLOW = settingsOf({ lease_seconds: 7, breaker: { probes: 3 } });

/** The verb writes one entry, numbered as the pool is, and this is it. */
async function writes(
  verb: () => Promise<{ kind: string }>,
  kind: string,
  told: { kind: string; detail: object },
) {
  const before = await entries();
  expect((await verb()).kind).toBe(kind);
  const all = await entries();
  expect(all.slice(0, -1)).toEqual(before);
  const seq = String(before.length + 1);
  expect(all.at(-1)).toEqual(
    entryLike({ ...told, aggregate, seq, at: String(redis.now_ms), actor: "admin" }),
  );
  expect(String((await own()).seq)).toBe(seq);
}
async function writesNothing(verb: () => Promise<{ kind: string }>, kind: string) {
  const before = await dump();
  expect((await verb()).kind).toBe(kind);
  expect(await dump()).toEqual(before);
}
const member = (change: string, more: object) => ({
  kind: "config",
  detail: {
    ...{ change, key_id: "c1", status: "available", capacity: 3, config: {}, note: {} },
    ...{ fingerprint: "print-of-c1", sealed: "k1.c1" },
    ...more,
  },
});
const status = (change: string, more: object = {}) => ({
  ...{ kind: "status", detail: { change, key_id: "c1", note: {}, ...more } },
});

describe("each change is one entry", () => {
  test("put: created and updated, with everything of the credential", async () => {
    const config = { base_url: "https://a.example", tags: ["x"] };
    const put = { config: JSON.stringify(config), status: "pending" as const };
    await writes(() => pool.put("c1", 3, put), "created", member("created", { config, status: "pending" }));
    await redis.later(5);
    const updated = { config, status: "pending", capacity: 4, fingerprint: "new", sealed: "k2.new" };
    const more = { ...put, fingerprint: "new", sealed: "k2.new" };
    await writes(() => pool.put("c1", 4, more), "updated", member("updated", updated));
  });

  test("patch: what stays is said to stay", async () => {
    await pool.put("c1", 3);
    const [config, stays] = [{ weight: 2 }, { fingerprint: "", sealed: "" }];
    const patch = (before: string, more: object) => () => pool.patch("c1", before, more);
    const text = JSON.stringify(config);
    await writes(patch("{}", { config: text }), "patched", member("updated", { config, ...stays }));
    const secret = { fingerprint: "new", sealed: "k1.new" };
    await writes(
      patch(text, { capacity: 5, ...secret }),
      "patched",
      member("updated", { config, capacity: 5, ...secret }),
    );
  });

  test("a new secret ends auth_failed, and the entry says the status that it has now", async () => {
    await pool.put("c1", 3);
    await granted("l1", ["c1"]);
    await pool.release("l1", "c1", "auth_failed");
    await writes(() => pool.patch("c1", "{}", { capacity: 4 }), "patched", {
      ...member("updated", { capacity: 4, status: "auth_failed", fingerprint: "", sealed: "" }),
    });
    const secret = { fingerprint: "new", sealed: "k1.new" };
    const now = member("updated", { capacity: 4, ...secret });
    await writes(() => pool.patch("c1", "{}", secret), "patched", now);
  });

  test("mark, revoke, remove and configure", async () => {
    await pool.put("c1", 3);
    await writes(() => pool.mark("c1", "disabled"), "marked", status("disabled"));
    await writes(() => pool.mark("c1", "available"), "marked", status("available"));
    await granted("l1", ["c1"]);
    const { fence } = await granted("l2", ["c1"]);
    await writes(() => pool.revoke("c1"), "revoked", status("revoked", { fence, leases: 2 }));
    const configured = { kind: "config", detail: { change: "configured", settings: SLOW, note: {} } };
    await writes(() => pool.configure(SLOW), "configured", configured);
    const removed = { kind: "config", detail: { change: "removed", key_id: "c1", note: {} } };
    await writes(() => pool.remove("c1"), "removed", removed);
  });
});

test("what changed nothing is no entry: unchanged, stale, elsewhere, full, not_found, absent; nor is any lease", async () => {
  await writesNothing(() => pool.mark("c1", "disabled"), "absent");
  await pool.put("c1", 3);
  await vip.put("v1", 1);
  await writesNothing(() => pool.put("c1", 3, { sealed: "k1.anew" }), "unchanged");
  await writesNothing(() => pool.put("v1", 1), "elsewhere");
  await writesNothing(() => pool.put("c2", 1, { fingerprint: "print-of-v1" }), "elsewhere");
  await writesNothing(() => pool.patch("c1", '{"other":1}', { capacity: 9 }), "stale");
  await writesNothing(
    () => pool.patch("c1", "{}", { fingerprint: "print-of-v1", sealed: "k1.v1" }),
    "elsewhere",
  );
  await writesNothing(() => pool.patch("c2", "{}"), "not_found");
  await writesNothing(() => pool.mark("c1", "available"), "marked");
  for (const verb of [pool.revoke, pool.remove]) await writesNothing(() => verb("c2"), "not_found");
  await writesNothing(() => pool.configure(SLOW, "{}"), "stale");
  const before = await entries();
  const fields = await redis.raw.hget(pool.pool_key, "@pool");
  await granted("l1", ["c1"]);
  await granted("l2", ["c1"], 1);
  await pool.renew("l1", "c1");
  await pool.release("l1", "c1", "upstream_error");
  await redis.later(1);
  await pool.reclaim();
  expect(await redis.raw.hget(pool.pool_key, "@pool")).not.toBe(fields);
  expect(await entries()).toEqual(before);
  const now = (await redis.raw.hget(pool.pool_key, "@pool")) ?? "";
  await redis.raw.hset(pool.pool_key, "@pool", now.replace(/^(1 \d+ \d+) 1 /, "$1 10000 "));
  await writesNothing(() => pool.put("c2", 1), "full");
  await redis.raw.hset(pool.pool_key, "@pool", now);
});

test("ten operators at once: each change that was made is one entry, numbered without a gap", async () => {
  const changes = Array.from({ length: 10 }, (_, i) => pool.put(`c${i}`, 1));
  expect((await Promise.all(changes)).map(({ kind }) => kind)).toEqual(Array(10).fill("created"));
  const settings = Array.from({ length: 10 }, (_, i) => pool.configure(settingsOf({ lease_seconds: i + 1 })));
  const configured = (await Promise.all(settings)).filter(({ kind }) => kind === "configured");
  expect(configured).toHaveLength(1);
  expect((await entries()).map(({ seq }) => seq)).toEqual(
    Array.from({ length: 11 }, (_, i) => String(i + 1)),
  );
});

test("two pools of one shard or of two are numbered apart", async () => {
  const other = poolOf(() => redis.store(), "anthropic");
  await pool.put("c1", 1);
  await other.put("c1", 1);
  expect(await entries()).toHaveLength(1);
  expect(await entriesIn(redis, other.journal_key, `pool:${other.home}`)).toMatchObject([{ seq: "1" }]);
});

checkAfterEach(redis);
