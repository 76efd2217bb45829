// /api/admin/credentials: create, list, read, change, remove.
import { createRoute, z } from "@hono/zod-openapi";
import { requireCell } from "../cell/meta.ts";
import { COMMON, fail, problems } from "../errors.ts";
import { body, json, ndjson, page, router } from "../http.ts";
import { id } from "../ids.ts";
import { homeOf } from "../keys.ts";
import { remove } from "../scripts/pool/remove.ts";
import { run } from "../scripts/run.ts";
import { putMany } from "./batch.ts";
import { patchCredential } from "./change.ts";
import { putCredentials } from "./credentials.ts";
import { listCredentials } from "./list.ts";
import * as schema from "./schema.ts";
import { readCredentials } from "./view.ts";

const admin = { tags: ["credentials"], security: [{ admin: [] }] };
const path = "/api/admin/credentials";

/** Several at once, in a JSON body or as NDJSON, one a line. */
export const batchOf = (what: string) =>
  z.strictObject({ credentials: z.array(z.unknown()).min(1).max(1000) }).meta({
    id: `${what}s`,
    description: `Each is a ${what} and is answered by itself. As NDJSON: one a line.`,
  });

const create = createRoute({
  ...admin,
  method: "post",
  path,
  summary: "Create or change one credential, or up to 1,000, each by itself",
  middleware: [ndjson("credentials")] as const,
  request: body(z.union([batchOf("NewCredential"), schema.newCredential])),
  responses: {
    200: json(
      z.union([schema.putResult, z.object({ results: z.array(schema.putResult) })]),
      "What became of each",
    ),
    201: json(schema.putResult, "The one credential was created"),
    ...problems(...COMMON, "policy_conflict"),
  },
});

const list = createRoute({
  ...admin,
  method: "get",
  path,
  summary: "List credentials with their live state, without secrets",
  request: { query: z.object({ provider: id.optional(), pool: id.optional(), ...page }) },
  responses: {
    200: json(
      z.object({ credentials: z.array(schema.credentialView), next_cursor: z.string().nullable() }),
      "A page, in order of provider, pool and key_id",
    ),
    ...problems(...COMMON),
  },
});

const read = createRoute({
  ...admin,
  method: "get",
  path: `${path}/{provider}/{pool}/{key_id}`,
  summary: "One credential with its live state, without its secret",
  request: { params: schema.credentialPath },
  responses: { 200: json(schema.credentialView, "The credential"), ...problems(...COMMON, "not_found") },
});

const change = createRoute({
  ...admin,
  method: "patch",
  path: `${path}/{provider}/{pool}/{key_id}`,
  summary: "Change a part of a credential; its leases go on",
  request: { params: schema.credentialPath, ...body(schema.credentialPatch) },
  responses: {
    200: json(schema.credentialView, "The credential as it is now"),
    ...problems(...COMMON, "not_found", "policy_conflict"),
  },
});

const drop = createRoute({
  ...admin,
  method: "delete",
  path: `${path}/{provider}/{pool}/{key_id}`,
  summary: "Remove a credential; its leases are over",
  request: { params: schema.credentialPath },
  responses: {
    200: json(z.object({ removed: z.literal(true), leases_ended: z.number() }), "It is gone"),
    ...problems(...COMMON, "not_found"),
  },
});

export const NO_SUCH = "there is no such credential in that pool";

export const credentials = router()
  .openapi(create, async (c) => {
    const given = c.req.valid("json");
    await requireCell(c.var.deps);
    if ("credentials" in given) return c.json({ results: await putMany(c.var.deps, given.credentials) }, 200);
    const [result] = await putCredentials(c.var.deps, [given]);
    if (!result || result instanceof Error) throw result;
    if (typeof result === "string") {
      return c.json({ key_id: given.key_id, result }, result === "created" ? 201 : 200);
    }
    const { code, field, message } = result;
    if (code === "policy_conflict") return fail(c, code, `${field}: ${message}`, {});
    return fail(c, code, `${field}: ${message}`, { errors: [{ field, message }] });
  })
  .openapi(list, async (c) => c.json(await listCredentials(c.var.deps, c.req.valid("query")), 200))
  .openapi(read, async (c) => {
    const { provider, pool, key_id } = c.req.valid("param");
    const [found] = await readCredentials(c.var.deps, provider, pool, [key_id]);
    if (found) return c.json(found, 200);
    await requireCell(c.var.deps);
    return fail(c, "not_found", NO_SUCH, {});
  })
  .openapi(change, async (c) => {
    const name = c.req.valid("param");
    const result = await patchCredential(c.var.deps, name, c.req.valid("json"));
    if (typeof result === "object") {
      const { code, field, message } = result;
      if (code === "policy_conflict") return fail(c, code, `${field}: ${message}`, {});
      return fail(c, code, `${field}: ${message}`, { errors: [{ field, message }] });
    }
    const [found] = result ? await readCredentials(c.var.deps, name.provider, name.pool, [name.key_id]) : [];
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
      { home: homeOf(provider, pool), pool_name: pool, credential_id: key_id, note: c.var.deps.note() },
    );
    snapshots.forget(poolKeys.pool_key);
    if (reply.kind === "removed") return c.json({ removed: true as const, leases_ended: reply.ended }, 200);
    await requireCell(c.var.deps);
    return fail(c, "not_found", NO_SUCH, {});
  });
