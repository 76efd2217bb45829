// /api/admin/tenants/{tenant}/sub-accounts: create, list, read, change, delete.
import { createRoute, z } from "@hono/zod-openapi";
import { COMMON, fail, problems } from "../errors.ts";
import { body, json, page, router } from "../http.ts";
import { run } from "../scripts/run.ts";
import { removeSubAccount } from "../scripts/tenant/remove_sub.ts";
import { changeSubAccount, createSubAccount } from "./change.ts";
import { noSubAccount, noTenant } from "./missing.ts";
import { listSubAccounts, readSubAccounts, readTenants } from "./read.ts";
import * as schema from "./schema.ts";
import { BUSY } from "./tenant-routes.ts";

const admin = { tags: ["tenants"], security: [{ admin: [] }] };
const path = "/api/admin/tenants/{tenant}/sub-accounts";
const one = `${path}/{sub_account}` as const;
const params = { params: schema.subPath };

const create = createRoute({
  ...admin,
  method: "post",
  path,
  summary: "Create a sub-account",
  request: { params: schema.tenantPath, ...body(schema.newSubAccount) },
  responses: {
    200: json(schema.subView, "It was there already, with these settings"),
    201: json(schema.subView, "The sub-account"),
    ...problems(...COMMON, "not_found", "policy_conflict"),
  },
});

const list = createRoute({
  ...admin,
  method: "get",
  path,
  summary: "List sub-accounts with their purses",
  request: { params: schema.tenantPath, query: z.object(page) },
  responses: {
    200: json(
      z.object({ sub_accounts: z.array(schema.subView), next_cursor: z.string().nullable() }),
      "A page, in order of name",
    ),
    ...problems(...COMMON, "not_found"),
  },
});

const read = createRoute({
  ...admin,
  method: "get",
  path: one,
  summary: "One sub-account with its purse",
  request: params,
  responses: { 200: json(schema.subView, "The sub-account"), ...problems(...COMMON, "not_found") },
});

const change = createRoute({
  ...admin,
  method: "patch",
  path: one,
  summary: "Change some settings of a sub-account; what it holds goes on",
  request: { ...params, ...body(schema.subPatch) },
  responses: {
    200: json(schema.subView, "The sub-account as it is now"),
    ...problems(...COMMON, "not_found", "policy_conflict"),
  },
});

const drop = createRoute({
  ...admin,
  method: "delete",
  path: one,
  summary: "Delete a sub-account with its tokens and what is left in its purse; refused while a hold is open",
  request: params,
  responses: {
    200: json(
      z.object({ removed: z.literal(true), available: z.number() }),
      "It is gone, with so much in it",
    ),
    ...problems(...COMMON, "not_found", "policy_conflict"),
  },
});

export const subAccountRoutes = router()
  .openapi(create, async (c) => {
    const { tenant } = c.req.valid("param");
    const given = c.req.valid("json");
    const reply = await createSubAccount(c.var.deps, tenant, given);
    if (reply.kind === "exists")
      return fail(
        c,
        "policy_conflict",
        "sub_account: there is one with other settings: PATCH changes them",
        {},
      );
    if (reply.kind === "full")
      return fail(
        c,
        "policy_conflict",
        `sub_account: the tenant has ${reply.subs}, the most it may have`,
        {},
      );
    const [found] = await readSubAccounts(c.var.deps, tenant, [given.sub_account]);
    if (!found) return noSubAccount(c, tenant);
    return reply.kind === "created" ? c.json(found, 201) : c.json(found, 200);
  })
  .openapi(list, async (c) => {
    const { tenant } = c.req.valid("param");
    const found = await listSubAccounts(c.var.deps, tenant, c.req.valid("query"));
    const [known] = found.sub_accounts.length > 0 ? [true] : await readTenants(c.var.deps, [tenant]);
    return known ? c.json(found, 200) : noTenant(c);
  })
  .openapi(read, async (c) => {
    const { tenant, sub_account } = c.req.valid("param");
    const [found] = await readSubAccounts(c.var.deps, tenant, [sub_account]);
    return found ? c.json(found, 200) : noSubAccount(c, tenant);
  })
  .openapi(change, async (c) => {
    const { tenant, sub_account } = c.req.valid("param");
    const kind = await changeSubAccount(c.var.deps, tenant, sub_account, c.req.valid("json"));
    if (kind === "stale") return fail(c, "policy_conflict", BUSY, {});
    const [found] = await readSubAccounts(c.var.deps, tenant, [sub_account]);
    return found ? c.json(found, 200) : noSubAccount(c, tenant);
  })
  .openapi(drop, async (c) => {
    const { tenant, sub_account } = c.req.valid("param");
    const { store, keys, note } = c.var.deps;
    const reply = await run(store, removeSubAccount, keys.tenant(tenant), {
      tenant,
      sub_account,
      note: note(),
    });
    switch (reply.kind) {
      case "removed":
        return c.json({ removed: true as const, available: reply.available }, 200);
      case "held":
        return fail(c, "policy_conflict", `sub_account: ${reply.open} of its holds are open`, {});
      case "not_found":
      case "absent":
        return noSubAccount(c, tenant);
    }
  });
