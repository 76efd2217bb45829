// Up to 1,000 credentials in one request, each answered by itself.
import type { Deps } from "../deps.ts";
import { fieldErrors } from "../http.ts";
import { StoreUnavailable } from "../store.ts";
import { putCredential } from "./credentials.ts";
import { type Mark, markCredential } from "./operate.ts";
import { credentialName, type MarkResult, newCredential, type PutResult } from "./schema.ts";

/** Requests that a Worker may have waiting for an answer at one time. */
const PARALLEL = 6;

const said = (item: unknown, field: string) => {
  const value =
    typeof item === "object" && item !== null ? (item as Record<string, unknown>)[field] : undefined;
  return typeof value === "string" ? value.slice(0, 64) : "";
};

/** Answers in the order of the request. A credential that stands twice is taken once, since its answers would race. */
async function each<R>(
  items: readonly unknown[],
  refuse: (key_id: string, code: string, detail: string) => R,
  work: (item: unknown, key_id: string) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const seen = new Set<string>();
  const queue = items.map((item, i) => {
    const name = `${said(item, "provider")}:${said(item, "key_id")}`;
    const repeated = seen.has(name);
    seen.add(name);
    return { item, i, repeated };
  });
  const worker = async () => {
    for (let next = queue.shift(); next; next = queue.shift()) {
      const key_id = said(next.item, "key_id");
      results[next.i] = next.repeated
        ? refuse(key_id, "invalid_request", "key_id: it stands twice")
        : await work(next.item, key_id).catch((error: unknown) => {
            if (!(error instanceof StoreUnavailable)) throw error;
            const again = error.maybe_applied ? "it may have happened" : "the store did not answer";
            return refuse(key_id, "store_unavailable", `${again}: send it again`);
          });
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, worker));
  return results;
}

const invalidText = (issues: Parameters<typeof fieldErrors>[0]) =>
  fieldErrors(issues, "credential")
    .map(({ field, message }) => `${field}: ${message}`)
    .join("; ")
    .slice(0, 500);

export function putMany(deps: Deps, items: readonly unknown[]): Promise<PutResult[]> {
  const refuse = (key_id: string, code: string, detail: string): PutResult => ({
    key_id,
    result: "refused",
    error: { code, detail },
  });
  return each(items, refuse, async (item, key_id) => {
    const parsed = newCredential.safeParse(item);
    if (!parsed.success) return refuse(key_id, "invalid_request", invalidText(parsed.error.issues));
    const result = await putCredential(deps, parsed.data);
    if (typeof result === "string") return { key_id, result };
    return refuse(key_id, result.code, `${result.field}: ${result.message}`);
  });
}

export function markMany(deps: Deps, items: readonly unknown[], status: Mark): Promise<MarkResult[]> {
  const refuse = (key_id: string, code: string, detail: string): MarkResult => ({
    key_id,
    result: "refused",
    error: { code, detail },
  });
  return each(items, refuse, async (item, key_id) => {
    const parsed = credentialName.safeParse(item);
    if (!parsed.success) return refuse(key_id, "invalid_request", invalidText(parsed.error.issues));
    const reply = await markCredential(deps, parsed.data, status);
    if (!reply) return refuse(key_id, "not_found", "there is no such credential in that pool");
    const done = status === "available" ? "enabled" : "disabled";
    return { key_id, result: reply.changed ? done : "unchanged", leases_going_on: reply.leases_going_on };
  });
}
