// Every error of the API: its code, status, title, and what else it says (RFC 9457, application/problem+json).
import { z } from "@hono/zod-openapi";
import type { Context, TypedResponse } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";

const field = z.object({ field: z.string(), message: z.string() });
const LOST_REASONS = ["expired", "released", "revoked", "mismatch", "unknown"] as const;
const HOLD_ENDS = ["settled", "voided", "expired"] as const;

const table = {
  invalid_request: [400, "The request is not valid", { errors: z.array(field) }],
  unauthenticated: [401, "No key, or a wrong one", {}],
  quota_exhausted: [
    402,
    "Funds do not suffice",
    { scope: z.enum(["debt", "sub_account", "account"]), requested: z.number(), available: z.number() },
  ],
  forbidden: [403, "The tenant or its sub-account is frozen", {}],
  not_found: [404, "Not found", {}],
  policy_conflict: [409, "What the request names contradicts itself or the state", {}],
  idempotency_conflict: [409, "The id was used with other arguments", {}],
  lease_lost: [409, "The lease is over", { reason: z.enum(LOST_REASONS) }],
  hold_closed: [
    409,
    "The hold has ended",
    { reason: z.enum(HOLD_ENDS), state: z.enum(HOLD_ENDS), charged: z.number() },
  ],
  too_large: [413, "The body is too large", { max_bytes: z.number() }],
  unsupported_media_type: [415, "The content type is not supported", {}],
  no_capacity: [
    429,
    "Everything that could serve is in use or cooling",
    { reasons: z.record(z.string(), z.number()), retry_after_seconds: z.number() },
  ],
  concurrency_limited: [
    429,
    "The sub-account has as many open holds as it may",
    { max_concurrent: z.number() },
  ],
  internal_error: [500, "A bug, or a stored value that cannot be read", {}],
  store_unavailable: [
    503,
    "Redis did not answer",
    { maybe_applied: z.boolean(), retry_after_seconds: z.number() },
  ],
  breaker_open: [503, "Upstream is failing; nothing was granted", { retry_after_seconds: z.number() }],
} as const satisfies Record<string, readonly [ContentfulStatusCode, string, Record<string, z.ZodType>]>;

export type Code = keyof typeof table;
type StatusOf<C extends Code> = (typeof table)[C][0];
/** An empty shape must stay exact, or any extra field would pass. */
type ExtraOf<C extends Code> = {
  [F in keyof (typeof table)[C][2]]: z.output<(typeof table)[C][2][F] & z.ZodType>;
};

export type ProblemOf<C extends Code> = C extends Code
  ? {
      type: string;
      title: string;
      status: StatusOf<C>;
      detail: string;
      code: C;
      request_id: string;
    } & ExtraOf<C>
  : never;

type WithStatus<C extends Code, S> = C extends Code ? (StatusOf<C> extends S ? C : never) : never;
type Problems<C extends Code> = {
  [S in StatusOf<C>]: {
    description: string;
    content: { "application/problem+json": { schema: z.ZodType<ProblemOf<WithStatus<C, S>>> } };
  };
};

const PROBLEM = "application/problem+json";
const pascal = (code: string) => code.replace(/(^|_)(\w)/g, (_, __, letter: string) => letter.toUpperCase());

const schemas = Object.fromEntries(
  Object.entries(table).map(([code, [status, title, extra]]) => [
    code,
    z
      .object({
        type: z.string(),
        title: z.literal(title),
        status: z.literal(status),
        detail: z.string(),
        code: z.literal(code),
        request_id: z.string(),
        ...extra,
      })
      .meta({ id: `${pascal(code)}Problem` }),
  ]),
);

/** What a route declares beside its answers, so that tsc refuses a `fail` with a code that is not among them. */
export function problems<C extends Code>(...codes: C[]): Problems<C> {
  const byStatus = Object.groupBy(codes, (code) => String(table[code][0]));
  const entries = Object.entries(byStatus).map(([status, list = []]) => {
    const [first, ...rest] = list.map((code) => schemas[code] as z.ZodType);
    const schema = first && rest.length > 0 ? z.union([first, ...rest]) : first;
    const description = list.map((code) => `\`${code}\`: ${table[code][1]}`).join(" · ");
    return [status, { description, content: { [PROBLEM]: { schema } } }];
  });
  return Object.fromEntries(entries);
}

/** What any route with a key and a body can answer. */
export const COMMON = [
  "invalid_request",
  "unauthenticated",
  "too_large",
  "unsupported_media_type",
  "internal_error",
  "store_unavailable",
] as const;

/** One problem a code, so that a handler that fails in two ways has a union of two answers. */
type Failure<C extends Code> = C extends Code
  ? Response & TypedResponse<ProblemOf<C>, StatusOf<C>, "json">
  : never;

/** Answers with a problem. `retry_after_seconds`, where the code has it, is the Retry-After header too. */
export function fail<C extends Code>(c: Context, code: C, detail: string, extra: ExtraOf<C>) {
  const [status, title] = table[code];
  const retry = (extra as { retry_after_seconds?: number }).retry_after_seconds;
  const body = {
    type: `/docs#${code}`,
    title,
    status,
    detail,
    code,
    request_id: c.get("requestId") ?? "",
    ...extra,
  };
  c.set("code", code);
  const response: Response = c.body(JSON.stringify(body), status, {
    "content-type": PROBLEM,
    "cache-control": "no-store",
    ...(retry === undefined ? {} : { "retry-after": String(retry) }),
  });
  return response as Failure<C>;
}

/** The table, for the documentation and its test. */
export const errorTable = Object.entries(table).map(([code, [status, title]]) => ({ code, status, title }));
