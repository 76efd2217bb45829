// In the model: the operators' verbs, on tenants, sub-accounts, their tokens, and what is in their purses.
import type { Calls } from "./calls.ts";
import { type Ledger, MAX, most, type Sub, type Tenant } from "./model.ts";
import type { Outcome } from "./outcome.ts";

const OP_KEEP_MS = 24 * 3_600_000;

const is = (kind: string): Outcome => ({ reply: { kind } });
const byAdmin = (tenant: Tenant, kind: string, detail: object) => ({ tenant, kind, actor: "admin", detail });

/** What a compare-and-set answers before it writes; undefined when it may. */
function compared(now: string, before: string, config: string, missing: string) {
  if (now === config) return "unchanged";
  if (now === "") return before === "" ? undefined : missing;
  if (before === "") return "exists";
  return before === now ? undefined : "stale";
}

export function put(ledger: Ledger, call: Calls["put"]): Outcome {
  const tenant = ledger.tenant(call.tenant);
  const config = JSON.stringify(call.config);
  const refusal = compared(tenant.config, call.before, config, "absent");
  if (refusal) return is(refusal);
  const change = tenant.config ? "updated" : "created";
  tenant.config = config;
  if (change === "created") tenant.account = { made: tenant.seq + 1, funded: 0n };
  const detail = { change, tenant: tenant.name, config: call.config, note: {} };
  return { ...is(change), entry: byAdmin(tenant, call.kind, detail) };
}

export function putSub(ledger: Ledger, call: Calls["putSub"]): Outcome {
  const tenant = ledger.tenant(call.tenant);
  const config = JSON.stringify(call.terms);
  if (!tenant.config) return is("absent");
  const known = tenant.subs.get(call.sub);
  const refusal = compared(known?.config ?? "", call.before, config, "not_found");
  if (refusal) return is(refusal);
  const { account } = tenant;
  if (known) known.config = config;
  else
    tenant.subs.set(call.sub, { tenant, name: call.sub, account, config, made: tenant.seq + 1, funded: 0n });
  const change = known ? "updated" : "created";
  const entry = byAdmin(tenant, call.kind, { change, config: JSON.parse(config), note: {} });
  return { ...is(change), entry: { ...entry, sub_account: call.sub } };
}

export function remove(ledger: Ledger, call: Calls["remove"]): Outcome {
  const tenant = ledger.tenant(call.tenant);
  if (!tenant.config) return is("absent");
  const open = ledger.open(tenant).length;
  if (open > 0) return { reply: { kind: "held", open } };
  const subs = tenant.subs.size;
  tenant.subs.clear();
  tenant.config = "";
  const detail = { change: "removed", tenant: tenant.name, note: {} };
  return { reply: { kind: "removed", subs }, entry: byAdmin(tenant, "config", detail) };
}

/** The sub-account, or the refusal. */
function find(ledger: Ledger, call: { tenant: string; sub: string }): Sub | Outcome {
  const tenant = ledger.tenant(call.tenant);
  return tenant.subs.get(call.sub) ?? is(tenant.config ? "not_found" : "absent");
}

export function removeSub(ledger: Ledger, call: Calls["removeSub"]): Outcome {
  const sub = find(ledger, call);
  if ("reply" in sub) return sub;
  const open = ledger.open(sub).length;
  if (open > 0) return { reply: { kind: "held", open } };
  const { tenant, name: sub_account } = sub;
  tenant.subs.delete(sub_account);
  const available = Number(ledger.amounts(sub).available);
  const entry = byAdmin(tenant, "config", { change: "removed", note: {} });
  return { reply: { kind: "removed", available }, entry: { ...entry, sub_account } };
}

export function addToken(ledger: Ledger, call: Calls["addToken"]): Outcome {
  const sub = find(ledger, call);
  if ("reply" in sub) return sub;
  const { id, sha256, name } = call;
  if (sub.tokens?.some((token) => token.name === name)) return is("named");
  const made_at_ms = ledger.now_ms;
  sub.tokens = [...(sub.tokens ?? []), { id, sha256, name, made_at_ms }];
  const entry = byAdmin(sub.tenant, "token", { change: "added", token_id: id, sha256, note: {} });
  return { reply: { kind: "added", made_at_ms }, entry: { ...entry, sub_account: sub.name } };
}

export function revokeToken(ledger: Ledger, call: Calls["revokeToken"]): Outcome {
  const sub = find(ledger, call);
  if ("reply" in sub) return sub;
  const token = sub.tokens?.find(({ id }) => id === call.id);
  if (!token) return is("not_found");
  sub.tokens = sub.tokens?.filter((other) => other !== token) ?? [];
  const detail = { change: "revoked", token_id: token.id, sha256: token.sha256, note: {} };
  return { ...is("revoked"), entry: { ...byAdmin(sub.tenant, "token", detail), sub_account: sub.name } };
}

export function adjust(ledger: Ledger, call: Calls["adjust"]): Outcome {
  const key = ledger.keyOf(call.tenant, call.op_id);
  const earlier = ledger.ops.get(key);
  if (earlier && earlier.print !== call.print) return is("conflict");
  if (earlier) return { reply: { kind: "adjusted", ...earlier.answer, replayed: true } };
  const tenant = ledger.tenant(call.tenant);
  if (!tenant.config) return is("absent");
  const purse = call.sub === "" ? tenant.account : tenant.subs.get(call.sub);
  if (!purse) return is("not_found");
  const amount = BigInt(call.amount);
  const { available, debt } = ledger.amounts(purse);
  if (call.how === "deduct" && available < amount)
    return { reply: { kind: "insufficient", available: Number(available) } };
  // What is set is what there is afterwards, so that it pays a debt besides.
  const zero = debt - available;
  const by = { grant: amount, deduct: -amount, set: zero + amount, zero }[call.how];
  if (purse.funded + by + most(0n, debt - by) > MAX) return is("unsafe");
  purse.funded += by;
  const after = ledger.amounts(purse);
  const answer = { by: Number(by), available: Number(after.available), debt: Number(after.debt) };
  const reply = { kind: "adjusted", ...answer, replayed: false };
  ledger.ops.set(key, { print: call.print, answer, kept_until_ms: ledger.now_ms + OP_KEEP_MS });
  const entry = byAdmin(tenant, "adjust", { kind: call.how, note: {} });
  return { reply, entry: { ...entry, sub_account: call.sub, op: call.op_id, amount: by } };
}
