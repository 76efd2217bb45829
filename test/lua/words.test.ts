// What callers write comes back as they wrote it, on a real Redis: ids that look like numbers, metadata, parts left out.
import { describe, expect, test } from "vitest";
import { readHold } from "../../src/quota/hold.ts";
import { readTokens } from "../../src/tenants/state.ts";
import { keys, useRedis } from "../support/redis.ts";
import { checkAfterEach, from, ledgerKit } from "./ledger-kit.ts";

const redis = useRedis();
const IDS = ["1e5", "123", "007", "12345678901234567890", "true", "null", "0.5"];

describe("case D37: an id that looks like something else is that id, and a string", () => {
  test.each(IDS)("case D37: %s as tenant, sub-account, hold, op, token and model", async (id) => {
    const { ledger, open, purse, field, record, due, entries } = ledgerKit(redis, id);
    await open(100, { [id]: { funds: 50 } });
    expect(await redis.raw.zrange(keys.index("tenants"), "0", "-1")).toEqual([id]);
    expect(await redis.raw.zrange(ledger.subs_key, "0", "-1")).toEqual([id]);
    await ledger.addToken(id, id, id);
    expect(readTokens(await field(`tokens:${id}`))).toMatchObject([{ token_id: id, name: id }]);
    expect(await ledger.adjust(id, id, "grant", 5)).toMatchObject({ kind: "adjusted", available: 55 });
    expect(await ledger.adjust(id, id, "grant", 5)).toMatchObject({ replayed: true });
    const items = [{ model: id, amount: 60 }];
    const ask = () => ledger.reserve(id, id, 60, { items, token: id, metadata: id });
    expect(await ask()).toMatchObject({ kind: "reserved", funding: from(55, 5), replayed: false });
    expect(await ask()).toMatchObject({ kind: "reserved", replayed: true });
    expect(await due(id)).toBe(redis.now_ms + 120_000);
    const { hold, metadata } = readHold((await record(id)) ?? "");
    expect([hold.sub_account, hold.items[0]?.model, metadata]).toEqual([id, id, id]);
    expect(await ledger.extend(id, 130_000, 61, 1)).toMatchObject({ kind: "extended", amount: 61 });
    expect(await ledger.settle(id, 59, [{ model: id, amount: 59 }])).toMatchObject({ kind: "settled" });
    expect(await ledger.refund(id, id, 9)).toMatchObject({ kind: "refunded", left: 50, replayed: false });
    expect(await ledger.refund(id, id, 9)).toMatchObject({ kind: "refunded", left: 50, replayed: true });
    expect(await purse(id)).toEqual({ available: 5, spent: 50, funded: 55 });
    const [added, adjusted, settled, refunded] = (await entries()).slice(-4);
    expect(added).toMatchObject({
      aggregate: `tenant:${id}`,
      sub_account: id,
      detail: { token_id: id, sha256: id },
    });
    expect(adjusted).toMatchObject({
      sub_account: id,
      op: id,
      purses: [[`purse:${id}`, 0, 0, 0, 5, 55, 0, 0, 0, 0, 55]],
    });
    expect(settled).toMatchObject({ hold: id, metadata: id, detail: { items: [[id, 60, 0, 1]] } });
    expect(refunded).toMatchObject({ hold: id, op: id, amount: "-9" });
    expect(await ledger.revokeToken(id, id)).toEqual({ kind: "revoked" });
    expect(await ledger.removeSub(id)).toEqual({ kind: "removed", available: 5 });
    expect(await ledger.remove()).toEqual({ kind: "removed", subs: 0 });
  });

  test("case D37: ids that are one number, or one word but for its case, are different things", async () => {
    const pairs = ["7", "007", "7.0", "7e0", "a", "A"];
    const { ledger, open, purse, last } = ledgerKit(redis);
    await open(0, Object.fromEntries(pairs.map((id) => [`s${id}`, { funds: 100 }])));
    for (const [i, id] of pairs.entries()) {
      expect(await ledger.reserve(`s${id}`, id, i + 1)).toMatchObject({ kind: "reserved", replayed: false });
      expect(await ledger.adjust("", id, "grant", i + 1)).toMatchObject({ replayed: false });
      expect(await ledger.addToken("s7", `tok_${i}`, id, id)).toMatchObject({ kind: "added" });
    }
    for (const [i, id] of pairs.entries()) {
      expect(await ledger.settle(id, i + 1)).toMatchObject({ charged: i + 1, replayed: false });
      expect(await last()).toMatchObject({ hold: id, sub_account: `s${id}` });
      expect(await purse(`s${id}`)).toEqual({ available: 99 - i, spent: i + 1, funded: 100 });
    }
    await ledger.reserve("s7", "r", 50);
    await ledger.settle("r", 50);
    for (const [i, id] of pairs.entries()) {
      expect(await ledger.refund("r", id, 1)).toMatchObject({ left: 49 - i, replayed: false });
    }
    const used = [{ model: "07", amount: 1 }];
    await ledger.reserve("s7", "m", 0, { items: [{ model: "7", amount: 1 }] });
    expect(await ledger.settle("m", 1, used)).toEqual({ kind: "mismatch" });
  });
});

describe("case D36: metadata comes back byte for byte, live and in the journal", () => {
  const { ledger, open, record, entries } = ledgerKit(redis);
  test.each([
    '{"order":15947634569000323,"tags":[],"note":"é"}',
    '{"empty":{},"list":[[]],"text":"","zero":-0,"float":1.0,"big":1e400}',
    '{"a":"\\u0000\\n\\\\ \\"quoted\\" <b>&amp;</b> %s %d %.0f %%"}',
    '{ "spaces" : [ 1 , 2 ] ,\n"lines": "\r\n\ttabs",\n\n"北京": "🎉𝒳" }\n',
    "1 open alice 2\n[]\n[]\n",
    " ",
    "",
  ])("case D36: %j", async (metadata) => {
    await open(100);
    const ends: [string, () => Promise<{ kind: string }>][] = [
      ["settle", () => ledger.settle("settle", 5)],
      ["void", () => ledger.void("void")],
      ["expire", () => redis.later(120_000).then(() => ledger.expire("expire"))],
    ];
    for (const [id] of ends) {
      await ledger.reserve("alice", id, 10, { metadata });
      await ledger.extend(id, 120_000, 11);
      expect(readHold((await record(id)) ?? "").metadata).toBe(metadata);
    }
    for (const [id, end] of ends) {
      await end();
      expect(readHold((await record(id)) ?? "").metadata).toBe(metadata);
      expect((await entries()).at(-1)).toMatchObject({ kind: id, metadata });
    }
    await ledger.refund("settle", "r1", 1);
    expect((await entries()).at(-1)).toMatchObject({ kind: "refund", metadata });
    expect(readHold((await record("settle")) ?? "").metadata).toBe(metadata);
  });
});

describe("case D41: parts that are left out leave the others where they were", () => {
  const { ledger, open, record, purse } = ledgerKit(redis);
  const FIELDS = "kind aggregate seq at actor sub_account hold op amount purses detail metadata".split(" ");

  test("case D41: a hold without token, pool, metadata, funds or even items, through its whole life", async () => {
    await open(0);
    const expires_at_ms = redis.now_ms + 120_000;
    const bare = { sub_available: 0, account_available: 0, expires_at_ms, replayed: false };
    const reply = { kind: "reserved", amount: 0, funding: [], ...bare };
    expect(await ledger.reserve("alice", "h1", 0, { items: [] })).toEqual(reply);
    const [head = "", ...lines] = ((await record("h1")) ?? "").split("\n");
    expect([head.split(" ").length, head.split(" ").at(-1), ...lines]).toEqual([19, "-", "[]", "[]", ""]);
    const extended = { kind: "extended", amount: 0, funding: [], accrued: 0, expires_at_ms };
    expect(await ledger.extend("h1", 1)).toEqual(extended);
    const settled = { kind: "settled", charged: 0, returned: [], debt: 0, replayed: false };
    expect(await ledger.settle("h1", 0)).toEqual(settled);
    expect(await purse("alice")).toEqual({});
  });

  test("case D41: every entry has all its fields in one order, empty where its kind has none", async () => {
    await open(0, { alice: { funds: 5 } });
    await ledger.reserve("alice", "h1", 1);
    await ledger.void("h1");
    await ledger.adjust("", "op1", "zero", 0);
    const raw = await redis.raw.xrange(ledger.journal_key, "-", "+");
    expect(raw).toHaveLength(5);
    for (const [, fields] of raw) expect(fields.filter((_, i) => i % 2 === 0)).toEqual(FIELDS);
    const values = (i: number) => raw[i]?.[1].filter((_, n) => n % 2 === 1);
    const at = String(redis.now_ms);
    const purses = '[["purse:alice",0,0,0,0,5,0,0,0,0,5]]';
    expect(values(3)?.with(10, "")).toEqual([
      ...["void", "tenant:acme", "4", at, "internal", "alice", "h1", "", "0", purses, "", ""],
    ]);
    expect(values(4)).toEqual([
      ...[
        "adjust",
        "tenant:acme",
        "5",
        at,
        "admin",
        "",
        "",
        "op1",
        "0",
        "[]",
        '{"kind":"zero","note":{}}',
        "",
      ],
    ]);
  });
});

checkAfterEach(redis);
