// …/sub-accounts/{sub_account}/tokens: what a tenant's callers come with. Only a token's SHA-256 is stored.
import { createHash } from "node:crypto";
import { createRoute, z } from "@hono/zod-openapi";
import { COMMON, fail, problems } from "../errors.ts";
import { body, json, router } from "../http.ts";
import { mint } from "../ids.ts";
import { run } from "../scripts/run.ts";
import { addToken } from "../scripts/tenant/add_token.ts";
import { revokeToken } from "../scripts/tenant/revoke_token.ts";
import { iso } from "../units.ts";
import { noSubAccount } from "./missing.ts";
import * as schema from "./schema.ts";
import { readTokens } from "./state.ts";

const admin = { tags: ["tenants"], security: [{ admin: [] }] };
const path = "/api/admin/tenants/{tenant}/sub-accounts/{sub_account}/tokens";

const create = createRoute({
  ...admin,
  method: "post",
  path,
  summary: "Make a token; it is shown this once",
  request: { params: schema.subPath, ...body(schema.newToken) },
  responses: {
    201: json(schema.tokenMade, "The token"),
    ...problems(...COMMON, "not_found", "policy_conflict"),
  },
});

const list = createRoute({
  ...admin,
  method: "get",
  path,
  summary: "List the tokens of a sub-account, without the secrets",
  request: { params: schema.subPath },
  responses: {
    200: json(z.object({ tokens: z.array(schema.tokenView) }), "At most 100, oldest first"),
    ...problems(...COMMON, "not_found"),
  },
});

const revoke = createRoute({
  ...admin,
  method: "delete",
  path: `${path}/{token_id}`,
  summary: "Revoke a token, at once",
  request: { params: schema.tokenPath },
  responses: {
    200: json(z.object({ revoked: z.literal(true) }), "It opens nothing any more"),
    ...problems(...COMMON, "not_found"),
  },
});

/** The random part: 32 bytes. */
const SECRET_BYTES = 32;

/** A token says whose it is, so that one read finds out whether it is good. */
function mintToken(tenant: string, sub_account: string) {
  const random = Buffer.from(crypto.getRandomValues(new Uint8Array(SECRET_BYTES))).toString("base64url");
  const token = `qm_${tenant}~${sub_account}~${random}`;
  return { token, sha256: createHash("sha256").update(token).digest("hex") };
}

export const tokenRoutes = router()
  .openapi(create, async (c) => {
    const { tenant, sub_account } = c.req.valid("param");
    const { name } = c.req.valid("json");
    const { store, keys, note } = c.var.deps;
    const { token, sha256 } = mintToken(tenant, sub_account);
    const token_id = mint("tok");
    const args = { tenant, sub_account, token_id, sha256, name, note: note({ name }) };
    const reply = await run(store, addToken, keys.tenant(tenant), args);
    switch (reply.kind) {
      case "added": {
        const made = { token_id, name, created_at: iso(reply.made_at_ms), token };
        return c.json(made, 201, { "cache-control": "no-store" });
      }
      case "named":
        return fail(
          c,
          "policy_conflict",
          "name: the sub-account has a token of that name: revoke it first",
          {},
        );
      case "full":
        return fail(
          c,
          "policy_conflict",
          `the sub-account has ${reply.tokens} tokens, the most it may have`,
          {},
        );
      case "not_found":
      case "absent":
        return noSubAccount(c, tenant);
    }
  })
  .openapi(list, async (c) => {
    const { tenant, sub_account } = c.req.valid("param");
    const { store, keys } = c.var.deps;
    const { tenant_key } = keys.tenant(tenant);
    const [found] = await store.read((p) =>
      p.hmget(tenant_key, `sub:${sub_account}`, `tokens:${sub_account}`),
    );
    const [known, text] = z.array(z.string().nullable()).parse(found);
    if (!known) return noSubAccount(c, tenant);
    const tokens = readTokens(text).map(({ made_at_ms, ...token }) => ({
      ...token,
      created_at: iso(made_at_ms),
    }));
    return c.json({ tokens }, 200);
  })
  .openapi(revoke, async (c) => {
    const { tenant, sub_account, token_id } = c.req.valid("param");
    const { store, keys, note } = c.var.deps;
    const args = { tenant, sub_account, token_id, note: note() };
    const reply = await run(store, revokeToken, keys.tenant(tenant), args);
    if (reply.kind === "revoked") return c.json({ revoked: true as const }, 200);
    if (reply.kind === "absent") return noSubAccount(c, tenant);
    return fail(c, "not_found", "token_id: the sub-account has no such token", {});
  });
