// In the model: who may open a hold, or let it grow.
import type { Calls } from "./calls.ts";
import {
  type Hold,
  type Ledger,
  most,
  NOTHING,
  type Parts,
  plus,
  type Sub,
  sum,
  type Tenant,
  total,
} from "./model.ts";
import { fundsOf, type Outcome, type Reply } from "./outcome.ts";

const configOf = ({ config }: Tenant | Sub) => JSON.parse(config);
export const closed = ({ state, charged }: Hold) => ({ kind: "closed", state, charged: Number(charged) });

/** Why a sub-account draws nothing now, whatever there is. */
function notNow(ledger: Ledger, sub: Sub, requested: number): Reply | undefined {
  if (configOf(sub.tenant).status === "frozen") return { kind: "frozen", what: "tenant" };
  if (configOf(sub).status === "frozen") return { kind: "frozen", what: "sub_account" };
  if (ledger.amounts(sub).debt > 0n) return { kind: "exhausted", scope: "debt", requested, available: 0 };
  return undefined;
}

/** What it gets, or the refusal that says what there was. */
function fund(ledger: Ledger, sub: Sub, amount: bigint): Parts | Reply {
  const { borrow_cap } = configOf(sub);
  const cap = borrow_cap === undefined ? undefined : BigInt(borrow_cap);
  const { drawn, missing } = ledger.draw(sub, amount, cap);
  if (missing === 0n) return drawn;
  const scope = ledger.amounts(sub.account).available > drawn.account ? "sub_account" : "account";
  return { kind: "exhausted", scope, requested: Number(amount), available: Number(total(drawn)) };
}

const POOLS: Record<string, Reply | undefined> = {
  "openai:gone": { kind: "no_pool" },
  "openai:shut": { kind: "breaker_open", due_in_ms: 0 },
};

function fundOrRefuse(ledger: Ledger, tenant: Tenant, call: Calls["reserve"], amount: bigint): Parts | Reply {
  const sub = tenant.subs.get(call.sub);
  const known = sub?.tokens?.some(({ sha256 }) => sha256 === call.token);
  if (call.token !== "" && !known) return { kind: "unauthenticated" };
  if (!sub) return { kind: "not_found" };
  const refusal = notNow(ledger, sub, Number(amount));
  if (refusal) return refusal;
  const { max_concurrent } = configOf(sub);
  const open = ledger.open(sub).length;
  if (max_concurrent !== undefined && open >= max_concurrent)
    return { kind: "concurrency_limited", max_concurrent };
  return POOLS[call.home] ?? fund(ledger, sub, amount);
}

function reserved(ledger: Ledger, hold: Hold, replayed: boolean): Reply {
  return {
    kind: "reserved",
    amount: Number(hold.amount),
    funding: fundsOf(hold.funding),
    sub_available: Number(ledger.amounts(hold.sub).available),
    account_available: Number(ledger.amounts(hold.sub.account).available),
    expires_at_ms: hold.expires_at_ms,
    replayed,
  };
}

export function reserve(ledger: Ledger, call: Calls["reserve"]): Outcome {
  const tenant = ledger.tenant(call.tenant);
  const key = ledger.keyOf(call.tenant, call.hold);
  const before = ledger.records.get(key);
  if (before && before.print !== call.print) return { reply: { kind: "conflict" } };
  if (before) return { reply: before.state === "open" ? reserved(ledger, before, true) : closed(before) };
  if (!tenant.config) return { reply: { kind: "absent" } };
  const amount = sum(call.items.map((item) => BigInt(item.amount)));
  const funding = fundOrRefuse(ledger, tenant, call, amount);
  const sub = tenant.subs.get(call.sub);
  if ("kind" in funding || !sub) {
    tenant.refused++;
    return { reply: funding as Reply };
  }
  const { hold: id, print, items, home, metadata } = call;
  const said = { id, print, items, home, metadata, amount };
  const times = { opened_at_ms: ledger.now_ms, expires_at_ms: ledger.now_ms + call.ttl_ms, kept_until_ms: 0 };
  const nothing = { accrued: 0n, paid: NOTHING, returned: NOTHING, charged: 0n, debt: 0n, owed: 0n };
  const hold: Hold = {
    ...said,
    ...times,
    ...nothing,
    sub,
    state: "open",
    funding,
    end_print: "-",
    refunds: [],
  };
  ledger.holds.push(hold);
  ledger.records.set(key, hold);
  tenant.reserved++;
  return { reply: reserved(ledger, hold, false) };
}

/** The hold that a verb names while its sub-account is there, or the refusal. */
export function find(ledger: Ledger, call: { tenant: string; hold: string }): Hold | Reply {
  const tenant = ledger.tenant(call.tenant);
  const hold = ledger.records.get(ledger.keyOf(call.tenant, call.hold));
  if (!hold) return { kind: tenant.config ? "not_found" : "absent" };
  return tenant.subs.get(hold.sub.name) === hold.sub ? hold : { kind: "not_found" };
}

export function extend(ledger: Ledger, call: Calls["extend"]): Outcome {
  const hold = find(ledger, call);
  if ("kind" in hold) return { reply: hold };
  if (hold.state !== "open") return { reply: closed(hold) };
  const more = most(0n, BigInt(call.amount) - hold.amount);
  const drawn =
    more === 0n ? NOTHING : (notNow(ledger, hold.sub, Number(more)) ?? fund(ledger, hold.sub, more));
  if ("kind" in drawn) {
    hold.sub.tenant.refused++;
    return { reply: drawn };
  }
  hold.funding = plus(hold.funding, drawn);
  hold.amount += more;
  hold.accrued = most(hold.accrued, BigInt(call.accrued));
  hold.expires_at_ms = Math.max(hold.expires_at_ms, ledger.now_ms + call.ttl_ms);
  const { amount, accrued, expires_at_ms } = hold;
  const funding = fundsOf(hold.funding);
  return {
    reply: { kind: "extended", amount: Number(amount), funding, accrued: Number(accrued), expires_at_ms },
  };
}
