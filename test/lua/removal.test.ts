// tenant/remove_sub and tenant/remove on a real Redis: what goes, what is said of it, and what one made again does not inherit.
import { describe, expect, test } from "vitest";
import { keys, useRedis } from "../support/redis.ts";
import { checkAfterEach, entryLike, from, ledgerKit } from "./ledger-kit.ts";

const redis = useRedis();
const kit = ledgerKit(redis);
const { ledger, open, grant, field, state, purse, made, record, entries, last, entry, changesNothing } = kit;
const fields = () => redis.raw.hkeys(ledger.tenant_key).then((names) => names.sort());

/** Alice has 60 left of 100, spent 40 of her own and 25 of the account's; bob has 7. */
async function used() {
  await open(1000, { alice: { funds: 40 }, bob: { funds: 7 } });
  await ledger.reserve("alice", "h1", 65);
  await ledger.settle("h1", 65);
  await grant("alice", 60);
}

/** What all entries have done to each purse: of one that is gone, nothing may remain. */
async function balances() {
  const sums: Record<string, number[]> = {};
  for (const { purses } of await entries()) {
    for (const [name, ...changes] of purses) {
      sums[name] = (sums[name] ?? [0, 0, 0, 0]).map((sum, i) => sum + (changes[i] ?? 0));
    }
  }
  return sums;
}

describe("tenant/remove_sub", () => {
  test("removed: all of it goes, tokens too; what was left in its purse leaves the books", async () => {
    await used();
    await ledger.addToken("alice", "tok_1", "sha-1");
    await ledger.addToken("alice", "tok_2", "sha-2");
    await ledger.addToken("bob", "tok_b", "sha-b");
    expect(await ledger.removeSub("alice")).toEqual({ kind: "removed", available: 60 });
    expect(await fields()).toEqual([
      ...["account", "config", "purse:bob", "state", "sub:bob", "token:sha-b", "tokens:bob"],
    ]);
    expect(await redis.raw.zrange(ledger.subs_key, "0", "-1")).toEqual(["bob"]);
    expect(await state()).toMatchObject({ subs: 1, open: 0, reserved: 1 });
    const purses = [["purse:alice", -40, 0, 0, -100, 0, 0, 0, 0, 0, 0]];
    const detail = { change: "removed", note: {} };
    expect(await last()).toEqual(
      await entry({ kind: "config", actor: "admin", sub_account: "alice", purses, detail }),
    );
    expect(await balances()).toMatchObject({ "purse:alice": [0, 0, 0, 0], account: [25, 0, 0, 1000] });
    expect(await purse()).toEqual({ available: 975, spent: 25, funded: 1000 }); // what it drew stays spent
  });

  test("held: not while a hold is open; bob's holds are his own affair", async () => {
    await used();
    await ledger.reserve("alice", "h2", 0);
    await ledger.reserve("alice", "h3", 5);
    await ledger.reserve("bob", "b1", 5);
    await changesNothing(() => ledger.removeSub("alice"), { kind: "held", open: 2 });
    await ledger.void("h2");
    await ledger.settle("h3", 5);
    expect(await ledger.removeSub("alice")).toEqual({ kind: "removed", available: 55 });
    expect(await state()).toMatchObject({ subs: 1, open: 1 });
  });

  test("not_found and absent: also the second time", async () => {
    await changesNothing(() => ledger.removeSub("alice"), { kind: "absent" });
    await used();
    await changesNothing(() => ledger.removeSub("ghost"), { kind: "not_found" });
    await ledger.removeSub("alice");
    await changesNothing(() => ledger.removeSub("alice"), { kind: "not_found" });
  });

  test("made again: an empty purse with a number of its own, no token, no debt, nothing borrowed", async () => {
    await used();
    await ledger.addToken("alice", "tok_1", "sha-1");
    const before = await made("alice");
    await ledger.removeSub("alice");
    expect(await ledger.putSub("alice", { borrow_cap: 30 })).toEqual({ kind: "created" });
    expect(await made("alice")).toBe((await state()).seq);
    expect(await made("alice")).toBeGreaterThan(before);
    expect(await purse("alice")).toEqual({});
    const token = "sha-1";
    expect(await ledger.reserve("alice", "h2", 1, { token })).toEqual({ kind: "unauthenticated" });
    expect(await ledger.addToken("alice", "tok_9", "sha-9", "tok_1")).toMatchObject({ kind: "added" }); // no name is taken
    expect(await ledger.reserve("alice", "h2", 30)).toMatchObject({ kind: "reserved", funding: from(0, 30) });
  });
});

describe("tenant/remove", () => {
  test("removed: only its numbers stay; every purse leaves the books in one entry", async () => {
    await used();
    await ledger.addToken("alice", "tok_1", "sha-1");
    const { seq = 0, reserved } = await state();
    expect(await ledger.remove()).toEqual({ kind: "removed", subs: 2 });
    expect(await redis.raw.hgetall(ledger.tenant_key)).toEqual({ state: `1 ${seq + 1} 0 0 ${reserved} 0` });
    expect(await redis.raw.exists(ledger.subs_key)).toBe(0);
    expect(await redis.raw.zcard(keys.index("tenants"))).toBe(0);
    const purses = [
      ["account", -25, 0, 0, -1000, 0, 0, 0, 0, 0, 0],
      ["purse:alice", -40, 0, 0, -100, 0, 0, 0, 0, 0, 0],
      ["purse:bob", 0, 0, 0, -7, 0, 0, 0, 0, 0, 0],
    ];
    const detail = { change: "removed", tenant: "acme", note: {} };
    expect(await last()).toEqual(await entry({ kind: "config", actor: "admin", purses, detail }));
    for (const left of Object.values(await balances())) expect(left).toEqual([0, 0, 0, 0]);
  });

  test("held: not while a hold of any of its sub-accounts is open", async () => {
    await used();
    await ledger.reserve("bob", "b1", 5);
    await changesNothing(() => ledger.remove(), { kind: "held", open: 1 });
    await ledger.void("b1");
    expect(await ledger.remove()).toEqual({ kind: "removed", subs: 2 });
  });

  test("too_many: a thousand sub-accounts go at once, one more does not", async () => {
    await open(0, {});
    const names = Array.from({ length: 1001 }, (_, i) => `s${i}`);
    for (const name of names) await ledger.putSub(name);
    await changesNothing(() => ledger.remove(), { kind: "too_many", subs: 1001 });
    await ledger.removeSub("s500");
    expect(await ledger.remove()).toEqual({ kind: "removed", subs: 1000 });
    expect(await fields()).toEqual(["state"]);
  }, 60_000);

  test("absent: it was never there, or is gone already; and every verb says so", async () => {
    const { kind } = { kind: "absent" } as const;
    await changesNothing(() => ledger.remove(), { kind });
    await used();
    await ledger.remove();
    await changesNothing(() => ledger.remove(), { kind });
    await changesNothing(() => ledger.put({ status: "frozen" }, '{"status":"active"}'), { kind });
    await changesNothing(() => ledger.putSub("alice"), { kind });
    await changesNothing(() => ledger.removeSub("alice"), { kind });
    await changesNothing(() => ledger.addToken("alice", "tok_1", "sha-1"), { kind });
    await changesNothing(() => ledger.revokeToken("alice", "tok_1"), { kind });
    await changesNothing(() => ledger.adjust("", "op1", "grant", 1), { kind });
    await changesNothing(() => ledger.reserve("alice", "h2", 1), { kind });
    await changesNothing(() => ledger.extend("h2", 1000), { kind });
    await changesNothing(() => ledger.settle("h2", 1), { kind });
    await changesNothing(() => ledger.void("h2"), { kind });
    await changesNothing(() => ledger.refund("h2", "r1", 1), { kind });
    await changesNothing(() => ledger.expire("h2"), { kind });
  });
});

describe("a tenant made again under its name", () => {
  test("goes on counting where the old one ended, so that no entry of the two is taken for one of the other", async () => {
    await used();
    await ledger.remove();
    const { seq = 0 } = await state();
    expect(await ledger.put()).toEqual({ kind: "created" });
    expect(await state()).toMatchObject({ seq: seq + 1, subs: 0, open: 0 });
    expect(await field("account")).toBe(`1 0 0 0 0 0 0 0 0 ${seq + 1}`);
    const detail = { change: "created", tenant: "acme", config: { status: "active" }, note: {} };
    const told = { kind: "config", aggregate: "tenant:acme", seq: String(seq + 1), at: String(redis.now_ms) };
    expect(await last()).toEqual(entryLike({ ...told, actor: "admin", detail }));
  });

  test("is not charged, and gets nothing, for the old one's holds", async () => {
    await used();
    await ledger.reserve("alice", "old", 10);
    await ledger.extend("old", 120_000, 0, 4);
    await redis.later(120_000);
    await ledger.expire("old");
    await ledger.remove();
    await ledger.put();
    await ledger.putSub("alice");
    await grant("alice", 500);
    const text = await record("old");
    await changesNothing(() => ledger.settle("old", 9), { kind: "not_found" });
    await changesNothing(() => ledger.refund("h1", "r1", 1), { kind: "not_found" });
    expect(await record("old")).toBe(text);
    expect([await purse("alice"), await purse()]).toEqual([{ available: 500, funded: 500 }, {}]);
  });
});

checkAfterEach(redis);
