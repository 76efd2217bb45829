// Heartbeats and the end of a call: hold and lease together, one round trip each.
import { createRoute } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { App } from "../deps.ts";
import { COMMON, fail, problems } from "../errors.ts";
import { body, json, router } from "../http.ts";
import { fingerprintOf } from "../ids.ts";
import { homeOf } from "../keys.ts";
import { retryAfterMs } from "../leases/retry-after.ts";
import { terms } from "../leases/view.ts";
import * as hold from "../quota/refusals.ts";
import { askedTwice } from "../quota/reserve.ts";
import { finish } from "../scripts/call/finish.ts";
import { renewCall } from "../scripts/call/renew.ts";
import { run } from "../scripts/run.ts";
import { noTenant } from "../tenants/missing.ts";
import { MINUTE_MS } from "../units.ts";
import * as schema from "./schema.ts";

const internal = { tags: ["calls"], security: [{ internal: [] }] };
const path = "/api/internal/calls";
const params = { params: schema.callPath };

const renew = createRoute({
  ...internal,
  method: "post",
  path: `${path}/{call_id}/renew`,
  summary: "Both heartbeats: more time, more to hold, what is used so far",
  request: { ...params, ...body(schema.renewCallBody) },
  responses: {
    200: json(schema.callRenewed, "The call as it is now"),
    ...problems(...COMMON, "quota_exhausted", "forbidden", "not_found", "lease_lost", "hold_closed"),
  },
});

const finishRoute = createRoute({
  ...internal,
  method: "post",
  path: `${path}/{call_id}/finish`,
  summary: "Charge what was used (or nothing), give the rest and the credential back",
  request: { ...params, ...body(schema.finishBody) },
  responses: {
    200: json(schema.finished, "What was charged"),
    ...problems(...COMMON, "not_found", "lease_lost", "hold_closed"),
  },
});

/** Neither this credential nor this pool carries the call. */
const mismatch = (c: Context<App>) =>
  fail(c, "lease_lost", "the call is not on that credential of that pool", { reason: "mismatch" });

const noCall = (c: Context<App>) => fail(c, "not_found", "call_id: the tenant has no such call", {});

export const endRoutes = router()
  .openapi(renew, async (c) => {
    const { call_id } = c.req.valid("param");
    const { tenant, provider, pool, key_id, lease_seconds, amount = 0, accrued = 0 } = c.req.valid("json");
    c.set("ids", { tenant, call_id, provider, pool, key_id });
    const { store, keys, metrics } = c.var.deps;
    const place = {
      ...keys.pool(provider, pool),
      ...keys.tenant(tenant),
      hold_key: keys.hold(tenant, call_id),
    };
    const home = homeOf(provider, pool);
    const args = {
      tenant,
      call_id,
      home,
      credential_id: key_id,
      lease_ms: lease_seconds * 1000,
      amount,
      accrued,
    };
    const reply = await askedTwice(c.var.deps, { tenant, hold_id: call_id }, () =>
      run(store, renewCall, place, args),
    );
    switch (reply.kind) {
      case "renewed":
        metrics.lease("renewed", home);
        metrics.hold("extended");
        return c.json({ call_id, ...terms(reply), amount: reply.amount, accrued: reply.accrued }, 200);
      case "lease_lost":
        metrics.lease("lost", home);
        return fail(c, "lease_lost", `the lease is not held: ${reply.reason}`, { reason: reply.reason });
      case "exhausted":
        return hold.exhausted(c, reply);
      case "frozen":
        return hold.frozen(c, reply.what);
      case "closed":
        return hold.closed(c, reply);
      case "mismatch":
        return mismatch(c);
      case "not_found":
        return noCall(c);
      case "absent":
        return noTenant(c);
    }
  })
  .openapi(finishRoute, async (c) => {
    const { call_id } = c.req.valid("param");
    const { tenant, provider, pool, key_id, amount, usage, outcome } = c.req.valid("json");
    c.set("ids", { tenant, call_id, provider, pool, key_id });
    const { store, keys, settings, metrics, snapshots, note } = c.var.deps;
    const place = {
      ...keys.pool(provider, pool),
      ...keys.tenant(tenant),
      hold_key: keys.hold(tenant, call_id),
    };
    const how = amount === undefined ? ("voided" as const) : ("settled" as const);
    const said = outcome?.kind ?? "";
    const reply = await run(store, finish, place, {
      tenant,
      call_id,
      home: homeOf(provider, pool),
      credential_id: key_id,
      fingerprint: fingerprintOf([
        JSON.stringify([how, amount ?? 0, Object.entries(usage ?? {}).sort(), said]),
      ]),
      how,
      amount: amount ?? 0,
      outcome: said,
      retry_after_ms: retryAfterMs(outcome?.retry_after, outcome?.date) ?? "",
      note: note({ usage, outcome }),
      keep_ms: settings.HOLD_KEEP_MINUTES * MINUTE_MS,
    });
    switch (reply.kind) {
      case "finished": {
        const { kind: _, ...end } = reply;
        metrics.hold(end.replayed ? "replayed" : how);
        if (end.released && !end.replayed) {
          metrics.lease("released", homeOf(provider, pool));
          snapshots.note(place.pool_key, key_id, -1);
        }
        return c.json({ call_id, state: how, ...end }, 200);
      }
      case "closed":
        return hold.closed(c, reply);
      case "mismatch":
        return mismatch(c);
      case "unsafe":
        return hold.unsafe(c);
      case "not_found":
        return noCall(c);
      case "absent":
        return noTenant(c);
    }
  });
