// What the caller of the gateway gets: upstream's answer, or an error in the shape of its dialect.
import type { Context } from "hono";
import type { CallRefusal } from "../calls/question.ts";
import type { App } from "../deps.ts";
import type { Refusal } from "../leases/allocate.ts";
import { retrySeconds } from "../units.ts";
import { redacted } from "./auth.ts";
import type { Failure, Served } from "./call.ts";
import { dialectError, type GatewayError } from "./dialect-error.ts";
import { callerHeaders } from "./headers.ts";
import type { Dialect } from "./meter/dialect.ts";

type Problem = Omit<GatewayError, "request_id">;

/** The request's id, under our name and under the one that the dialect's SDKs read. */
const idHeaders = ({ var: { requestId } }: Context<App>, dialect: Dialect): [name: string, id: string][] => [
  ["x-qm-request-id", requestId],
  ["x-request-id", requestId],
  ...(dialect === "anthropic_messages" ? [["request-id", requestId] as [string, string]] : []),
];

/** An error of our own; its code goes into the log and the metrics. */
export function problem(c: Context<App>, dialect: Dialect, error: Problem): Response {
  const { status, headers, body } = dialectError(dialect, { ...error, request_id: c.var.requestId });
  c.set("code", error.code);
  return new Response(body, {
    status,
    headers: { ...headers, ...Object.fromEntries(idHeaders(c, dialect)) },
  });
}

const SCOPES = {
  debt: "the account owes what it used before",
  sub_account: "its funds and its borrow cap do not suffice",
  account: "its funds do not suffice",
} as const;

function ofTenant(refusal: CallRefusal): Problem {
  switch (refusal.kind) {
    case "exhausted": {
      const { scope, requested, available } = refusal;
      const message = `quota exhausted (${scope}): ${SCOPES[scope]}; ${requested} asked, ${available} available`;
      return { code: "quota_exhausted", message };
    }
    case "frozen":
      return { code: "forbidden", message: `the ${refusal.what.replace("_", "-")} is frozen` };
    case "concurrency_limited":
      return {
        code: "concurrency_limited",
        message: `${refusal.max_concurrent} calls are open, as many as may be`,
        retry_after_seconds: 1,
      };
    case "unauthenticated":
    case "not_found":
    case "absent":
      return { code: "unauthenticated", message: NO_TOKEN };
    case "closed": // what came back of a first attempt paid a debt, and so ended the call
      return { code: "upstream_error", message: "the first attempt failed; nothing was charged" };
  }
}

export const NO_TOKEN = "no such token";

/** A unit that is in use may come back at any moment: its term's end, minutes away, is the latest of them. */
const BUSY_MS = 5_000;

function ofPools(refusal: Exclude<Refusal<CallRefusal>, { kind: "refused" }>): Problem {
  switch (refusal.kind) {
    case "no_capacity": {
      const reasons = Object.entries(refusal.reasons).map(([reason, count]) => `${reason} ${count}`);
      const message = `no capacity: ${reasons.join(", ") || "nothing serves the model"}`;
      const due_in_ms =
        refusal.reasons.full || refusal.reasons.reserved
          ? Math.min(refusal.due_in_ms, BUSY_MS)
          : refusal.due_in_ms;
      return { code: "no_capacity", message, retry_after_seconds: retrySeconds(due_in_ms) };
    }
    case "breaker_open":
      return {
        code: "breaker_open",
        message: "the upstream is failing; nothing was charged",
        retry_after_seconds: retrySeconds(refusal.due_in_ms),
      };
    case "not_found":
    case "policy_conflict":
      return { code: "model_not_found", message: "nothing serves that model", param: "model" };
    case "lease_lost":
    case "conflict":
      throw new Error("a new call that was asked before");
  }
}

/** The request's own fault goes through as upstream says it; a fault of a credential is not the caller's to see. */
function ofUpstream(c: Context<App>, dialect: Dialect, failure: Failure, final: boolean): Response {
  const { status, headers, body, verdict, why, secret } = failure;
  if (verdict.code === "model_not_found")
    return problem(c, dialect, {
      code: "model_not_found",
      message: "the upstream has no such model",
      param: "model",
    });
  if (final && why === "answer" && verdict.outcome === "client_error" && status !== 401 && body !== "") {
    c.set("code", "upstream_error");
    const own = callerHeaders(headers);
    for (const [name, id] of idHeaders(c, dialect)) own.set(name, id);
    return new Response(redacted(body, secret), { status, headers: own });
  }
  if (why === "timeout")
    return problem(c, dialect, { code: "upstream_timeout", message: "the upstream did not answer in time" });
  const wait = verdict.retry_after_ms;
  return problem(c, dialect, {
    code: "upstream_error",
    message: `the upstream failed (${why === "answer" ? status : why}); nothing was charged`,
    status,
    ...(wait === undefined ? {} : { retry_after_seconds: retrySeconds(wait) }),
  });
}

export function answer(c: Context<App>, dialect: Dialect, served: Served, shows_key: boolean): Response {
  switch (served.kind) {
    case "relayed": {
      const headers = callerHeaders(served.response.headers);
      for (const [name, id] of idHeaders(c, dialect)) headers.set(name, id);
      if (shows_key) headers.set("x-qm-key-id", served.admission.lease.grant.credential);
      return new Response(served.relay.body, { status: served.response.status, headers });
    }
    case "failed":
      return ofUpstream(c, dialect, served.failure, served.final);
    case "refused": {
      const { refusal } = served;
      return problem(c, dialect, refusal.kind === "refused" ? ofTenant(refusal.refusal) : ofPools(refusal));
    }
    case "no_ceiling":
      return problem(c, dialect, {
        code: "invalid_request",
        message: "max_tokens: is required, since the catalog has no ceiling for this model",
        param: "max_tokens",
      });
  }
}
