// Tenants, sub-accounts and tokens on the wire and at rest.
import { z } from "@hono/zod-openapi";
import { id } from "../ids.ts";
import { amount } from "../units.ts";

const status = z
  .enum(["active", "frozen"])
  .meta({ description: "Frozen: no new holds; open ones end as ever." });
const cap = amount.nullable();

/** What is set of a tenant, with its defaults; the stored form. */
const streamHold = z.enum(["full", "growing"]).meta({
  description: "Whether a stream holds its whole output at once, or grows as it is delivered.",
});
const shadow = z.boolean().meta({
  description:
    "Gateway calls that lack funds or concurrency pass all the same, uncharged; the log and the metrics say so.",
});
const tenantSettings = {
  shadow: shadow.default(false),
  status: status.default("active"),
  stream_hold: streamHold.default("growing"),
};
const subSettings = {
  status: status.default("active"),
  borrow_cap: cap.default(null).meta({
    description: "The most that it may have drawn on the account; null: no cap, 0: nothing.",
  }),
  pool: id.default("default").meta({ description: "Which pool its gateway calls ask first." }),
  max_concurrent: z
    .int()
    .min(0)
    .max(1_000_000)
    .nullable()
    .default(null)
    .meta({ description: "Open holds at once; null: no limit, 0: none." }),
};

export const tenantConfig = z.object(tenantSettings);
export type TenantConfig = z.output<typeof tenantConfig>;
export const subConfig = z.object(subSettings);
export type SubConfig = z.output<typeof subConfig>;

export const newTenant = z.strictObject({ tenant: id, ...tenantSettings }).meta({ id: "NewTenant" });
export const newSubAccount = z
  .strictObject({ sub_account: id, ...subSettings })
  .meta({ id: "NewSubAccount" });

const some = <T extends z.ZodObject>(shape: T) =>
  shape.refine((change) => Object.keys(change).length > 0, "at least one field");
export const tenantPatch = some(z.strictObject({ status, stream_hold: streamHold, shadow }).partial()).meta({
  id: "TenantPatch",
});
export type TenantPatch = z.output<typeof tenantPatch>;
export const subPatch = some(
  z
    .strictObject({
      status,
      borrow_cap: cap,
      pool: id,
      max_concurrent: z.int().min(0).max(1_000_000).nullable(),
    })
    .partial(),
).meta({ id: "SubAccountPatch" });
export type SubPatch = z.output<typeof subPatch>;

const number = z.number();
const amounts = { available: number, held: number, spent: number, lapsed: number };
export const accountView = z.object(amounts).meta({
  id: "Account",
  description: "available + held + spent + lapsed is what was put in less what was taken out.",
});
export const tenantView = z
  .object({
    tenant: z.string(),
    status,
    stream_hold: streamHold,
    shadow: z.boolean(),
    account: accountView,
    sub_accounts: number,
    open_holds: number,
    counters: z
      .object({ reserved: number, refused: number })
      .meta({ description: "Holds opened and refused since the tenant was first made." }),
  })
  .meta({ id: "Tenant" });
export type TenantView = z.output<typeof tenantView>;

export const subView = z
  .object({
    sub_account: z.string(),
    status,
    borrow_cap: number.nullable(),
    pool: z.string(),
    max_concurrent: number.nullable(),
    ...amounts,
    debt: number.meta({ description: "What was used beyond all funds; whatever comes in pays it first." }),
    borrowed: number.meta({ description: "Drawn on the account and not come back." }),
    in_flight: number.meta({ description: "Open holds." }),
  })
  .meta({ id: "SubAccount" });
export type SubView = z.output<typeof subView>;

export const tenantPath = z.object({ tenant: id });
export const subPath = z.object({ tenant: id, sub_account: id });
export const tokenPath = z.object({ tenant: id, sub_account: id, token_id: id });

export const newToken = z
  .strictObject({
    name: z
      .string()
      .trim()
      .regex(/^[^\p{C}\p{Zl}\p{Zp}]{1,64}$/u, "1 to 64 printable characters")
      .meta({ description: "For the operator's eyes; no two of a sub-account have the same." }),
  })
  .meta({ id: "NewToken" });
export const tokenView = z
  .object({ token_id: z.string(), name: z.string(), created_at: z.string() })
  .meta({ id: "Token" });
export const tokenMade = z
  .object({
    token_id: z.string(),
    name: z.string(),
    created_at: z.string(),
    token: z.string().meta({ description: "Shown this once: only its SHA-256 is kept." }),
  })
  .meta({ id: "TokenMade" });
