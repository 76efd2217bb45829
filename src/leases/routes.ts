// POST allocate-key, and the two verbs of a lease that is held.
import { createRoute } from "@hono/zod-openapi";
import { requireCell } from "../cell/meta.ts";
import { COMMON, fail, problems } from "../errors.ts";
import { body, json, router } from "../http.ts";
import { homeOf, type Keys } from "../keys.ts";
import { release } from "../scripts/lease/release.ts";
import { renew } from "../scripts/lease/renew.ts";
import { run } from "../scripts/run.ts";
import type { Secret } from "../sealing.ts";
import { iso, MINUTE_MS, retrySeconds } from "../units.ts";
import { allocate } from "./allocate.ts";
import type { Lease } from "./grant.ts";
import { retryAfterMs } from "./retry-after.ts";
import * as schema from "./schema.ts";

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

/** Whoever holds a lease gets what goes upstream and no more: never an OAuth refresh token. */
function credentialOf(secret: Secret, kind: Lease["config"]["kind"]) {
  const { access_token } = secret;
  return kind === "oauth" ? { access_token } : secret;
}

/** When a lease ends, and whether a renewal could move that. */
const terms = (ends: { expires_at_ms: number; expires_in_ms: number; max_expires_at_ms: number }) => ({
  expires_at: iso(ends.expires_at_ms),
  expires_in_seconds: ends.expires_in_ms / 1000,
  renewable: ends.expires_at_ms < ends.max_expires_at_ms,
  max_expires_at: iso(ends.max_expires_at_ms),
});

const viewOf = ({ grant, config, ...lease }: Lease, asked: schema.AllocateBody): schema.LeaseView => ({
  key_id: grant.credential,
  lease_id: lease.lease_id,
  provider: asked.provider,
  pool: lease.pool,
  fallback: lease.pool !== asked.pool,
  provider_model: lease.provider_model,
  credential: credentialOf(lease.secret, config.kind),
  base_url: config.base_url ?? null,
  fence: grant.fence,
  ...terms(grant),
});

function keysOfLease(keys: Keys, lease_id: string, { provider, pool }: { provider: string; pool: string }) {
  const { pool_key, leases_key } = keys.pool(provider, pool);
  return { pool_key, leases_key, lease_key: keys.lease(lease_id) };
}

/** What does not end by itself: until an operator has helped, asking every second is of no use. */
const FOR_OPERATORS = new Set(["auth_failed", "disabled", "pending", "removed", "token_expired"]);

const untilOperatorMs = (reasons: Record<string, number>) =>
  Object.keys(reasons).every((reason) => FOR_OPERATORS.has(reason)) ? MINUTE_MS : 0;

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
      case "no_capacity": {
        const { reasons } = answer;
        const counts = Object.entries(reasons).map(([reason, count]) => `${reason} ${count}`);
        const detail = `nothing is free: ${counts.join(", ")}`;
        return fail(c, "no_capacity", detail, {
          reasons,
          retry_after_seconds: retrySeconds(answer.due_in_ms || untilOperatorMs(reasons)),
        });
      }
      case "breaker_open":
        return fail(c, "breaker_open", "the pool's breaker is open", {
          retry_after_seconds: retrySeconds(answer.due_in_ms),
        });
      case "lease_lost":
        return fail(c, "lease_lost", `the lease of this op_id is over: ${answer.reason}`, {
          reason: answer.reason,
        });
      case "conflict":
        return fail(c, "idempotency_conflict", "this op_id was used with other arguments", {});
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
