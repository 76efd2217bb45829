// tenant/add_token and tenant/revoke_token on a real Redis: a row per reply, what is stored of a token, and what it opens.
import { describe, expect, test } from "vitest";
import { run } from "../../src/scripts/run.ts";
import { addToken } from "../../src/scripts/tenant/add_token.ts";
import { readTokens } from "../../src/tenants/state.ts";
import { useRedis } from "../support/redis.ts";
import { checkAfterEach, ledgerKit } from "./ledger-kit.ts";

const redis = useRedis();
const { ledger, open, field, purse, last, entry, changesNothing } = ledgerKit(redis);
const told = { kind: "token", actor: "admin", sub_account: "alice" };

/** What a caller with this token is told. */
let asked = 0;
const opens = async (token: string, sub = "alice") =>
  (await ledger.reserve(sub, `h${++asked}`, 0, { token })).kind;

describe("add_token", () => {
  test("added: its hash opens the sub-account, and it is listed by its name", async () => {
    await open(0);
    expect(await opens("sha-1")).toBe("unauthenticated");
    const alice = await purse("alice");
    expect(await ledger.addToken("alice", "tok_1", "sha-1", "a name, with é")).toEqual({
      ...{ kind: "added", made_at_ms: redis.now_ms },
    });
    expect(await field("token:sha-1")).toBe("alice");
    expect(await field("tokens:alice")).toBe(`1\ntok_1 sha-1 ${redis.now_ms} a name, with é`);
    const listed = { token_id: "tok_1", name: "a name, with é", made_at_ms: redis.now_ms };
    expect(readTokens(await field("tokens:alice"))).toEqual([listed]);
    expect(await purse("alice")).toEqual(alice);
    const detail = { change: "added", token_id: "tok_1", sha256: "sha-1", note: {} };
    expect(await last()).toEqual(await entry({ ...told, detail }));
    expect(await opens("sha-1")).toBe("reserved");
  });

  test("named: a name stands for one token of a sub-account; another's may be called so, too", async () => {
    await open(0, { alice: {}, bob: {} });
    await ledger.addToken("alice", "tok_1", "sha-1", "ci");
    await changesNothing(() => ledger.addToken("alice", "tok_2", "sha-2", "ci"), { kind: "named" });
    expect(await ledger.addToken("bob", "tok_2", "sha-2", "ci")).toMatchObject({ kind: "added" });
    expect(await ledger.addToken("alice", "tok_3", "sha-3", "CI")).toMatchObject({ kind: "added" });
  });

  test("full: the hundredth is the last, until one is revoked", async () => {
    await open(0);
    for (let i = 0; i < 100; i++) await ledger.addToken("alice", `tok_${i}`, `sha-${i}`);
    await changesNothing(() => ledger.addToken("alice", "tok_x", "sha-x"), { kind: "full", tokens: 100 });
    await ledger.revokeToken("alice", "tok_50");
    expect(await ledger.addToken("alice", "tok_x", "sha-x")).toMatchObject({ kind: "added" });
    for (const token of ["sha-0", "sha-99", "sha-x"]) expect(await opens(token)).toBe("reserved");
  });

  test("not_found and absent: no token for nobody", async () => {
    await changesNothing(() => ledger.addToken("alice", "tok_1", "sha-1"), { kind: "absent" });
    await open(0);
    await changesNothing(() => ledger.addToken("bob", "tok_1", "sha-1"), { kind: "not_found" });
  });
});

describe("revoke_token", () => {
  test("revoked: it opens nothing from that moment, and the others go on", async () => {
    await open(0);
    for (const n of [1, 2, 3]) await ledger.addToken("alice", `tok_${n}`, `sha-${n}`, `name ${n}`);
    expect(await ledger.revokeToken("alice", "tok_2")).toEqual({ kind: "revoked" });
    expect(await field("token:sha-2")).toBeNull();
    const [at, text] = [redis.now_ms, await field("tokens:alice")];
    expect(text).toBe(`1\ntok_1 sha-1 ${at} name 1\ntok_3 sha-3 ${at} name 3`);
    const detail = { change: "revoked", token_id: "tok_2", sha256: "sha-2", note: {} };
    expect(await last()).toEqual(await entry({ ...told, detail }));
    expect([await opens("sha-1"), await opens("sha-2"), await opens("sha-3")]).toEqual([
      ...["reserved", "unauthenticated", "reserved"],
    ]);
    expect(await ledger.addToken("alice", "tok_4", "sha-4", "name 2")).toMatchObject({ kind: "added" }); // the name is free
  });

  test("the last one: an empty list, and the sub-account is as before", async () => {
    await open(0, { alice: { funds: 5 } });
    await ledger.addToken("alice", "tok_1", "sha-1");
    await ledger.revokeToken("alice", "tok_1");
    expect(readTokens(await field("tokens:alice"))).toEqual([]);
    expect(await purse("alice")).toEqual({ available: 5, funded: 5 });
  });

  test("not_found: another's token, one revoked before, one of a sub-account that is not there", async () => {
    await changesNothing(() => ledger.revokeToken("alice", "tok_1"), { kind: "absent" });
    await open(0, { alice: {}, bob: {} });
    await ledger.addToken("alice", "tok_1", "sha-1");
    await ledger.addToken("bob", "tok_2", "sha-2");
    await changesNothing(() => ledger.revokeToken("alice", "tok_2"), { kind: "not_found" });
    await changesNothing(() => ledger.revokeToken("ghost", "tok_1"), { kind: "not_found" });
    await ledger.revokeToken("alice", "tok_1");
    await changesNothing(() => ledger.revokeToken("alice", "tok_1"), { kind: "not_found" });
    expect(await opens("sha-2", "bob")).toBe("reserved");
  });
});

test("the caller's note, in which the Worker puts the name, is in the entry as it came: a rebuild has all of a token", async () => {
  await open(0);
  const { tenant, tenant_key, journal_key } = ledger;
  const note = '{"name":"a \\"name\\" é","request_id":"r"}';
  const args = { tenant, sub_account: "alice", token_id: "tok_1", sha256: "sha-1", name: 'a "name" é', note };
  expect(await run(redis.store(), addToken, { tenant_key, journal_key }, args)).toMatchObject({
    kind: "added",
  });
  const detail = {
    change: "added",
    token_id: "tok_1",
    sha256: "sha-1",
    note: { name: 'a "name" é', request_id: "r" },
  };
  expect(await last()).toMatchObject({ detail, at: String(redis.now_ms) });
});

checkAfterEach(redis);
