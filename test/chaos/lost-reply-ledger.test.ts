// The ledger does what it is asked and the answer is lost: money that moves twice, or never, if these failed.
import { describe, expect, test } from "vitest";
import { adjust as adjustScript } from "../../src/scripts/quota/adjust.ts";
import { extend } from "../../src/scripts/quota/extend.ts";
import { refund as refundScript } from "../../src/scripts/quota/refund.ts";
import { reserve as reserveScript } from "../../src/scripts/quota/reserve.ts";
import { settle } from "../../src/scripts/quota/settle.ts";
import { voidHold } from "../../src/scripts/quota/void.ts";
import { addToken } from "../../src/scripts/tenant/add_token.ts";
import { putTenant } from "../../src/scripts/tenant/put.ts";
import { putSubAccount } from "../../src/scripts/tenant/put_sub.ts";
import { removeTenant } from "../../src/scripts/tenant/remove.ts";
import { removeSubAccount } from "../../src/scripts/tenant/remove_sub.ts";
import { revokeToken } from "../../src/scripts/tenant/revoke_token.ts";
import { useBooks } from "../support/books.ts";
import { ledgerVerbsOf } from "../support/ledger-http.ts";
import { PATIENT } from "../support/ledger-routes.ts";
import { keys } from "../support/redis.ts";
import { type Answer, many, useWorker } from "../support/worker.ts";

const worker = useWorker(PATIENT);
const { redis, admin } = worker;
const { tenant, sub, adjust, open, reserve, end, refund, hold, balances } = ledgerVerbsOf(worker);
useBooks(redis);

const TOKENS = "/tenants/acme/sub-accounts/alice/tokens";
const account = async () => (await balances()).body.account;
/** How many entries the journal has of a kind. */
const entries = async (kind: string) =>
  (await redis.raw.xrange(keys.tenant("acme").journal_key, "-", "+")).filter(
    ([, fields]) => fields[1] === kind,
  ).length;

interface Text {
  readonly text: { readonly upstash: { readonly sha: string; readonly source: string } };
}

/** Asks once with the reply lost after the script has run: sent as a hash that is known, or as a text after a flush. */
async function lose(command: "EVALSHA" | "EVAL", { text: { upstash } }: Text, ask: () => Promise<Answer>) {
  const { url, token } = redis.double;
  const load = command === "EVAL" ? ["SCRIPT", "FLUSH"] : ["SCRIPT", "LOAD", upstash.source];
  const headers = { authorization: `Bearer ${token}` };
  await fetch(url, { method: "POST", headers, body: JSON.stringify(load) });
  const named = command === "EVAL" ? upstash.source : upstash.sha;
  redis.double.fault({
    kind: "drop_after",
    match: ([name = "", what]) => name.toUpperCase() === command && what === named,
  });
  const { status, body } = await ask();
  expect([status, body.code, body.maybe_applied]).toEqual([503, "store_unavailable", true]);
}

/** The answer of a repeat, apart from that it is one. */
const same = ({ status, body: { replayed: _, ...body } }: Answer) => [status, body];

describe.each(["EVALSHA", "EVAL"] as const)(
  "case D38: the reply of %s is lost, and the caller repeats",
  (command) => {
    test("reserve: one hold, and the repeat is its answer", async () => {
      await open(100);
      await lose(command, reserveScript, () => reserve("h1", 60));
      const again = await reserve("h1", 60);
      expect([again.status, again.body]).toMatchObject([200, { amount: 60, state: "open", replayed: true }]);
      expect(await account()).toMatchObject({ available: 40, held: 60 });
    });

    test("settle: charged once, with more than was held, too", async () => {
      await open(100);
      for (const [id, amount] of [
        ["h1", 20],
        ["h2", 90],
      ] as const) {
        await reserve(id, 30);
        await lose(command, settle, () => end(id, "settle", { amount }));
        const [one, two] = [await end(id, "settle", { amount }), await end(id, "settle", { amount })];
        expect([one.status, one.body.charged, one.body.replayed]).toEqual([200, amount, true]);
        expect(same(two)).toEqual(same(one));
      }
      expect(await account()).toMatchObject({ available: 0, held: 0, spent: 100 });
      expect([(await hold("h2")).body.debt, await entries("settle")]).toEqual([10, 2]);
    });

    test("void: given back once", async () => {
      await open(100);
      await reserve("h1", 60);
      await lose(command, voidHold, () => end("h1", "void"));
      const says = { state: "voided", returned: [{ source: "account", amount: 60 }], replayed: true };
      expect((await end("h1", "void")).body).toMatchObject(says);
      expect(await account()).toMatchObject({ available: 100, held: 0 });
      expect(await entries("void")).toBe(1);
    });

    test("extend: it grew once, and the repeat says the same", async () => {
      await open(100);
      await reserve("h1", 10);
      const ask = () => end("h1", "extend", { ttl_seconds: 600, amount: 70, accrued: 5 });
      await lose(command, extend, ask);
      const [one, two] = [await ask(), await ask()];
      expect([one.status, one.body.amount, one.body.accrued]).toEqual([200, 70, 5]);
      expect(two.body).toEqual(one.body);
      expect(await account()).toMatchObject({ available: 30, held: 70 });
    });

    test("refund: given back once", async () => {
      await open(100);
      await reserve("h1", 50);
      await end("h1", "settle", { amount: 50 });
      await lose(command, refundScript, () => refund("h1", "r1", 20));
      expect((await refund("h1", "r1", 20)).body).toMatchObject({ refundable: 30, replayed: true });
      expect([await account(), await entries("refund")]).toMatchObject([{ available: 70, spent: 30 }, 1]);
    });

    test("adjust: each kind of it once", async () => {
      await open(0);
      for (const [kind, amount, available] of [
        ["grant", 100, 100],
        ["deduct", 30, 70],
        ["set", 5, 5],
        ["zero", undefined, 0],
      ] as const) {
        await lose(command, adjustScript, () => adjust("account", kind, amount, kind));
        const again = await adjust("account", kind, amount, kind);
        expect([again.status, again.body.available, again.body.replayed]).toEqual([200, available, true]);
      }
      expect(await entries("adjust")).toBe(4);
    });

    test("a tenant: made, changed and removed once", async () => {
      await lose(command, putTenant, () => tenant());
      expect((await tenant()).status).toBe(200);
      const freeze = () => admin("PATCH", "/tenants/acme", { status: "frozen" });
      await lose(command, putTenant, freeze);
      expect((await freeze()).body.status).toBe("frozen");
      expect([await entries("config"), await entries("status")]).toEqual([1, 1]);
      await lose(command, removeTenant, () => admin("DELETE", "/tenants/acme"));
      expect((await admin("DELETE", "/tenants/acme")).body.code).toBe("not_found");
      expect(await entries("config")).toBe(2);
    });

    test("a sub-account: made, changed and removed once", async () => {
      await tenant();
      await lose(command, putSubAccount, () => sub());
      expect((await sub()).status).toBe(200);
      const cap = () => admin("PATCH", "/tenants/acme/sub-accounts/alice", { borrow_cap: 5 });
      await lose(command, putSubAccount, cap);
      expect((await cap()).body.borrow_cap).toBe(5);
      const drop = () => admin("DELETE", "/tenants/acme/sub-accounts/alice");
      await lose(command, removeSubAccount, drop);
      expect((await drop()).body.code).toBe("not_found");
      expect((await admin("GET", "/tenants/acme")).body.sub_accounts).toBe(0);
      expect(await entries("config")).toBe(4); // with the tenant's own
    });

    test("a token: there is one, and its name is said to be taken, since nobody knows it; revoked once", async () => {
      await open(0);
      const add = () => admin("POST", TOKENS, { name: "laptop" });
      await lose(command, addToken, add);
      const again = await add();
      expect([again.status, again.body.code, again.body.token]).toEqual([409, "policy_conflict", undefined]);
      const { tokens } = (await admin("GET", TOKENS)).body;
      expect(tokens.length).toBe(1);
      const revoke = () => admin("DELETE", `${TOKENS}/${tokens[0].token_id}`);
      await lose(command, revokeToken, revoke);
      expect((await revoke()).body.code).toBe("not_found");
      expect((await add()).status).toBe(201);
      expect(await entries("token")).toBe(3);
    });
  },
);

test("case D39: scripts forgotten before each request: 20 at once are each applied once", async () => {
  await open(1000);
  redis.double.fault({ kind: "script_flush", times: 1e6 });
  const opened = await many(20, (i) => reserve(`h${i}`, 10));
  expect(new Set(opened.map(({ status }) => status))).toEqual(new Set([201]));
  const ends = await many(20, (i) => (i % 2 ? end(`h${i}`, "void") : end(`h${i}`, "settle", { amount: 4 })));
  expect(new Set(ends.map(({ status }) => status))).toEqual(new Set([200]));
  const refunds = await many(20, (i) => refund(`h${i}`, "r1", 1));
  expect(refunds.filter(({ status }) => status === 200).length).toBe(10);
  expect(await account()).toEqual({ available: 970, held: 0, spent: 30, lapsed: 0 });
});
