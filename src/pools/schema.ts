// Credentials on the wire and at rest.
import { z } from "@hono/zod-openapi";
import { id } from "../ids.ts";
import { OUTCOMES } from "../scripts/lease/release.ts";

export { OUTCOMES };

/** A model's name: free text, trimmed once, before anything counts it. */
export const model = z
  .string()
  .trim()
  .regex(/^[^\p{C}\p{Zl}\p{Zp}]{1,128}$/u, "1 to 128 printable characters");

/** What goes into a header: no white space, no control characters. */
const headerText = z.string().regex(/^[\x21-\x7e]{1,4096}$/, "1 to 4096 printable characters without spaces");

/** What goes into a form. */
const formText = z.string().regex(/^[\x20-\x7e]{1,1024}$/, "1 to 1024 printable characters");

const SECRET_BYTES = 16_384;
export const secrets = {
  api_key: z.strictObject({ api_key: headerText }),
  oauth: z
    .strictObject({
      access_token: headerText,
      refresh_token: headerText.optional(),
      expires_at: z.iso.datetime({ offset: true }).optional(),
      token_url: z
        .string()
        .max(512)
        .optional()
        .meta({ description: "Where it is refreshed before it ends (RFC 6749, section 6)." }),
      client_id: formText.optional(),
      client_secret: formText.optional(),
    })
    .refine(
      ({ token_url, refresh_token, client_id }) => !token_url || (refresh_token && client_id),
      "token_url needs a refresh_token and a client_id",
    ),
  session: z
    .record(z.string(), z.unknown())
    .refine((secret) => JSON.stringify(secret).length <= SECRET_BYTES, `at most ${SECRET_BYTES} bytes`),
};

const common = {
  key_id: id,
  provider: id,
  pool: id.default("default"),
  max_concurrent_uses: z
    .int()
    .min(1)
    .max(10_000)
    .meta({ description: "How many leases it may carry at once." }),
  models: z
    .union([z.tuple([z.literal("*")]), z.record(model, model)], {
      error: '["*"], or an object { "public name": "name upstream" } of 1 to 128 printable characters each',
    })
    .refine(
      (models) => Object.keys(models).length >= 1 && Object.keys(models).length <= 200,
      "1 to 200 models",
    )
    .meta({ description: 'Public name to upstream\'s name, or ["*"] for any.' }),
  base_url: z.string().max(512).optional(),
  weight: z.number().min(0.001).max(1000).optional(),
  status: z
    .enum(["available", "pending", "disabled"])
    .optional()
    .meta({ description: "Of a new credential." }),
};

export const newCredential = z
  .discriminatedUnion("kind", [
    z.strictObject({ ...common, kind: z.literal("api_key"), secret: secrets.api_key }),
    z.strictObject({ ...common, kind: z.literal("oauth"), secret: secrets.oauth }),
    z.strictObject({ ...common, kind: z.literal("session"), secret: secrets.session }),
  ])
  .meta({ id: "NewCredential" });
export type NewCredential = z.output<typeof newCredential>;

/** A change of some fields; what is not named stays, and a null `base_url` is taken away. */
export const credentialPatch = z
  .strictObject({
    secret: z.record(z.string(), z.unknown()),
    max_concurrent_uses: common.max_concurrent_uses,
    models: common.models,
    base_url: z.string().min(1).max(512).nullable(),
    weight: z.number().min(0.001).max(1000),
  })
  .partial()
  .refine((change) => Object.keys(change).length > 0, "at least one field")
  .meta({ id: "CredentialPatch" });
export type CredentialPatch = z.output<typeof credentialPatch>;

export const credentialPath = z.object({ provider: id, pool: id, key_id: id });

export const credentialName = z.strictObject({ provider: id, pool: id.default("default"), key_id: id });
export type CredentialName = z.output<typeof credentialName>;

/** What is stored of a credential beside its secret and its state. */
export const credentialConfig = z.object({
  kind: z.enum(["api_key", "oauth", "session"]),
  models: z.union([z.tuple([z.literal("*")]), z.record(z.string(), z.string())]),
  base_url: z.string().optional(),
  weight: z.number().optional(),
  /** Of an OAuth access token: no lease outlives it. */
  token_expires_at_ms: z.number().optional(),
  /** Of an OAuth credential: its secret says where and with what it is refreshed. */
  refreshes: z.literal(true).optional(),
});
export type CredentialConfig = z.output<typeof credentialConfig>;

export const STATUSES = [
  "pending",
  "available",
  "rate_limited",
  "cooling",
  "exhausted",
  "auth_failed",
  "disabled",
] as const;

export const credentialView = z
  .object({
    key_id: z.string(),
    provider: z.string(),
    pool: z.string(),
    kind: z.enum(["api_key", "oauth", "session"]),
    models: z.union([z.tuple([z.literal("*")]), z.record(z.string(), z.string())]),
    base_url: z.string().nullable(),
    weight: z.number(),
    token_expires_at: z.string().nullable(),
    max_concurrent_uses: z.number(),
    fingerprint: z.string().meta({ description: "Of the secret, which is never shown." }),
    status: z.enum(STATUSES),
    until: z.string().nullable().meta({ description: "When a bench ends; null without a deadline." }),
    in_flight: z.number(),
    success_rate: z
      .number()
      .nullable()
      .meta({ description: "0 to 1, smoothed over about 16 calls; null before the first." }),
    errors_in_a_row: z.number(),
    last_used_at: z.string().nullable(),
    verified_at: z.string().nullable().meta({ description: "When a probe last saw it working." }),
  })
  .meta({ id: "Credential" });
export type CredentialView = z.output<typeof credentialView>;

export const leaseOfCredential = z
  .object({
    lease_id: z.string(),
    holder: z.string().nullable(),
    fence: z.number(),
    granted_at: z.string(),
    age_seconds: z.number(),
    expires_at: z.string(),
    overdue: z.boolean().meta({ description: "Its term has passed; its unit comes back when it is needed." }),
  })
  .meta({ id: "LeaseOfCredential" });
export type LeaseOfCredential = z.output<typeof leaseOfCredential>;

export const markResult = z
  .object({
    key_id: z.string(),
    result: z.enum(["enabled", "disabled", "unchanged", "refused"]),
    leases_going_on: z.number().optional(),
    error: z.object({ code: z.string(), detail: z.string() }).optional(),
  })
  .meta({ id: "MarkResult" });
export type MarkResult = z.output<typeof markResult>;

export const putResult = z
  .object({
    key_id: z.string(),
    result: z.enum(["created", "updated", "unchanged", "refused"]),
    error: z.object({ code: z.string(), detail: z.string() }).optional(),
  })
  .meta({ id: "PutResult" });
export type PutResult = z.output<typeof putResult>;
