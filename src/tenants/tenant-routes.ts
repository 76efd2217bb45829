// /api/admin/tenants: create, list, read, change, delete.
import { createRoute, z } from "@hono/zod-openapi";
import { requireCell } from "../cell/meta.ts";
import { COMMON, fail, problems } from "../errors.ts";
import { body, json, page, router } from "../http.ts";
import { run } from "../scripts/run.ts";
import { removeTenant } from "../scripts/tenant/remove.ts";
import { changeTenant, createTenant } from "./change.ts";
import { noTenant } from "./missing.ts";
import { listTenants, readTenants } from "./read.ts";
import * as schema from "./schema.ts";

const admin = { tags: ["tenants"], security: [{ admin: [] }] };
const path = "/api/admin/tenants";
const params = { params: schema.tenantPath };

const create = createRoute({
  ...admin,
  method: "post",
  path,
  summary: "Create a tenant",
  request: body(schema.newTenant),
  responses: {
    200: json(schema.tenantView, "It was there already, with these settings"),
    201: json(schema.tenantView, "The tenant"),
    ...problems(...COMMON, "not_found", "policy_conflict"),
  },
});

const list = createRoute({
  ...admin,
  method: "get",
  path,
  summary: "List tenants with their accounts",
  request: { query: z.object(page) },
  responses: {
    200: json(
      z.object({ tenants: z.array(schema.tenantView), next_cursor: z.string().nullable() }),
      "A page, in order of name",
    ),
    ...problems(...COMMON),
  },
});

const read = createRoute({
  ...admin,
  method: "get",
  path: `${path}/{tenant}`,
  summary: "One tenant with its account",
  request: params,
  responses: { 200: json(schema.tenantView, "The tenant"), ...problems(...COMMON, "not_found") },
});

const change = createRoute({
  ...admin,
  method: "patch",
  path: `${path}/{tenant}`,
  summary: "Change some settings of a tenant",
  request: { ...params, ...body(schema.tenantPatch) },
  responses: {
    200: json(schema.tenantView, "The tenant as it is now"),
    ...problems(...COMMON, "not_found", "policy_conflict"),
  },
});

const drop = createRoute({
  ...admin,
  method: "delete",
  path: `${path}/{tenant}`,
  summary: "Delete a tenant with its sub-accounts and tokens; refused while a hold is open",
  request: params,
  responses: {
    200: json(z.object({ removed: z.literal(true), sub_accounts: z.number() }), "It is gone"),
    ...problems(...COMMON, "not_found", "policy_conflict"),
  },
});

export const BUSY = "others are changing it at the same time: send it again";

export const tenantRoutes = router()
  .openapi(create, async (c) => {
    const given = c.req.valid("json");
    await requireCell(c.var.deps);
    const { kind } = await createTenant(c.var.deps, given);
    if (kind === "exists")
      return fail(c, "policy_conflict", "tenant: there is one with other settings: PATCH changes them", {});
    const [found] = await readTenants(c.var.deps, [given.tenant]);
    if (!found) return noTenant(c);
    return kind === "created" ? c.json(found, 201) : c.json(found, 200);
  })
  .openapi(list, async (c) => c.json(await listTenants(c.var.deps, c.req.valid("query")), 200))
  .openapi(read, async (c) => {
    const [found] = await readTenants(c.var.deps, [c.req.valid("param").tenant]);
    return found ? c.json(found, 200) : noTenant(c);
  })
  .openapi(change, async (c) => {
    const { tenant } = c.req.valid("param");
    const kind = await changeTenant(c.var.deps, tenant, c.req.valid("json"));
    if (kind === "stale") return fail(c, "policy_conflict", BUSY, {});
    const [found] = await readTenants(c.var.deps, [tenant]);
    return found ? c.json(found, 200) : noTenant(c);
  })
  .openapi(drop, async (c) => {
    const { tenant } = c.req.valid("param");
    const { store, keys, note } = c.var.deps;
    const place = { ...keys.tenant(tenant), index_key: keys.index("tenants") };
    const reply = await run(store, removeTenant, place, { tenant, note: note() });
    switch (reply.kind) {
      case "removed":
        return c.json({ removed: true as const, sub_accounts: reply.subs }, 200);
      case "held":
        return fail(c, "policy_conflict", `tenant: ${reply.open} of its holds are open`, {});
      case "too_many":
        return fail(c, "policy_conflict", `tenant: delete some of its ${reply.subs} sub-accounts first`, {});
      case "absent":
        return noTenant(c);
    }
  });
