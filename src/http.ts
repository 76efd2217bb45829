// What all routes share: a router that answers problems, JSON replies, and what wraps every request.
import { OpenAPIHono, z } from "@hono/zod-openapi";
import type { Context, ErrorHandler, TypedResponse } from "hono";
import { bodyLimit } from "hono/body-limit";
import { createMiddleware } from "hono/factory";
import { HTTPException } from "hono/http-exception";
import { routePath } from "hono/route";
import type { JSONParsed } from "hono/utils/types";
import { type App, depsOfContext } from "./deps.ts";
import { SettingsError } from "./env.ts";
import { fail } from "./errors.ts";
import { log } from "./log.ts";
import { ScriptFault, StoreUnavailable } from "./store.ts";

type Issue = z.core.$ZodIssue;

/** A field that is missing is said so, whatever it should have been. */
z.config({
  customError: (issue) =>
    issue.code === "invalid_type" && issue.input === undefined ? "is required" : undefined,
});

/** The message of a union that was given none of its own. */
const UNSAID = "Invalid input";

const isUnknownField = (issue: Issue) => issue.code === "unrecognized_keys" && issue.path.length === 0;

/** Where and why, one by one. Of a union the branch that was meant: the first without fields that it does not know. */
function explain(issue: Issue, path: PropertyKey[]): { field: string; message: string }[] {
  const at = [...path, ...issue.path];
  if (issue.code === "invalid_union" && issue.errors.length > 0 && issue.message === UNSAID) {
    const meant = issue.errors.find((branch) => !branch.some(isUnknownField)) ?? issue.errors.at(-1) ?? [];
    return meant.flatMap((inner) => explain(inner, at));
  }
  if (issue.code !== "unrecognized_keys")
    return [{ field: at.map(String).join("."), message: issue.message }];
  return issue.keys.map((key) => ({ field: [...at, key].map(String).join("."), message: "no such field" }));
}

/** What can be said of an input that a schema refuses. The input itself is not repeated. */
export const fieldErrors = (issues: readonly Issue[], where: string) =>
  issues
    .flatMap((issue) => explain(issue, []))
    .slice(0, 20)
    .map(({ field, message }) => ({ field: (field || where).slice(0, 200), message }));

function invalid(c: Context, issues: readonly Issue[], target: string) {
  const errors = fieldErrors(issues, target === "json" ? "body" : target);
  const detail = errors.map(({ field, message }) => `${field}: ${message}`).join("; ");
  return fail(c, "invalid_request", detail.slice(0, 2000), { errors });
}

/** A router whose validation answers `invalid_request`. */
export const router = () =>
  new OpenAPIHono<App>({
    defaultHook: (result, c) => (result.success ? undefined : invalid(c, result.error.issues, result.target)),
  });

/** A JSON reply of a route. */
export const json = <T extends z.ZodType>(schema: T, description: string) => ({
  description,
  content: { "application/json": { schema } },
});

/** A JSON reply that is text already, with what must not pass through a parser. */
export function jsonText<T extends z.ZodType>(c: Context, text: string) {
  const response: Response = c.body(text, 200, { "content-type": "application/json" });
  return response as Response & TypedResponse<JSONParsed<z.output<T>>, 200, "json">;
}

/** A JSON body that must be there. */
export const body = <T extends z.ZodType>(schema: T) => ({
  body: { content: { "application/json": { schema } }, required: true },
});

/** The query of a list: how many, and where the page before ended. */
export const page = {
  limit: z
    .string()
    .regex(/^([1-9]\d{0,2}|1000)$/, "1 to 1000")
    .default("100")
    .transform(Number),
  cursor: z.string().max(200).optional(),
};

/** Takes NDJSON as if it were JSON `{ <field>: [line, …] }`; a line that is not JSON becomes an item that no schema takes. */
export const ndjson = (field: string) =>
  createMiddleware<App>(async (c, next) => {
    if (!/^application\/(x-)?ndjson\b/.test(c.req.header("content-type") ?? "")) return next();
    const lines = (await c.req.raw.text()).split("\n").filter((line) => line.trim() !== "");
    const items = lines.map((line): unknown => {
      try {
        return JSON.parse(line);
      } catch {
        return "not JSON";
      }
    });
    const headers = new Headers(c.req.raw.headers);
    headers.set("content-type", "application/json");
    c.req.raw = new Request(c.req.raw.url, {
      method: "POST",
      headers,
      body: JSON.stringify({ [field]: items }),
    });
    return next();
  });

export const API_BODY_BYTES = 1_048_576;
/** A whole price map. */
export const IMPORT_BODY_BYTES = 10_485_760;

export const limitBody = (max_bytes: number) =>
  bodyLimit({
    maxSize: max_bytes,
    onError: (c) => fail(c, "too_large", `a body has at most ${max_bytes} bytes`, { max_bytes }),
  });

export const withDeps = createMiddleware<App>(async (c, next) => {
  c.set("deps", depsOfContext(c));
  return next();
});

/** One line and one count a request. */
export const observed = createMiddleware<App>(async (c, next) => {
  const started_at_ms = Date.now();
  await next();
  const route = routePath(c, -1);
  const { status } = c.res;
  const { code } = c.var;
  c.var.deps?.metrics.count("qm_requests_total", { route, status });
  if (code) c.var.deps?.metrics.count("qm_refusals_total", { code });
  const ms = Date.now() - started_at_ms;
  log(levelOf(status, code), "request", {
    request_id: c.var.requestId,
    method: c.req.method,
    route,
    status,
    code,
    ms,
    ...c.var.ids,
  });
});

/** An open breaker is upstream's trouble, not ours. */
const levelOf = (status: number, code: string | undefined) =>
  status < 500 ? "info" : code === "breaker_open" ? "warn" : "error";

const RETRY_SECONDS = 1;

/** Outages and bugs. Nothing of an error's own text goes to the caller. */
export const onError: ErrorHandler<App> = (error, c) => {
  if (error instanceof StoreUnavailable) {
    const { reason, maybe_applied } = error;
    c.var.deps?.metrics.count("qm_store_unavailable_total", { reason });
    log("error", "store_unavailable", { request_id: c.var.requestId, reason, maybe_applied });
    const detail = error.detail ?? (maybe_applied ? MAYBE_APPLIED : "the store did not answer");
    return fail(c, "store_unavailable", detail, { maybe_applied, retry_after_seconds: RETRY_SECONDS });
  }
  if (error instanceof HTTPException && error.status === 400) {
    return fail(c, "invalid_request", "body: not JSON", { errors: [{ field: "body", message: "not JSON" }] });
  }
  if (error instanceof HTTPException && error.status === 415) {
    return fail(c, "unsupported_media_type", "the content type must be application/json", {});
  }
  const kind = error instanceof ScriptFault ? "script" : error.name;
  const settings = error instanceof SettingsError;
  log("error", "internal_error", {
    request_id: c.var.requestId,
    kind,
    at: settings ? error.message : frames(error),
  });
  return fail(c, "internal_error", settings ? error.message : "an internal error; nothing was changed", {});
};

const MAYBE_APPLIED = "the store did not answer and the change may have happened: repeat it with the same id";

/** Where an error was thrown, without its message, which may repeat what a caller sent. */
const frames = (error: Error) =>
  (error.stack ?? "")
    .split("\n")
    .filter((line) => /^\s+at /.test(line))
    .slice(0, 4)
    .map((line) => line.trim())
    .join(" < ");
