// POST /api/internal/calls/admit: a hold and a lease for one call, or neither, in one round trip.
import { createRoute } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { App } from "../deps.ts";
import { COMMON, fail, problems } from "../errors.ts";
import { body, json, router } from "../http.ts";
import { homeOf } from "../keys.ts";
import { inPoolsOrWhy } from "../leases/allocate.ts";
import * as lease from "../leases/refusals.ts";
import { viewOf } from "../leases/view.ts";
import { metadataOf } from "../quota/metadata.ts";
import * as hold from "../quota/refusals.ts";
import { itemsOf } from "../quota/schema.ts";
import { noTenant } from "../tenants/missing.ts";
import { iso } from "../units.ts";
import { type CallRefusal, callQuestion } from "./question.ts";
import * as schema from "./schema.ts";

const internal = { tags: ["calls"], security: [{ internal: [] }] };

const admit = createRoute({
  ...internal,
  method: "post",
  path: "/api/internal/calls/admit",
  summary: "Reserve an amount and lease a credential for one call, or neither",
  request: body(schema.admitBody),
  responses: {
    200: json(schema.admitted, "The call, with the secret"),
    ...problems(
      ...COMMON,
      "quota_exhausted",
      "forbidden",
      "not_found",
      "policy_conflict",
      "idempotency_conflict",
      "lease_lost",
      "hold_closed",
      "no_capacity",
      "concurrency_limited",
      "breaker_open",
    ),
  },
});

/** What the tenant, or the call itself, is refused for. */
function refused(c: Context<App>, refusal: CallRefusal) {
  switch (refusal.kind) {
    case "exhausted":
      return hold.exhausted(c, refusal);
    case "frozen":
      return hold.frozen(c, refusal.what);
    case "closed":
      return hold.closed(c, refusal);
    case "concurrency_limited":
      return hold.concurrency(c, refusal.max_concurrent);
    case "not_found":
      return fail(c, "not_found", "sub_account: the tenant has no such sub-account", {});
    case "unauthenticated":
      return fail(c, "unauthenticated", "the token does not open this sub-account", {});
    case "absent":
      return noTenant(c);
  }
}

export const admitRoutes = router().openapi(admit, async (c) => {
  const asked = c.req.valid("json");
  const { call_id, tenant, sub_account, provider, pool } = asked;
  c.set("ids", { tenant, sub_account, call_id, provider, pool });
  const metadata = await metadataOf(c, asked.metadata);
  if (typeof metadata !== "string") return metadata;
  const call = { ...asked, items: itemsOf(asked), metadata, token: "", repeatable: true };
  const answer = await inPoolsOrWhy(c.var.deps, callQuestion(c.var.deps, call));
  switch (answer.kind) {
    case "granted": {
      const view = viewOf(answer, asked);
      const { hold: held, replayed } = answer.grant;
      if (!held) throw new Error("a call without its hold");
      c.set("ids", { tenant, sub_account, call_id, provider, pool: view.pool, key_id: view.key_id });
      c.var.deps.metrics.lease(replayed ? "replayed" : "granted", homeOf(provider, view.pool));
      c.var.deps.metrics.hold(replayed ? "replayed" : "reserved");
      const { amount, funding, sub_available, account_available, expires_at_ms } = held;
      return c.json(
        {
          call_id,
          lease: view,
          hold: {
            state: "open" as const,
            amount,
            funding: [...funding],
            available: { sub_account: sub_available, account: account_available },
            expires_at: iso(expires_at_ms),
            replayed,
          },
        },
        200,
        { "cache-control": "no-store" },
      );
    }
    case "refused":
      return refused(c, answer.refusal);
    case "no_capacity":
      return lease.noCapacity(c, answer);
    case "breaker_open":
      return lease.breakerOpen(c, answer.due_in_ms);
    case "lease_lost":
      return lease.leaseOver(c, answer.reason);
    case "conflict":
      return fail(c, "idempotency_conflict", "this call_id was used with other arguments", {});
    case "not_found":
    case "policy_conflict":
      return fail(c, answer.kind, answer.detail, {});
  }
});
