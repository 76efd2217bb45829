// What is answered when a tenant or a sub-account is not there.
import type { Context } from "hono";
import { requireCell } from "../cell/meta.ts";
import type { App } from "../deps.ts";
import { fail } from "../errors.ts";
import { readTenants } from "./read.ts";

/** 404, unless the database is no cell: then nobody knows. */
export async function noTenant(c: Context<App>) {
  await requireCell(c.var.deps);
  return fail(c, "not_found", "tenant: there is no such tenant", {});
}

/** 404: which of the two is not there. */
export async function noSubAccount(c: Context<App>, tenant: string) {
  const [found] = await readTenants(c.var.deps, [tenant]);
  if (!found) return noTenant(c);
  return fail(c, "not_found", "sub_account: the tenant has no such sub-account", {});
}
