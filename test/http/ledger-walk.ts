// The routes of the ledger and the catalog, each as it succeeds, for the test of the API's description.
import { ledgerVerbsOf } from "../support/ledger-http.ts";
import { type Answer, credential, type useWorker } from "../support/worker.ts";

const TENANTS = "/api/admin/tenants";
export const ACME = `${TENANTS}/{tenant}`;
const SUBS = `${ACME}/sub-accounts`;
const ALICE = `${SUBS}/{sub_account}`;
const CALLS = "/api/internal/calls";
const ADMIT = {
  call_id: "k1",
  provider: "openai",
  model: "gpt-4o",
  tenant: "acme",
  sub_account: "alice",
  amount: 3,
};
const OF_CALL = { tenant: "acme", provider: "openai", pool: "default", key_id: "call_01" };
const PRICES = "/api/admin/prices";
const PRICE = {
  provider: "openai",
  model: "m",
  input: 1,
  cached_input: 1,
  output: 1,
  per_request: 0,
  cost_input: 1,
};
const MODELS = "/api/admin/models";
export const HOLDS = "/api/internal/holds";
const ALICES = "/tenants/acme/sub-accounts/alice";
/** In an order in which each succeeds. */
export function ledgerWalk(worker: ReturnType<typeof useWorker>): Record<string, () => Promise<Answer>> {
  const { admin } = worker;
  const { reserve, end, refund, adjust, hold, balances } = ledgerVerbsOf(worker);
  return {
    [`post ${TENANTS}`]: () => admin("POST", "/tenants", { tenant: "acme" }),
    [`get ${TENANTS}`]: () => admin("GET", "/tenants"),
    [`get ${ACME}`]: () => admin("GET", "/tenants/acme"),
    [`patch ${ACME}`]: () => admin("PATCH", "/tenants/acme", { status: "active" }),
    [`post ${SUBS}`]: () => admin("POST", "/tenants/acme/sub-accounts", { sub_account: "alice" }),
    [`get ${SUBS}`]: () => admin("GET", "/tenants/acme/sub-accounts"),
    [`get ${ALICE}`]: () => admin("GET", ALICES),
    [`patch ${ALICE}`]: () => admin("PATCH", ALICES, { borrow_cap: 500 }),
    [`post ${ALICE}/tokens`]: () => admin("POST", `${ALICES}/tokens`, { name: "laptop" }),
    [`get ${ALICE}/tokens`]: () => admin("GET", `${ALICES}/tokens`),
    [`delete ${ALICE}/tokens/{token_id}`]: async () => {
      const { body } = await admin("GET", `${ALICES}/tokens`);
      return admin("DELETE", `${ALICES}/tokens/${body.tokens[0].token_id}`);
    },
    [`post ${ACME}/adjust`]: () => adjust("account", "grant", 1000),
    [`post ${HOLDS}`]: () => reserve("h1", 100, { metadata: { order: 7 } }),
    [`post ${HOLDS}/{hold_id}/extend`]: () =>
      end("h1", "extend", { ttl_seconds: 9, amount: 200, accrued: 3 }),
    [`post ${HOLDS}/{hold_id}/settle`]: () =>
      end("h1", "settle", { amount: 150, usage: { input_tokens: 3 } }),
    [`post ${HOLDS}/{hold_id}/void`]: async () => {
      await reserve("h2", 100);
      return end("h2", "void");
    },
    [`post ${CALLS}/admit`]: async () => {
      await admin("POST", "/credentials", credential("call_01"));
      return worker.internal("/calls/admit", ADMIT);
    },
    [`post ${CALLS}/{call_id}/renew`]: () =>
      worker.internal("/calls/k1/renew", { ...OF_CALL, lease_seconds: 60, accrued: 1 }),
    [`post ${CALLS}/{call_id}/finish`]: () => worker.internal("/calls/k1/finish", { ...OF_CALL, amount: 2 }),
    "post /api/internal/refunds": () => refund("h1", "r1", 50),
    [`get ${HOLDS}/{hold_id}`]: () => hold("h1"),
    "get /api/internal/tenants/{tenant}/balances": () => balances(),
    "get /api/admin/journal": () => admin("GET", "/journal?tenant=acme&limit=3"),
    [`post ${PRICES}`]: () => admin("POST", "/prices", PRICE),
    [`get ${PRICES}`]: () => admin("GET", "/prices"),
    [`post ${PRICES}/import`]: () => admin("POST", "/prices/import", { none: {} }),
    [`put ${MODELS}/{model}`]: () => admin("PUT", "/models/m", { routes: [{ provider: "openai" }] }),
    [`get ${MODELS}`]: () => admin("GET", "/models"),
    [`delete ${MODELS}/{model}`]: () => admin("DELETE", "/models/m"),
    [`delete ${PRICES}`]: () => admin("DELETE", "/prices?provider=openai&model=m"),
    [`delete ${ALICE}`]: () => admin("DELETE", ALICES),
    [`delete ${ACME}`]: () => admin("DELETE", "/tenants/acme"),
  };
}
