// The ledger over HTTP: a short call per verb, with defaults for what a test does not care about.
import { INTERNAL_KEY, type More, type useWorker } from "./worker.ts";

/** The ledger as callers use it: tenant `acme` with sub-account `alice`. */
export function ledgerVerbsOf({
  internal,
  admin,
  call,
}: Pick<ReturnType<typeof useWorker>, "internal" | "admin" | "call">) {
  let ops = 0;
  const verbs = {
    tenant: (tenant = "acme", more: More = {}) => admin("POST", "/tenants", { tenant, ...more }),
    sub: (sub_account = "alice", more: More = {}, tenant = "acme") =>
      admin("POST", `/tenants/${tenant}/sub-accounts`, { sub_account, ...more }),
    adjust: (purse: unknown, kind: string, amount?: number, op_id = `op-${++ops}`, tenant = "acme") =>
      admin(
        "POST",
        `/tenants/${tenant}/adjust`,
        { purse, kind, reason: "test", ...(amount === undefined ? {} : { amount }) },
        { "idempotency-key": op_id },
      ),
    /** A tenant with a sub-account, and so much in the account. */
    open: async (amount: number, more: More = {}) => {
      await verbs.tenant();
      await verbs.sub("alice", more);
      if (amount > 0) await verbs.adjust("account", "grant", amount);
    },
    reserve: (hold_id: string, amount?: number, more: More = {}) =>
      internal("/holds", {
        hold_id,
        tenant: "acme",
        sub_account: "alice",
        ...(amount === undefined ? {} : { amount }),
        ...more,
      }),
    end: (hold_id: string, verb: "settle" | "void" | "extend", more: More = {}) =>
      internal(`/holds/${hold_id}/${verb}`, { tenant: "acme", ...more }),
    refund: (hold_id: string, op_id: string, amount: number, more: More = {}) =>
      internal("/refunds", { op_id, tenant: "acme", hold_id, amount, ...more }),
    hold: (hold_id: string, tenant = "acme") =>
      call("GET", `/api/internal/holds/${hold_id}?tenant=${tenant}`, { "x-internal-key": INTERNAL_KEY }),
    balances: (tenant = "acme", query = "") =>
      call("GET", `/api/internal/tenants/${tenant}/balances${query}`, { "x-internal-key": INTERNAL_KEY }),
  };
  return verbs;
}
