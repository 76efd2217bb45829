// What is in the purses: balances for callers, adjustments by an operator.
import { createRoute, z } from "@hono/zod-openapi";
import { COMMON, fail, problems } from "../errors.ts";
import { body, json, page, router } from "../http.ts";
import { fingerprintOf, id } from "../ids.ts";
import { adjust } from "../scripts/quota/adjust.ts";
import { run } from "../scripts/run.ts";
import { noTenant } from "../tenants/missing.ts";
import { listSubAccounts, readTenants } from "../tenants/read.ts";
import { HOUR_MS } from "../units.ts";
import * as schema from "./purse-schema.ts";
import * as refuse from "./refusals.ts";
import { ofTenant } from "./schema.ts";

const balancesRoute = createRoute({
  tags: ["quota"],
  security: [{ internal: [] }],
  method: "get",
  path: "/api/internal/tenants/{tenant}/balances",
  summary: "What a tenant's purses have",
  request: { params: ofTenant, query: z.object(page) },
  responses: {
    200: json(schema.balances, "The account, and a page of sub-accounts in order of name"),
    ...problems(...COMMON, "not_found"),
  },
});

const adjustRoute = createRoute({
  tags: ["tenants"],
  security: [{ admin: [] }],
  method: "post",
  path: "/api/admin/tenants/{tenant}/adjust",
  summary: "Put into a purse, take out of it, or set what it has; what is held stays held",
  request: {
    params: ofTenant,
    headers: z.object({
      "idempotency-key": id.meta({
        description: "A repeat with the same one is answered as the first time.",
      }),
    }),
    ...body(schema.adjustBody),
  },
  responses: {
    200: json(schema.adjusted, "What the purse has now"),
    ...problems(...COMMON, "quota_exhausted", "not_found", "idempotency_conflict"),
  },
});

export const purseRoutes = router()
  .openapi(balancesRoute, async (c) => {
    const { tenant } = c.req.valid("param");
    c.set("ids", { tenant });
    const [known] = await readTenants(c.var.deps, [tenant]);
    if (!known) return noTenant(c);
    const { sub_accounts, next_cursor } = await listSubAccounts(c.var.deps, tenant, c.req.valid("query"));
    const amounts = sub_accounts.map(({ sub_account, available, held, spent, lapsed, debt }) => ({
      sub_account,
      available,
      held,
      spent,
      lapsed,
      debt,
    }));
    return c.json({ account: known.account, sub_accounts: amounts, next_cursor }, 200);
  })
  .openapi(adjustRoute, async (c) => {
    const { tenant } = c.req.valid("param");
    const op_id = c.req.valid("header")["idempotency-key"];
    const asked = c.req.valid("json");
    const { purse, kind, reason, ref } = asked;
    const sub_account = purse === "account" ? "" : purse.sub_account;
    const amount = asked.kind === "zero" ? 0 : asked.amount;
    c.set("ids", { tenant, op_id, ...(sub_account ? { sub_account } : {}) });
    const { store, keys, settings, note } = c.var.deps;
    const reply = await run(
      store,
      adjust,
      { ...keys.tenant(tenant), op_key: keys.op(tenant, op_id) },
      {
        tenant,
        sub_account,
        op_id,
        fingerprint: fingerprintOf([
          "adjust",
          JSON.stringify([sub_account, kind, amount, reason, ref ?? null]),
        ]),
        how: kind,
        note: note({ reason, ref }),
        amount,
        keep_ms: settings.OP_KEEP_HOURS * HOUR_MS,
      },
    );
    switch (reply.kind) {
      case "adjusted": {
        const { by: change, available, debt, replayed } = reply;
        return c.json({ op_id, tenant, purse, kind, change, available, debt, replayed }, 200);
      }
      case "insufficient": {
        const scope = purse === "account" ? "account" : "sub_account";
        const { available } = reply;
        const detail = `${scope}: ${amount} asked, ${available} available`;
        return fail(c, "quota_exhausted", detail, { scope, requested: amount, available });
      }
      case "conflict":
        return fail(c, "idempotency_conflict", "this Idempotency-Key was used with other arguments", {});
      case "unsafe":
        return refuse.unsafe(c);
      case "not_found":
        return fail(c, "not_found", "sub_account: the tenant has no such sub-account", {});
      case "absent":
        return noTenant(c);
    }
  });
