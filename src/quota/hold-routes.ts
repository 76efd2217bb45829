// POST /api/internal/holds opens a hold, GET shows one.
import { createRoute } from "@hono/zod-openapi";
import { COMMON, fail, problems } from "../errors.ts";
import { body, json, jsonText, router } from "../http.ts";
import { withFieldText } from "../json-text.ts";
import { noTenant } from "../tenants/missing.ts";
import { iso, retrySeconds } from "../units.ts";
import { readHold } from "./hold.ts";
import { metadataOf } from "./metadata.ts";
import * as refuse from "./refusals.ts";
import { reserveHold } from "./reserve.ts";
import * as schema from "./schema.ts";

const internal = { tags: ["quota"], security: [{ internal: [] }] };

const open = createRoute({
  ...internal,
  method: "post",
  path: "/api/internal/holds",
  summary: "Reserve an amount for a call: open a hold",
  request: body(schema.holdBody),
  responses: {
    200: json(schema.reserved, "The hold was open already: this is a repeat"),
    201: json(schema.reserved, "The hold"),
    ...problems(
      ...COMMON,
      "quota_exhausted",
      "forbidden",
      "not_found",
      "idempotency_conflict",
      "hold_closed",
      "concurrency_limited",
      "breaker_open",
    ),
  },
});

const read = createRoute({
  ...internal,
  method: "get",
  path: "/api/internal/holds/{hold_id}",
  summary: "A hold, open or ended",
  request: { params: schema.holdPath, query: schema.ofTenant },
  responses: { 200: json(schema.holdView, "The hold"), ...problems(...COMMON, "not_found") },
});

export const holdRoutes = router()
  .openapi(open, async (c) => {
    const asked = c.req.valid("json");
    const { hold_id, tenant, sub_account } = asked;
    c.set("ids", { tenant, sub_account, hold_id });
    const metadata = await metadataOf(c, asked.metadata);
    if (typeof metadata !== "string") return metadata;
    const reply = await reserveHold(c.var.deps, asked, metadata);
    switch (reply.kind) {
      case "reserved": {
        const { amount, funding, replayed } = reply;
        c.var.deps.metrics.hold(replayed ? "replayed" : "reserved");
        const available = { sub_account: reply.sub_available, account: reply.account_available };
        const expires_at = iso(reply.expires_at_ms);
        const view = { hold_id, state: "open" as const, amount, funding, available, expires_at, replayed };
        return replayed ? c.json(view, 200) : c.json(view, 201);
      }
      case "exhausted":
        return refuse.exhausted(c, reply);
      case "frozen":
        return refuse.frozen(c, reply.what);
      case "closed":
        return refuse.closed(c, reply);
      case "concurrency_limited":
        return refuse.concurrency(c, reply.max_concurrent);
      case "breaker_open":
        return fail(c, "breaker_open", "the pool's breaker is open", {
          retry_after_seconds: retrySeconds(reply.due_in_ms),
        });
      case "conflict":
        return fail(c, "idempotency_conflict", "this hold_id was used with other arguments", {});
      case "no_pool":
        return fail(c, "not_found", "pool: the provider has no such pool", {});
      case "not_found":
        return fail(c, "not_found", "sub_account: the tenant has no such sub-account", {});
      case "absent":
        return noTenant(c);
      case "unauthenticated":
        return fail(c, "unauthenticated", "the token does not open this sub-account", {});
    }
  })
  .openapi(read, async (c) => {
    const { hold_id } = c.req.valid("param");
    const { tenant } = c.req.valid("query");
    c.set("ids", { tenant, hold_id });
    const { store, keys } = c.var.deps;
    const [text] = await store.read((p) => p.get(keys.hold(tenant, hold_id)));
    if (typeof text !== "string") return refuse.unlessTenant(c, tenant);
    const { hold, metadata } = readHold(text);
    const view = withFieldText({ hold_id, tenant, ...hold }, "metadata", metadata || "null");
    return jsonText<typeof schema.holdView>(c, view);
  });
