// Leases on the wire.
import { z } from "@hono/zod-openapi";
import { id } from "../ids.ts";
import { model } from "../pools/schema.ts";
import { OUTCOMES } from "../scripts/lease/release.ts";
import { LOST } from "../scripts/lease/renew.ts";

export const leaseSeconds = z.int().min(1).max(3600);

export const allocateBody = z
  .strictObject({
    provider: id,
    model,
    pool: id.default("default"),
    lease_seconds: leaseSeconds.optional(),
    holder: id.optional().meta({ description: "Who will hold it, for the operator's eyes." }),
    op_id: id
      .optional()
      .meta({ description: "Makes a repeat answer the same lease; unique for provider, pool and holder." }),
    affinity_key: z
      .string()
      .min(1)
      .max(256)
      .optional()
      .meta({ description: "The same key, the same credential." }),
  })
  .meta({ id: "Allocate" });
export type AllocateBody = z.output<typeof allocateBody>;

export const leaseView = z
  .object({
    key_id: z.string(),
    lease_id: z.string(),
    provider: z.string(),
    pool: z.string(),
    fallback: z.boolean(),
    provider_model: z.string(),
    credential: z
      .record(z.string(), z.unknown())
      .meta({ description: "What goes upstream: `{ api_key }`, `{ access_token }`, or a session's JSON." }),
    base_url: z.string().nullable(),
    fence: z.number(),
    expires_at: z.string(),
    expires_in_seconds: z.number(),
    renewable: z.boolean(),
    max_expires_at: z.string(),
  })
  .meta({ id: "Lease" });
export type LeaseView = z.output<typeof leaseView>;

export const leasePath = z.object({ lease_id: id });

/** Whose lease it is: all four must fit together. `pool` is the pool it was granted from. */
const as_granted = { description: "As the lease named it." };
const held = {
  key_id: id.meta(as_granted),
  provider: id.meta(as_granted),
  pool: id.default("default").meta(as_granted),
};

export const renewBody = z.strictObject({ ...held, lease_seconds: leaseSeconds }).meta({ id: "Renew" });
export const renewed = z
  .object({
    lease_id: z.string(),
    expires_at: z.string(),
    expires_in_seconds: z.number(),
    renewable: z.boolean(),
    max_expires_at: z.string(),
  })
  .meta({ id: "Renewed" });

const header = z.string().max(256);
export const outcome = z
  .strictObject({
    kind: z.enum(OUTCOMES),
    http_status: z.int().min(100).max(599).optional(),
    retry_after: header.optional().meta({ description: "The Retry-After header as received." }),
    date: header.optional().meta({ description: "The Date header of the same response." }),
    latency_ms: z.int().min(0).max(86_400_000).optional(),
  })
  .meta({ id: "Outcome" });

export const releaseBody = z.strictObject({ ...held, outcome: outcome.optional() }).meta({ id: "Release" });
export const released = z
  .discriminatedUnion("released", [
    z.object({ released: z.literal(true) }),
    z.object({ released: z.literal(false), reason: z.enum(LOST) }),
  ])
  .meta({ id: "Released" });
