// Tenants and sub-accounts as they are now.
import { z } from "zod";
import { requireCell } from "../cell/meta.ts";
import type { Deps } from "../deps.ts";
import type { Read } from "../store.ts";
import { type SubView, subConfig, type TenantView, tenantConfig } from "./schema.ts";
import { readPurse, readTenantState } from "./state.ts";

const texts = z.array(z.string().nullable());
const names = z.array(z.string());

/** What is stored without a null is read with its defaults. */
const read = <T extends z.ZodType>(config: T, text: string): z.output<T> => config.parse(JSON.parse(text));

/** Names in order, and where the next page begins. */
async function pageOf(deps: Deps, key: string, limit: number, cursor: string | undefined) {
  const from = cursor === undefined ? "-" : (`(${cursor}` as const);
  const [found] = await deps.store.read((p) =>
    p.zrange(key, from, "+", { byLex: true, offset: 0, count: limit + 1 }),
  );
  const all = names.parse(found);
  const here = all.slice(0, limit);
  return { names: here, next_cursor: all.length > limit ? (here.at(-1) ?? null) : null };
}

/** Tenants by name, without those that are not there; one round trip. */
export async function readTenants(deps: Deps, tenants: readonly string[]): Promise<TenantView[]> {
  if (tenants.length === 0) return [];
  const reads = tenants.map((tenant): Read => {
    const { tenant_key } = deps.keys.tenant(tenant);
    return (p) => p.hmget(tenant_key, "config", "state", "account");
  });
  const answers = await deps.store.read(...reads);
  return tenants.flatMap((tenant, i) => {
    const [config, state, account] = texts.parse(answers[i]);
    if (!config) return [];
    const { available, held, spent, lapsed } = readPurse(account);
    const { subs, open, reserved, refused } = readTenantState(state);
    return {
      tenant,
      ...read(tenantConfig, config),
      account: { available, held, spent, lapsed },
      sub_accounts: subs,
      open_holds: open,
      counters: { reserved, refused },
    };
  });
}

/** Throws StoreUnavailable when there are none because the database is no cell. */
export async function listTenants(
  deps: Deps,
  { limit, cursor }: { limit: number; cursor?: string | undefined },
) {
  const page = await pageOf(deps, deps.keys.index("tenants"), limit, cursor);
  if (page.names.length === 0) await requireCell(deps);
  return { tenants: await readTenants(deps, page.names), next_cursor: page.next_cursor };
}

/** Sub-accounts of a tenant by name, without those that are not there. */
export async function readSubAccounts(
  deps: Deps,
  tenant: string,
  subs: readonly string[],
): Promise<SubView[]> {
  if (subs.length === 0) return [];
  const { tenant_key } = deps.keys.tenant(tenant);
  const fields = subs.flatMap((sub) => [`sub:${sub}`, `purse:${sub}`]);
  const [answer] = await deps.store.read((p) => p.hmget(tenant_key, ...fields));
  const values = texts.parse(answer);
  return subs.flatMap((sub_account, i) => {
    const [config, purse] = values.slice(2 * i);
    if (!config) return [];
    const { funded: _funded, made: _made, ...amounts } = readPurse(purse);
    return { sub_account, ...read(subConfig, config), ...amounts };
  });
}

/** A page of a tenant's sub-accounts. */
export async function listSubAccounts(
  deps: Deps,
  tenant: string,
  { limit, cursor }: { limit: number; cursor?: string | undefined },
) {
  const page = await pageOf(deps, deps.keys.tenant(tenant).subs_key, limit, cursor);
  return {
    sub_accounts: await readSubAccounts(deps, tenant, page.names),
    next_cursor: page.next_cursor,
  };
}
