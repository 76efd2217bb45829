// POST /api/internal/refunds: a part of what a settled hold was charged goes back.
import { createRoute } from "@hono/zod-openapi";
import { COMMON, fail, problems } from "../errors.ts";
import { body, json, router } from "../http.ts";
import { refund } from "../scripts/quota/refund.ts";
import { run } from "../scripts/run.ts";
import { noTenant } from "../tenants/missing.ts";
import * as schema from "./purse-schema.ts";
import { noHold } from "./refusals.ts";

const refundRoute = createRoute({
  tags: ["quota"],
  security: [{ internal: [] }],
  method: "post",
  path: "/api/internal/refunds",
  summary: "Give back a part of what a settled hold was charged",
  request: body(schema.refundBody),
  responses: {
    200: json(schema.refunded, "What went back"),
    ...problems(...COMMON, "not_found", "policy_conflict", "idempotency_conflict"),
  },
});

export const refundRoutes = router().openapi(refundRoute, async (c) => {
  const { op_id, tenant, hold_id, amount, reason } = c.req.valid("json");
  c.set("ids", { tenant, hold_id, op_id });
  const { store, keys, note } = c.var.deps;
  const place = { ...keys.tenant(tenant), hold_key: keys.hold(tenant, hold_id) };
  const reply = await run(store, refund, place, { tenant, hold_id, op_id, amount, note: note({ reason }) });
  switch (reply.kind) {
    case "refunded": {
      const { returned, left, replayed } = reply;
      c.var.deps.metrics.hold(replayed ? "replayed" : "refunded");
      return c.json({ op_id, hold_id, amount, returned, refundable: left, replayed }, 200);
    }
    case "conflict":
      return fail(c, "idempotency_conflict", "this op_id refunded another amount of this hold", {});
    case "not_settled":
      return fail(
        c,
        "policy_conflict",
        `hold_id: the hold is ${reply.state}: only a settled one is refunded`,
        {},
      );
    case "too_much":
      return fail(c, "policy_conflict", `amount: only ${reply.left} can still be refunded`, {});
    case "full":
      return fail(
        c,
        "policy_conflict",
        `hold_id: it has ${reply.refunds} refunds: use an adjust with ref`,
        {},
      );
    case "not_found":
      return noHold(c);
    case "absent":
      return noTenant(c);
  }
});
