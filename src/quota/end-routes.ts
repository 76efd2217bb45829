// What becomes of a hold: settle, void, extend.
import { createRoute } from "@hono/zod-openapi";
import { COMMON, fail, problems } from "../errors.ts";
import { body, json, router } from "../http.ts";
import { fingerprintOf } from "../ids.ts";
import { extend } from "../scripts/quota/extend.ts";
import { settle } from "../scripts/quota/settle.ts";
import { voidHold } from "../scripts/quota/void.ts";
import { run } from "../scripts/run.ts";
import { noTenant } from "../tenants/missing.ts";
import { iso, MINUTE_MS } from "../units.ts";
import * as refuse from "./refusals.ts";
import { askedTwice } from "./reserve.ts";
import * as schema from "./schema.ts";

const internal = { tags: ["quota"], security: [{ internal: [] }] };
const path = "/api/internal/holds/{hold_id}";
const params = { params: schema.holdPath };

const settleRoute = createRoute({
  ...internal,
  method: "post",
  path: `${path}/settle`,
  summary: "Charge what a call has used and give the rest back; once, and also after it has expired",
  request: { ...params, ...body(schema.settleBody) },
  responses: {
    200: json(schema.settled, "What was charged"),
    ...problems(...COMMON, "not_found", "hold_closed"),
  },
});

const voidRoute = createRoute({
  ...internal,
  method: "post",
  path: `${path}/void`,
  summary: "Cancel a hold whole; nothing is charged",
  request: { ...params, ...body(schema.voidBody) },
  responses: {
    200: json(schema.voided, "What went back"),
    ...problems(...COMMON, "not_found", "hold_closed"),
  },
});

const extendRoute = createRoute({
  ...internal,
  method: "post",
  path: `${path}/extend`,
  summary: "Give an open hold more time; let it grow; note what is used so far",
  request: { ...params, ...body(schema.extendBody) },
  responses: {
    200: json(schema.extended, "The hold as it is now"),
    ...problems(...COMMON, "quota_exhausted", "forbidden", "not_found", "hold_closed"),
  },
});

/** The order in which counts are named is no difference. */
const sorted = (usage: Record<string, number> = {}) => Object.entries(usage).sort();

export const endRoutes = router()
  .openapi(settleRoute, async (c) => {
    const { hold_id } = c.req.valid("param");
    const { tenant, amount, items, usage } = c.req.valid("json");
    c.set("ids", { tenant, hold_id });
    const { store, keys, settings, metrics, note } = c.var.deps;
    const reply = await run(
      store,
      settle,
      { ...keys.tenant(tenant), hold_key: keys.hold(tenant, hold_id) },
      {
        tenant,
        hold_id,
        fingerprint: fingerprintOf([JSON.stringify([amount, items ?? null, sorted(usage)])]),
        amount,
        used: items ?? [],
        note: note({ items, usage }),
        keep_ms: settings.HOLD_KEEP_MINUTES * MINUTE_MS,
      },
    );
    switch (reply.kind) {
      case "settled": {
        const { kind, ...outcome } = reply;
        metrics.hold(outcome.replayed ? "replayed" : kind);
        return c.json({ hold_id, state: kind, ...outcome }, 200);
      }
      case "closed":
        return refuse.closed(c, reply);
      case "mismatch": {
        const errors = [{ field: "items", message: "not the models of the hold, in its order" }];
        return fail(c, "invalid_request", `items: ${errors[0]?.message}`, { errors });
      }
      case "unsafe":
        return refuse.unsafe(c);
      case "not_found":
        return refuse.noHold(c);
      case "absent":
        return noTenant(c);
    }
  })
  .openapi(voidRoute, async (c) => {
    const { hold_id } = c.req.valid("param");
    const { tenant, reason } = c.req.valid("json");
    c.set("ids", { tenant, hold_id });
    const { store, keys, settings, metrics, note } = c.var.deps;
    const reply = await run(
      store,
      voidHold,
      { ...keys.tenant(tenant), hold_key: keys.hold(tenant, hold_id) },
      { tenant, hold_id, note: note({ reason }), keep_ms: settings.HOLD_KEEP_MINUTES * MINUTE_MS },
    );
    switch (reply.kind) {
      case "voided": {
        const { kind, ...outcome } = reply;
        metrics.hold(outcome.replayed ? "replayed" : kind);
        return c.json({ hold_id, state: kind, ...outcome }, 200);
      }
      case "closed":
        return refuse.closed(c, reply);
      case "not_found":
        return refuse.noHold(c);
      case "absent":
        return noTenant(c);
    }
  })
  .openapi(extendRoute, async (c) => {
    const { hold_id } = c.req.valid("param");
    const { tenant, ttl_seconds, amount = 0, accrued = 0 } = c.req.valid("json");
    c.set("ids", { tenant, hold_id });
    const { store, keys } = c.var.deps;
    const place = { ...keys.tenant(tenant), hold_key: keys.hold(tenant, hold_id) };
    const args = { tenant, hold_id, ttl_ms: ttl_seconds * 1000, amount, accrued };
    const reply = await askedTwice(c.var.deps, { tenant, hold_id }, () => run(store, extend, place, args));
    switch (reply.kind) {
      case "extended": {
        const { kind, expires_at_ms, ...now } = reply;
        c.var.deps.metrics.hold(kind);
        return c.json({ hold_id, state: "open" as const, ...now, expires_at: iso(expires_at_ms) }, 200);
      }
      case "exhausted":
        return refuse.exhausted(c, reply);
      case "frozen":
        return refuse.frozen(c, reply.what);
      case "closed":
        return refuse.closed(c, reply);
      case "not_found":
        return refuse.noHold(c);
      case "absent":
        return noTenant(c);
    }
  });
