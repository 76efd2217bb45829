// /api/admin/credentials: what an operator puts into the pools.
import { createRoute, z } from "@hono/zod-openapi";
import { requireCell } from "../cell/meta.ts";
import { COMMON, fail, problems } from "../errors.ts";
import { body, json, router } from "../http.ts";
import { id } from "../ids.ts";
import { remove } from "../scripts/pool/remove.ts";
import { run } from "../scripts/run.ts";
import { putMany } from "./batch.ts";
import { putCredential, readCredentials } from "./credentials.ts";
import { listCredentials } from "./list.ts";
import { credentialView, newCredential, putResult } from "./schema.ts";

const admin = { tags: ["credentials"], security: [{ admin: [] }] };
const path = "/api/admin/credentials";
const one = z.object({ provider: id, pool: id, key_id: id });

const batch = z.strictObject({ credentials: z.array(z.unknown()).min(1).max(1000) }).meta({
  id: "NewCredentials",
  description: "Each is a NewCredential and is answered by itself.",
});

const create = createRoute({
  ...admin,
  method: "post",
  path,
  summary: "Create or change one credential, or up to 1,000, each by itself",
  request: body(z.union([batch, newCredential])),
  responses: {
    200: json(z.union([putResult, z.object({ results: z.array(putResult) })]), "What became of each"),
    201: json(putResult, "The one credential was created"),
    ...problems(...COMMON, "policy_conflict"),
  },
});

const list = createRoute({
  ...admin,
  method: "get",
  path,
  summary: "List credentials with their live state, without secrets",
  request: {
    query: z.object({
      provider: id.optional(),
      pool: id.optional(),
      limit: z
        .string()
        .regex(/^([1-9]\d{0,2}|1000)$/, "1 to 1000")
        .default("100")
        .transform(Number),
      cursor: z.string().max(200).optional(),
    }),
  },
  responses: {
    200: json(
      z.object({ credentials: z.array(credentialView), next_cursor: z.string().nullable() }),
      "A page",
    ),
    ...problems(...COMMON),
  },
});

const read = createRoute({
  ...admin,
  method: "get",
  path: `${path}/{provider}/{pool}/{key_id}`,
  summary: "One credential with its live state, without its secret",
  request: { params: one },
  responses: { 200: json(credentialView, "The credential"), ...problems(...COMMON, "not_found") },
});

const drop = createRoute({
  ...admin,
  method: "delete",
  path: `${path}/{provider}/{pool}/{key_id}`,
  summary: "Remove a credential; its leases are over",
  request: { params: one },
  responses: {
    200: json(z.object({ removed: z.literal(true), leases_ended: z.number() }), "It is gone"),
    ...problems(...COMMON, "not_found"),
  },
});

const NO_SUCH = "there is no such credential in that pool";

export const pools = router()
  .openapi(create, async (c) => {
    const given = c.req.valid("json");
    await requireCell(c.var.deps);
    if ("credentials" in given) return c.json({ results: await putMany(c.var.deps, given.credentials) }, 200);
    const result = await putCredential(c.var.deps, given);
    if (result.error?.code === "invalid_request") {
      const [field = "", message = ""] = result.error.detail.split(": ");
      return fail(c, "invalid_request", result.error.detail, { errors: [{ field, message }] });
    }
    if (result.error) return fail(c, "policy_conflict", result.error.detail, {});
    return c.json(result, result.result === "created" ? 201 : 200);
  })
  .openapi(list, async (c) => c.json(await listCredentials(c.var.deps, c.req.valid("query")), 200))
  .openapi(read, async (c) => {
    const { provider, pool, key_id } = c.req.valid("param");
    const [found] = await readCredentials(c.var.deps, provider, pool, [key_id]);
    if (found) return c.json(found, 200);
    await requireCell(c.var.deps);
    return fail(c, "not_found", NO_SUCH, {});
  })
  .openapi(drop, async (c) => {
    const { provider, pool, key_id } = c.req.valid("param");
    const { keys, store, snapshots } = c.var.deps;
    const { leases_key: _, ...poolKeys } = keys.pool(provider, pool);
    const reply = await run(
      store,
      remove,
      { ...poolKeys, provider_key: keys.provider(provider) },
      { pool_name: pool, credential_id: key_id },
    );
    if (reply.kind === "removed") {
      snapshots.forget(poolKeys.pool_key);
      return c.json({ removed: true as const, leases_ended: reply.ended }, 200);
    }
    await requireCell(c.var.deps);
    return fail(c, "not_found", NO_SUCH, {});
  });
