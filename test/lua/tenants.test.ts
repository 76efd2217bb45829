// tenant/put and tenant/put_sub on a real Redis: a row per reply, what is stored, and the journal entry.
import { describe, expect, test } from "vitest";
import { keys, useRedis } from "../support/redis.ts";
import { checkAfterEach, ledgerKit, nonzero } from "./ledger-kit.ts";

const redis = useRedis();
const { ledger, open, field, state, purse, made, last, entry, changesNothing } = ledgerKit(redis);
const ACTIVE = '{"status":"active"}';
const FROZEN = '{"status":"frozen"}';
const NEW_PURSE = (made_at: number) => `1 0 0 0 0 0 0 0 0 ${made_at}`;

describe("tenant/put", () => {
  test("created: with an empty account, listed, and written down", async () => {
    expect(await ledger.put({ status: "active" })).toEqual({ kind: "created" });
    expect(await redis.raw.hgetall(ledger.tenant_key)).toEqual({
      ...{ config: ACTIVE, state: "1 1 0 0 0 0", account: NEW_PURSE(1) },
    });
    expect(await redis.raw.zrange(keys.index("tenants"), "0", "-1", "WITHSCORES")).toEqual(["acme", "0"]);
    const detail = { change: "created", tenant: "acme", config: { status: "active" }, note: {} };
    expect(await last()).toEqual(await entry({ kind: "config", actor: "admin", detail }));
  });

  test.each(["config", "status"] as const)(
    "updated (%s): by who read it, and no purse changes",
    async (kind) => {
      await open(1000);
      const account = await field("account");
      expect(await ledger.put({ status: "frozen" }, ACTIVE, kind)).toEqual({ kind: "updated" });
      expect([await field("config"), await field("account")]).toEqual([FROZEN, account]);
      const detail = { change: "updated", tenant: "acme", config: { status: "frozen" }, note: {} };
      expect(await last()).toEqual(await entry({ kind, actor: "admin", detail }));
    },
  );

  test("unchanged: what is so already, however it is asked for, is one entry", async () => {
    await ledger.put();
    for (const before of ["", ACTIVE, FROZEN]) {
      await changesNothing(() => ledger.put({ status: "active" }, before), { kind: "unchanged" });
    }
  });

  test("exists, stale and absent: nobody's change is lost under another's", async () => {
    await changesNothing(() => ledger.put({ status: "frozen" }, ACTIVE), { kind: "absent" });
    await ledger.put();
    await changesNothing(() => ledger.put({ status: "frozen" }), { kind: "exists" });
    await ledger.put({ status: "frozen" }, ACTIVE);
    await changesNothing(() => ledger.put({ status: "active", name: "x" }, ACTIVE), { kind: "stale" });
  });

  test("ten who make it at once make one; of ten who change it at once one does", async () => {
    const at_once = async (put: (i: number) => ReturnType<typeof ledger.put>) => {
      const replies = await Promise.all(Array.from({ length: 10 }, (_, i) => put(i)));
      return replies.map(({ kind }) => kind).sort();
    };
    expect(await at_once(() => ledger.put())).toEqual(["created", ...Array(9).fill("unchanged")]);
    const change = (i: number) => ledger.put({ status: "active", i }, ACTIVE);
    expect(await at_once(change)).toEqual([...Array(9).fill("stale"), "updated"]);
    expect(await state()).toMatchObject({ seq: 2 });
  });
});

describe("tenant/put_sub", () => {
  const terms = { borrow_cap: 5, max_concurrent: 2 };

  test("created: with an empty purse, listed, and written down", async () => {
    await open(1000, {});
    expect(await ledger.putSub("alice", terms)).toEqual({ kind: "created" });
    expect(await field("sub:alice")).toBe('{"status":"active","borrow_cap":5,"max_concurrent":2}');
    expect(await field("purse:alice")).toBe(NEW_PURSE(3)); // the third change of its tenant made it
    expect(await state()).toEqual({ seq: 3, subs: 1, open: 0, reserved: 0, refused: 0 });
    expect(await redis.raw.zrange(ledger.subs_key, "0", "-1", "WITHSCORES")).toEqual(["alice", "0"]);
    const detail = { change: "created", config: { status: "active", ...terms }, note: {} };
    expect(await last()).toEqual(
      await entry({ kind: "config", actor: "admin", sub_account: "alice", detail }),
    );
  });

  test.each(["config", "status"] as const)("updated (%s): its funds and its holds go on", async (kind) => {
    await open(0, { alice: { funds: 100 } });
    await ledger.reserve("alice", "h1", 60);
    const before = [await field("purse:alice"), await state()];
    expect(await ledger.putSub("alice", { status: "frozen" }, ACTIVE, kind)).toEqual({ kind: "updated" });
    expect(await field("sub:alice")).toBe(FROZEN);
    expect([await field("purse:alice"), await state()]).toEqual([
      before[0],
      { ...(before[1] as object), seq: 4 },
    ]);
    const detail = { change: "updated", config: { status: "frozen" }, note: {} };
    expect(await last()).toEqual(await entry({ kind, actor: "admin", sub_account: "alice", detail }));
  });

  test("unchanged, exists, stale, not_found and absent change nothing", async () => {
    await changesNothing(() => ledger.putSub("alice"), { kind: "absent" });
    await open(0, {});
    await changesNothing(() => ledger.putSub("alice", terms, ACTIVE), { kind: "not_found" });
    await ledger.putSub("alice");
    for (const before of ["", ACTIVE, FROZEN]) {
      await changesNothing(() => ledger.putSub("alice", {}, before), { kind: "unchanged" });
    }
    await changesNothing(() => ledger.putSub("alice", terms), { kind: "exists" });
    await changesNothing(() => ledger.putSub("alice", terms, FROZEN), { kind: "stale" });
  });

  test("full: one more than a hundred thousand is refused; one of them may still change", async () => {
    await open(0);
    const text = await field("state");
    await redis.raw.hset(ledger.tenant_key, "state", "1 2 100000 0 0 0");
    await changesNothing(() => ledger.putSub("bob"), { kind: "full", subs: 100_000 });
    expect(await ledger.putSub("alice", terms, ACTIVE)).toEqual({ kind: "updated" });
    await redis.raw.hset(ledger.tenant_key, "state", (text ?? "").replace("1 2 ", "1 3 "));
  });

  test("another's purse is not touched, and the limits of one are not those of another", async () => {
    await open(1000, { alice: { funds: 100, borrow_cap: 0 } });
    const alice = [await field("sub:alice"), await field("purse:alice"), await made("alice")];
    await ledger.putSub("bob", { borrow_cap: 700 });
    expect([await field("sub:alice"), await field("purse:alice"), await made("alice")]).toEqual(alice);
    expect(await ledger.reserve("bob", "h1", 700)).toMatchObject({ kind: "reserved" });
    expect(await purse("alice")).toEqual(nonzero({ available: 100, funded: 100 }));
  });
});

test("two tenants of one shard or of two keep their numbers apart", async () => {
  const other = ledgerKit(redis, "globex");
  await open(10, { alice: { funds: 5 } });
  await other.open(20, { alice: { funds: 7 } });
  expect([await purse("alice"), await other.purse("alice")]).toEqual([
    { available: 5, funded: 5 },
    { available: 7, funded: 7 },
  ]);
  expect(await last()).toMatchObject({ aggregate: "tenant:acme", seq: "4" });
  expect(await other.last()).toMatchObject({ aggregate: "tenant:globex", seq: "4" });
});

checkAfterEach(redis);
