// Ids that look like numbers and words of JSON: a charge that lands at another's, or nowhere, if these failed.
import { expect, test } from "vitest";
import { useBooks } from "../support/books.ts";
import { entriesOf } from "../support/ledger.ts";
import { PATIENT } from "../support/ledger-routes.ts";
import { aWhileAgo, sweep } from "../support/overdue.ts";
import { keys } from "../support/redis.ts";
import { INTERNAL_KEY, useWorker } from "../support/worker.ts";

const worker = useWorker(PATIENT);
const { redis, admin, internal, call } = worker;
useBooks(redis);

const WORDS = ["1e5", "123", "007", "12345678901234567890", "true", "null", "0.5"];

/** A word as tenant, sub-account, hold, op and model. */
function verbsOf(word: string) {
  const tenant = word;
  const account = `/tenants/${word}`;
  return {
    make: async () => [
      await admin("POST", "/tenants", { tenant }),
      await admin("POST", `${account}/sub-accounts`, { sub_account: word }),
    ],
    grant: (purse: unknown, op_id: string) =>
      admin(
        "POST",
        `${account}/adjust`,
        { purse, kind: "grant", amount: 100, reason: word, ref: word },
        { "idempotency-key": op_id },
      ),
    reserve: (hold_id = word, more: object = {}) =>
      internal("/holds", { hold_id, tenant, sub_account: word, amount: 50, model: word, ...more }),
    end: (verb: string, more: object) => internal(`/holds/${word}/${verb}`, { tenant, ...more }),
    refund: () => internal("/refunds", { op_id: word, tenant, hold_id: word, amount: 5, reason: word }),
    hold: (hold_id = word) =>
      call("GET", `/api/internal/holds/${hold_id}?tenant=${word}`, { "x-internal-key": INTERNAL_KEY }),
    balances: () => call("GET", `/api/internal/tenants/${word}/balances`, { "x-internal-key": INTERNAL_KEY }),
  };
}

test.each(WORDS)("case D37: %s stays that text on every path, and finds what it names", async (word) => {
  await aWhileAgo(worker);
  const { make, grant, reserve, end, refund, hold, balances } = verbsOf(word);
  const [one, two] = await make();
  expect([one?.status, one?.body.tenant, two?.status, two?.body.sub_account]).toEqual([201, word, 201, word]);
  expect((await grant("account", word)).body).toMatchObject({ op_id: word, tenant: word, purse: "account" });
  const purse = { sub_account: word };
  expect((await grant(purse, `${word}.2`)).body).toMatchObject({ purse, available: 100 });
  const opened = await reserve();
  expect([opened.status, opened.body.hold_id]).toEqual([201, word]);
  expect((await reserve()).body.replayed).toBe(true);
  expect((await end("extend", { ttl_seconds: 200, accrued: 3 })).body.hold_id).toBe(word);
  const said = { hold_id: word, tenant: word, sub_account: word };
  expect((await hold()).body).toMatchObject({ ...said, items: [{ model: word, amount: 50 }] });
  expect((await end("settle", { amount: 40, items: [{ model: word, amount: 40 }] })).body.charged).toBe(40);
  const refunded = await refund();
  expect(refunded.body).toMatchObject({ op_id: word, hold_id: word, refundable: 35 });
  expect((await refund()).body.replayed).toBe(true);
  await reserve(`${word}-old`, { ttl_seconds: 1 });
  await redis.later(1_000);
  expect(await sweep(worker)).toMatchObject({ holds_expired: 1 });
  expect((await hold(`${word}-old`)).body.state).toBe("expired");
  expect((await balances()).body.sub_accounts).toEqual([
    { ...purse, available: 65, held: 0, spent: 35, lapsed: 0, debt: 0 },
  ]);
  const token = await admin("POST", `/tenants/${word}/sub-accounts/${word}/tokens`, { name: word });
  expect([token.body.name, token.body.token.startsWith(`qm_${word}~${word}~`)]).toEqual([word, true]);
  const entries = entriesOf(await redis.raw.xrange(keys.tenant(word).journal_key, "-", "+"));
  const settled = entries.find(({ kind }) => kind === "settle");
  expect(settled).toMatchObject({ aggregate: `tenant:${word}`, sub_account: word, hold: word, amount: "40" });
  expect(entries.find(({ kind }) => kind === "refund")?.op).toBe(word);
  expect(
    (await admin("GET", "/tenants")).body.tenants.map((each: { tenant: string }) => each.tenant),
  ).toEqual([word]);
  expect((await admin("DELETE", `/tenants/${word}/sub-accounts/${word}`)).body.available).toBe(65);
  expect((await admin("DELETE", `/tenants/${word}`)).body.removed).toBe(true);
});

test("case D37: those that are one number are different tenants, sub-accounts and holds", async () => {
  const twins = ["1e5", "100000", "100000.0", "1E5"];
  for (const word of twins) await verbsOf(word).make();
  for (const [i, word] of twins.entries()) {
    await verbsOf(word).grant("account", "op");
    expect((await verbsOf(word).reserve("h1", { amount: i + 1 })).status).toBe(201);
  }
  for (const [i, word] of twins.entries())
    expect((await verbsOf(word).hold("h1")).body).toMatchObject({ tenant: word, amount: i + 1 });
  for (const word of twins.slice(1))
    expect((await admin("POST", "/tenants/1e5/sub-accounts", { sub_account: word })).status).toBe(201);
  const { body } = await verbsOf("1e5").balances();
  expect(body.sub_accounts.length).toBe(twins.length);
});
