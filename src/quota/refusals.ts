// What every route of a hold answers when it is refused.
import type { Context } from "hono";
import type { App } from "../deps.ts";
import { fail } from "../errors.ts";
import { noTenant } from "../tenants/missing.ts";

const SCOPES = {
  debt: "the sub-account owes what it used before: a top-up pays that first",
  sub_account: "the sub-account's own funds and its borrow cap do not suffice",
  account: "the funds of the sub-account and of the account do not suffice",
} as const;

interface Exhausted {
  readonly scope: keyof typeof SCOPES;
  readonly requested: number;
  readonly available: number;
}

export const exhausted = (c: Context<App>, { scope, requested, available }: Exhausted) =>
  fail(c, "quota_exhausted", `${SCOPES[scope]}: ${requested} asked, ${available} available`, {
    scope,
    requested,
    available,
  });

export const frozen = (c: Context<App>, what: "tenant" | "sub_account") =>
  fail(c, "forbidden", `${what}: it is frozen`, {});

export const concurrency = (c: Context<App>, max_concurrent: number) =>
  fail(c, "concurrency_limited", `the sub-account has ${max_concurrent} open holds, as many as it may`, {
    max_concurrent,
  });

type HoldState = "open" | "settled" | "voided" | "expired";

export function closed(c: Context<App>, { state, charged }: { state: HoldState; charged: number }) {
  if (state === "open") throw new Error("an open hold is not closed");
  return fail(c, "hold_closed", `the hold is ${state}, ${charged} charged`, {
    reason: state,
    state,
    charged,
  });
}

export const noHold = (c: Context<App>) => fail(c, "not_found", "hold_id: the tenant has no such hold", {});

/** The sum of a purse must stay an exact integer. */
export function unsafe(c: Context<App>) {
  const message = "the purse would pass 2^53-1";
  return fail(c, "invalid_request", `amount: ${message}`, { errors: [{ field: "amount", message }] });
}

/** 404 for a hold that is not there; a database that is no cell knows of none, and that proves nothing. */
export async function unlessTenant(c: Context<App>, tenant: string) {
  const { store, keys } = c.var.deps;
  const [known] = await store.read((p) => p.hexists(keys.tenant(tenant).tenant_key, "config"));
  return known ? noHold(c) : noTenant(c);
}
