// POST allocate-key, and the two verbs of a lease that is held.
import { createRoute } from "@hono/zod-openapi";
import { requireCell } from "../cell/meta.ts";
import { COMMON, fail, problems } from "../errors.ts";
import { body, json, router } from "../http.ts";
import { homeOf, type Keys } from "../keys.ts";
import { release } from "../scripts/lease/release.ts";
import { renew } from "../scripts/lease/renew.ts";
import { run } from "../scripts/run.ts";
import { MINUTE_MS } from "../units.ts";
import { allocate } from "./allocate.ts";
import * as refuse from "./refusals.ts";
import { retryAfterMs } from "./retry-after.ts";
import * as schema from "./schema.ts";
import { terms, viewOf } from "./view.ts";

const internal = { tags: ["leases"], security: [{ internal: [] }] };

const allocateKey = createRoute({
  ...internal,
  method: "post",
  path: "/api/internal/allocate-key",
  summary: "Lease a credential that serves a model",
  request: body(schema.allocateBody),
  responses: {
    200: json(schema.leaseView, "The lease, with the secret"),
    ...problems(
      ...COMMON,
      "not_found",
      "policy_conflict",
      "idempotency_conflict",
      "lease_lost",
      "no_capacity",
      "breaker_open",
    ),
  },
});

const renewLease = createRoute({
  ...internal,
  method: "post",
  path: "/api/internal/leases/{lease_id}/renew",
  summary: "Extend a lease that is held",
  request: { params: schema.leasePath, ...body(schema.renewBody) },
  responses: { 200: json(schema.renewed, "Its new end"), ...problems(...COMMON, "lease_lost") },
});

const releaseLease = createRoute({
  ...internal,
  method: "post",
  path: "/api/internal/leases/{lease_id}/release",
  summary: "Give a lease back, with the outcome of its call",
  request: { params: schema.leasePath, ...body(schema.releaseBody) },
  responses: { 200: json(schema.released, "Whether this call ended it"), ...problems(...COMMON) },
});

function keysOfLease(keys: Keys, lease_id: string, { provider, pool }: { provider: string; pool: string }) {
  const { pool_key, leases_key } = keys.pool(provider, pool);
  return { pool_key, leases_key, lease_key: keys.lease(lease_id) };
}

/** A pool that a caller only says it is from has no series of its own. */
const poolLabel = (reason: string, { provider, pool }: { provider: string; pool: string }) =>
  reason === "unknown" || reason === "mismatch" ? "other" : homeOf(provider, pool);

export const leases = router()
  .openapi(allocateKey, async (c) => {
    const asked = c.req.valid("json");
    const { metrics } = c.var.deps;
    c.set("ids", { provider: asked.provider, pool: asked.pool });
    const answer = await allocate(c.var.deps, asked);
    switch (answer.kind) {
      case "granted": {
        const view = viewOf(answer, asked);
        const { provider, pool, key_id, lease_id } = view;
        c.set("ids", { provider, pool, key_id, lease_id, ...(asked.holder ? { holder: asked.holder } : {}) });
        const result = answer.grant.replayed ? "replayed" : view.fallback ? "fallback" : "granted";
        metrics.lease(result, homeOf(provider, pool));
        return c.json(view, 200, { "cache-control": "no-store" });
      }
      case "no_capacity":
        return refuse.noCapacity(c, answer);
      case "breaker_open":
        return refuse.breakerOpen(c, answer.due_in_ms);
      case "lease_lost":
        return refuse.leaseOver(c, answer.reason);
      case "conflict":
        return fail(c, "idempotency_conflict", "this op_id was used with other arguments", {});
      case "refused":
        return answer.refusal;
      case "not_found":
      case "policy_conflict":
        return fail(c, answer.kind, answer.detail, {});
    }
  })
  .openapi(renewLease, async (c) => {
    const { lease_id } = c.req.valid("param");
    const { key_id, lease_seconds, ...where } = c.req.valid("json");
    c.set("ids", { ...where, key_id, lease_id });
    const { store, keys, metrics } = c.var.deps;
    const reply = await run(store, renew, keysOfLease(keys, lease_id, where), {
      lease_id,
      home: homeOf(where.provider, where.pool),
      credential_id: key_id,
      lease_ms: lease_seconds * 1000,
    });
    if (reply.kind === "absent") await requireCell(c.var.deps);
    if (reply.kind === "renewed") {
      metrics.lease("renewed", homeOf(where.provider, where.pool));
      return c.json({ lease_id, ...terms(reply) }, 200);
    }
    const reason = reply.kind === "absent" ? "unknown" : reply.reason;
    metrics.lease("lost", poolLabel(reason, where));
    return fail(c, "lease_lost", `the lease is not held: ${reason}`, { reason });
  })
  .openapi(releaseLease, async (c) => {
    const { lease_id } = c.req.valid("param");
    const { key_id, outcome, ...where } = c.req.valid("json");
    c.set("ids", { ...where, key_id, lease_id });
    const { store, keys, settings, metrics } = c.var.deps;
    const reply = await run(store, release, keysOfLease(keys, lease_id, where), {
      lease_id,
      home: homeOf(where.provider, where.pool),
      credential_id: key_id,
      outcome: outcome?.kind ?? "",
      retry_after_ms: retryAfterMs(outcome?.retry_after, outcome?.date) ?? "",
      keep_ms: settings.LEASE_KEEP_MINUTES * MINUTE_MS,
    });
    if (reply.kind === "absent") await requireCell(c.var.deps);
    if (reply.kind === "released") {
      metrics.lease("released", homeOf(where.provider, where.pool));
      c.var.deps.snapshots.note(keys.pool(where.provider, where.pool).pool_key, key_id, -1);
      return c.json({ released: true as const }, 200);
    }
    const reason = reply.kind === "absent" ? "unknown" : reply.reason;
    metrics.lease("late", poolLabel(reason, where));
    return c.json({ released: false as const, reason }, 200);
  });
