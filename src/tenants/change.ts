// Changing a part of a tenant's or a sub-account's settings: read, merge, and a compare-and-set.
import type { z } from "zod";
import type { Deps } from "../deps.ts";
import { run } from "../scripts/run.ts";
import { putTenant } from "../scripts/tenant/put.ts";
import { putSubAccount } from "../scripts/tenant/put_sub.ts";
import {
  type SubConfig,
  type SubPatch,
  subConfig,
  type TenantConfig,
  type TenantPatch,
  tenantConfig,
} from "./schema.ts";

/** Fields in a fixed order and no nulls, so that the same settings are the same text and Lua meets no null. */
const configText = (config: object) => JSON.stringify(config, (_, value) => value ?? undefined);

const tenantText = (config: z.input<typeof tenantConfig>) => configText(tenantConfig.parse(config));
const subText = (config: z.input<typeof subConfig>) => configText(subConfig.parse(config));

/** A change of nothing but the status is a `status` entry of the journal. */
const kindOf = (patch: object) => (Object.keys(patch).join() === "status" ? "status" : "config");

export function createTenant(deps: Deps, { tenant, ...config }: { tenant: string } & TenantConfig) {
  const keys = { ...deps.keys.tenant(tenant), index_key: deps.keys.index("tenants") };
  const args = {
    tenant,
    config_before: "",
    config: tenantText(config),
    kind: "config",
    note: deps.note(),
  } as const;
  return run(deps.store, putTenant, keys, args);
}

export function createSubAccount(
  deps: Deps,
  tenant: string,
  { sub_account, ...config }: { sub_account: string } & SubConfig,
) {
  const args = { config_before: "", config: subText(config), kind: "config", note: deps.note() } as const;
  return run(deps.store, putSubAccount, deps.keys.tenant(tenant), { tenant, sub_account, ...args });
}

const ATTEMPTS = 5;

/** Reads the stored settings, merges, and writes them unless somebody else was first; then once more. */
async function change<K extends string>(
  deps: Deps,
  { tenant_key, field }: { tenant_key: string; field: string },
  write: (before: string) => Promise<{ kind: K }>,
) {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const [before] = await deps.store.read((p) => p.hget(tenant_key, field));
    if (typeof before !== "string") return "not_found" as const;
    const { kind } = await write(before);
    if (kind !== "stale") return kind as Exclude<K, "stale">;
  }
  return "stale" as const;
}

export function changeTenant(deps: Deps, tenant: string, patch: TenantPatch) {
  const keys = { ...deps.keys.tenant(tenant), index_key: deps.keys.index("tenants") };
  return change(deps, { tenant_key: keys.tenant_key, field: "config" }, (config_before) => {
    const config = tenantText({ ...tenantConfig.parse(JSON.parse(config_before)), ...patch });
    return run(deps.store, putTenant, keys, {
      tenant,
      config_before,
      config,
      kind: kindOf(patch),
      note: deps.note(),
    });
  });
}

export function changeSubAccount(deps: Deps, tenant: string, sub_account: string, patch: SubPatch) {
  const keys = deps.keys.tenant(tenant);
  return change(deps, { tenant_key: keys.tenant_key, field: `sub:${sub_account}` }, (config_before) => {
    const config = subText({ ...subConfig.parse(JSON.parse(config_before)), ...patch });
    const args = {
      tenant,
      sub_account,
      config_before,
      config,
      kind: kindOf(patch),
      note: deps.note(),
    } as const;
    return run(deps.store, putSubAccount, keys, args);
  });
}
