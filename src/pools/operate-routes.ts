// Enable and disable credentials, look at their leases, take them back.
import { createRoute, z } from "@hono/zod-openapi";
import { requireCell } from "../cell/meta.ts";
import { COMMON, fail, problems } from "../errors.ts";
import { body, json, ndjson, router } from "../http.ts";
import { markedAs, markMany } from "./batch.ts";
import { batchOf, NO_SUCH } from "./credential-routes.ts";
import { listLeases, markCredentials, revokeLeases } from "./operate.ts";
import * as schema from "./schema.ts";

const admin = { tags: ["credentials"], security: [{ admin: [] }] };
const path = "/api/admin/credentials";
const params = { params: schema.credentialPath };

const marked = json(schema.markResult, "What it did, and how many leases go on");
const responses = { 200: marked, ...problems(...COMMON, "not_found") };

const markOne = <V extends "enable" | "disable">(verb: V, summary: string) =>
  createRoute({
    ...admin,
    method: "post",
    path: `${path}/{provider}/{pool}/{key_id}/${verb}`,
    summary,
    request: params,
    responses,
  });

const markSeveral = <V extends "enable" | "disable">(verb: V, summary: string) =>
  createRoute({
    ...admin,
    method: "post",
    path: `${path}/${verb}`,
    summary,
    middleware: [ndjson("credentials")] as const,
    request: body(batchOf("CredentialName")),
    responses: {
      200: json(z.object({ results: z.array(schema.markResult) }), "What became of each"),
      ...problems(...COMMON),
    },
  });

const enable = markOne("enable", "Put a credential into service; this clears any bench");
const disable = markOne("disable", "Grant nothing from a credential any more; its leases go on");
const enableMany = markSeveral("enable", "Enable up to 1,000 credentials, each by itself");
const disableMany = markSeveral("disable", "Disable up to 1,000 credentials, each by itself");

const leasesOf = createRoute({
  ...admin,
  method: "get",
  path: `${path}/{provider}/{pool}/{key_id}/leases`,
  summary: "Its leases, with holder and age",
  request: {
    ...params,
    query: z.object({
      cursor: z
        .string()
        .regex(/^\d{1,20}$/)
        .default("0"),
    }),
  },
  responses: {
    200: json(
      z.object({ leases: z.array(schema.leaseOfCredential), next_cursor: z.string().nullable() }),
      "A page in no order; one may be empty and go on",
    ),
    ...problems(...COMMON, "not_found"),
  },
});

const revoke = createRoute({
  ...admin,
  method: "delete",
  path: `${path}/{provider}/{pool}/{key_id}/leases`,
  summary: "Take back all its leases; their holders learn it at their next renewal",
  request: params,
  responses: {
    200: json(z.object({ leases_ended: z.number() }), "How many it ended"),
    ...problems(...COMMON, "not_found"),
  },
});

export const operations = router()
  .openapi(enableMany, async (c) =>
    c.json({ results: await markMany(c.var.deps, c.req.valid("json").credentials, "available") }, 200),
  )
  .openapi(disableMany, async (c) =>
    c.json({ results: await markMany(c.var.deps, c.req.valid("json").credentials, "disabled") }, 200),
  )
  .openapi(enable, async (c) => {
    const name = c.req.valid("param");
    const [reply] = await markCredentials(c.var.deps, [name], "available");
    if (reply instanceof Error) throw reply;
    if (reply) return c.json(markedAs(name.key_id, "available", reply), 200);
    await requireCell(c.var.deps);
    return fail(c, "not_found", NO_SUCH, {});
  })
  .openapi(disable, async (c) => {
    const name = c.req.valid("param");
    const [reply] = await markCredentials(c.var.deps, [name], "disabled");
    if (reply instanceof Error) throw reply;
    if (reply) return c.json(markedAs(name.key_id, "disabled", reply), 200);
    await requireCell(c.var.deps);
    return fail(c, "not_found", NO_SUCH, {});
  })
  .openapi(leasesOf, async (c) => {
    const found = await listLeases(c.var.deps, c.req.valid("param"), c.req.valid("query").cursor);
    if (found) return c.json(found, 200);
    await requireCell(c.var.deps);
    return fail(c, "not_found", NO_SUCH, {});
  })
  .openapi(revoke, async (c) => {
    const ended = await revokeLeases(c.var.deps, c.req.valid("param"));
    if (ended !== undefined) return c.json({ leases_ended: ended }, 200);
    await requireCell(c.var.deps);
    return fail(c, "not_found", NO_SUCH, {});
  });
