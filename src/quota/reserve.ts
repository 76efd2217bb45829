// One request for a hold: the script, and once more when overdue holds kept what it wants.
import type { Deps } from "../deps.ts";
import { fingerprintOf } from "../ids.ts";
import { homeOf } from "../keys.ts";
import { reserve } from "../scripts/quota/reserve.ts";
import { run } from "../scripts/run.ts";
import { expireOverdue } from "./overdue.ts";
import { type HoldBody, itemsOf } from "./schema.ts";

/** Refusals that an overdue hold may be the cause of. */
const WANT = new Set(["exhausted", "concurrency_limited"]);

/** Asks, and after a refusal for want of funds or concurrency looks for overdue holds and asks once more. */
export async function askedTwice<R extends { kind: string }>(
  deps: Deps,
  { tenant, hold_id }: { readonly tenant: string; readonly hold_id: string },
  ask: () => Promise<R>,
) {
  const reply = await ask();
  return WANT.has(reply.kind) && (await expireOverdue(deps, tenant, hold_id)) ? ask() : reply;
}

/** Opens a hold. `metadata` is JSON text as it came, or empty. Throws StoreUnavailable. */
export function reserveHold(deps: Deps, asked: HoldBody, metadata: string) {
  const { tenant, sub_account, hold_id, provider, pool = "default", ttl_seconds } = asked;
  const items = itemsOf(asked);
  const home = provider ? homeOf(provider, pool) : "-";
  const { tenant_key, due_key } = deps.keys.tenant(tenant);
  const pool_key = provider ? deps.keys.pool(provider, pool).pool_key : tenant_key;
  const keys = { tenant_key, due_key, pool_key, hold_key: deps.keys.hold(tenant, hold_id) };
  const args = {
    tenant,
    sub_account,
    hold_id,
    fingerprint: fingerprintOf([sub_account, JSON.stringify(items), String(ttl_seconds), home, metadata]),
    token: "",
    ttl_ms: ttl_seconds * 1000,
    home,
    items,
    metadata,
  } as const;
  return askedTwice(deps, asked, () => run(deps.store, reserve, keys, args));
}
