// /v1: the gateway. An unchanged SDK of either dialect is pointed at it, and every call is admitted, metered and settled.

import type { Context } from "hono";
import { bodyLimit } from "hono/body-limit";
import { admits } from "../authority.ts";
import { resolve } from "../catalog/catalog.ts";
import type { App } from "../deps.ts";
import { onError, router } from "../http.ts";
import { mint } from "../ids.ts";
import { log } from "../log.ts";
import { StoreUnavailable } from "../store.ts";
import { answer, NO_TOKEN, problem } from "./answer.ts";
import { type Caller, tokenOf } from "./caller.ts";
import type { Dialect } from "./meter/dialect.ts";
import { modelsOf } from "./models.ts";
import { readCountRequest, readRequest } from "./request.ts";
import { serve } from "./serve.ts";
import { Trail } from "./trail.ts";
import type { UpstreamPath } from "./upstream-url.ts";

const RETRY_SECONDS = 1;

/** Outages and bugs in the dialect's shape; nothing of an error's own text goes to the caller. */
async function failed(c: Context<App>, dialect: Dialect, error: unknown): Promise<Response> {
  if (error instanceof RangeError)
    return problem(c, dialect, {
      code: "invalid_request",
      message: "the call could cost more than can be counted",
    });
  if (!(error instanceof StoreUnavailable)) {
    await onError(error as Error, c); // for its line in the log
    return problem(c, dialect, { code: "internal_error", message: "an internal error" });
  }
  const { reason, maybe_applied } = error;
  c.var.deps.metrics.count("qm_store_unavailable_total", { reason });
  log("error", "store_unavailable", { request_id: c.var.requestId, reason, maybe_applied });
  return problem(c, dialect, {
    code: "store_unavailable",
    message: "the store did not answer; nothing was sent upstream",
    retry_after_seconds: RETRY_SECONDS,
  });
}

const WAIT = /^(\d{1,4}|10000)$/;
const AFFINITY = /^[\x20-\x7e]{1,256}$/;

/** Which header of ours is not valid. */
function headerFault({ req }: Context<App>): string | undefined {
  const [wait, affinity] = [req.header("x-qm-wait-ms"), req.header("x-qm-affinity")];
  if (wait !== undefined && !WAIT.test(wait)) return "x-qm-wait-ms: 0 to 10000";
  if (affinity !== undefined && !AFFINITY.test(affinity))
    return "x-qm-affinity: 1 to 256 printable characters";
  return undefined;
}

async function call(
  c: Context<App>,
  dialect: Dialect,
  path: UpstreamPath,
  caller: Caller,
): Promise<Response> {
  const { deps, requestId: request_id } = c.var;
  const fault = headerFault(c);
  if (fault) return problem(c, dialect, { code: "invalid_request", message: fault });
  const free = path === "/v1/messages/count_tokens";
  const text = await c.req.text();
  const request = free ? readCountRequest(text) : readRequest(dialect, text);
  if ("message" in request) {
    const { field, message } = request;
    return problem(c, dialect, { code: "invalid_request", message: `${field}: ${message}`, param: field });
  }
  const resolved = resolve(await deps.catalogs.get(deps), request.model);
  if (!resolved)
    return problem(c, dialect, { code: "model_not_found", message: "no such model", param: "model" });
  const trail = new Trail();
  const call_id = mint("call");
  const served = await serve({
    ...{ deps, caller, call_id, request_id, dialect, path, text, request, resolved, free, trail },
    headers: c.req.raw.headers,
    signal: c.req.raw.signal,
    affinity_key: c.req.header("x-qm-affinity"),
    wait_ms: Number(c.req.header("x-qm-wait-ms") ?? 0),
  });
  const [last] = trail.attempts.slice(-1);
  const { tenant, sub_account } = caller;
  const at = served.kind === "relayed" ? served.admission : undefined;
  c.set("ids", {
    ...{ tenant, sub_account, call_id },
    ...(at ? { provider: at.route.provider, pool: at.lease.pool, key_id: at.lease.grant.credential } : {}),
    ...(!at && last ? { provider: last.provider, pool: last.pool, key_id: last.key_id } : {}),
  });
  const shows_key = admits(deps.settings.INTERNAL_KEYS, c.req.header("x-internal-key") ?? "");
  return answer(c, dialect, served, shows_key);
}

const handler = (dialect: Dialect, path: UpstreamPath) => async (c: Context<App>) => {
  try {
    const caller = await c.var.deps.callers.get(c.var.deps, tokenOf(c.req.raw.headers));
    if (!caller) return problem(c, dialect, { code: "unauthenticated", message: NO_TOKEN });
    const answered = call(c, dialect, path, caller);
    // A caller who leaves would end this request's work without a word, and its hold would wait for its deadline.
    c.var.deps.background(answered);
    return await answered;
  } catch (error) {
    return failed(c, dialect, error);
  }
};

const limited = (dialect: Dialect) => async (c: Context<App>, next: () => Promise<void>) => {
  const maxSize = c.var.deps.settings.MAX_BODY_BYTES;
  const message = `a body has at most ${maxSize} bytes`;
  return bodyLimit({ maxSize, onError: () => problem(c, dialect, { code: "too_large", message }) })(c, next);
};

const ROUTES: readonly (readonly [UpstreamPath, Dialect])[] = [
  ["/v1/chat/completions", "openai_chat"],
  ["/v1/responses", "openai_responses"],
  ["/v1/embeddings", "openai_embeddings"],
  ["/v1/messages", "anthropic_messages"],
  ["/v1/messages/count_tokens", "anthropic_messages"],
];

export const gateway = router();
for (const [path, dialect] of ROUTES) gateway.post(path, limited(dialect), handler(dialect, path));

gateway.get("/v1/models", async (c) => {
  try {
    const { deps } = c.var;
    const caller = await deps.callers.get(deps, tokenOf(c.req.raw.headers), true);
    if (!caller) return problem(c, "openai_chat", { code: "unauthenticated", message: NO_TOKEN });
    const headers = { "x-qm-request-id": c.var.requestId };
    return c.json(modelsOf(await deps.catalogs.get(deps)), 200, headers);
  } catch (error) {
    return failed(c, "openai_chat", error);
  }
});

gateway.all("/v1/*", (c) => {
  const dialect = c.req.header("anthropic-version") ? "anthropic_messages" : "openai_chat";
  return problem(c, dialect, { code: "not_found", message: "no such route" });
});
