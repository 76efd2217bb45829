// Who may call: a key of a list, compared in constant time over digests. An internal key opens nothing of the
// administrator's, nor the reverse.
import { createHash, timingSafeEqual } from "node:crypto";
import { createMiddleware } from "hono/factory";
import type { App } from "./deps.ts";
import { fail } from "./errors.ts";

const digest = (key: string) => createHash("sha256").update(key).digest();

/** Looks at every key whatever the first ones say, so that the time tells nothing. */
export function admits(keys: readonly string[], given: string): boolean {
  const wanted = digest(given);
  let admitted = false;
  for (const key of keys) admitted = timingSafeEqual(digest(key), wanted) || admitted;
  return admitted && given !== "";
}

const bearer = (header: string | undefined) => /^Bearer +(\S+)$/i.exec(header ?? "")?.[1] ?? "";

type KeyList = "INTERNAL_KEYS" | "ADMIN_KEYS" | "METRICS_KEYS";

const authority = (
  list: KeyList,
  given: (header: (name: string) => string | undefined) => string,
  how: string,
) =>
  createMiddleware<App>(async (c, next) => {
    if (
      admits(
        c.var.deps.settings[list],
        given((name) => c.req.header(name)),
      )
    )
      return next();
    return fail(c, "unauthenticated", `this needs ${how}`, {});
  });

const withBearer = (list: KeyList) =>
  authority(list, (header) => bearer(header("authorization")), `Authorization: Bearer with a key of ${list}`);

export const internalKey = authority(
  "INTERNAL_KEYS",
  (header) => header("x-internal-key") ?? "",
  "X-Internal-Key with a key of INTERNAL_KEYS",
);
export const adminKey = withBearer("ADMIN_KEYS");
export const metricsKey = withBearer("METRICS_KEYS");
