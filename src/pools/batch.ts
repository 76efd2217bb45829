// Up to 1,000 credentials in one request, each answered by itself.
import type { z } from "zod";
import type { Deps } from "../deps.ts";
import { fieldErrors } from "../http.ts";
import { StoreUnavailable } from "../store.ts";
import { putCredentials } from "./credentials.ts";
import { type Mark, markCredentials } from "./operate.ts";
import { credentialName, type MarkResult, newCredential, type PutResult } from "./schema.ts";

/** Scripts in one round trip: some milliseconds of Redis, so that other callers need not wait long. */
const CHUNK = 50;

type Refusal = { key_id: string; result: "refused"; error: { code: string; detail: string } };

const refuse = (key_id: string, code: string, detail: string): Refusal => ({
  key_id,
  result: "refused",
  error: { code, detail },
});

const said = (item: unknown, field: string) => {
  const value =
    typeof item === "object" && item !== null ? (item as Record<string, unknown>)[field] : undefined;
  return typeof value === "string" ? value.slice(0, 64) : "";
};

/** What became of an item that met an outage: it may be sent again. */
function outage(key_id: string, error: unknown): Refusal {
  if (!(error instanceof StoreUnavailable)) return refuse(key_id, "internal_error", "nothing was changed");
  const why = error.maybe_applied ? "it may have happened" : "the store did not answer";
  return refuse(key_id, "store_unavailable", `${why}: send it again`);
}

/** Checks every item by itself, works on the good ones in chunks, and answers in the order of the request. */
async function each<T extends { key_id: string; provider: string }, R>(
  items: readonly unknown[],
  schema: z.ZodType<T>,
  work: (chunk: readonly T[]) => Promise<(R | Error)[]>,
): Promise<(R | Refusal)[]> {
  const seen = new Set<string>();
  const good: { item: T; i: number }[] = [];
  const results = items.map((item, i): R | Refusal => {
    const parsed = schema.safeParse(item);
    const key_id = said(item, "key_id");
    if (!parsed.success) return refuse(key_id, "invalid_request", invalidText(parsed.error.issues));
    const name = `${parsed.data.provider}:${key_id}`;
    if (seen.has(name)) return refuse(key_id, "invalid_request", "key_id: it stands twice");
    seen.add(name);
    good.push({ item: parsed.data, i });
    return refuse(key_id, "store_unavailable", "send it again");
  });
  for (let from = 0; from < good.length; from += CHUNK) {
    const chunk = good.slice(from, from + CHUNK);
    const answers = await work(chunk.map(({ item }) => item)).catch((error: unknown) =>
      chunk.map(() => error),
    );
    for (const [n, { item, i }] of chunk.entries()) {
      const answer = answers[n];
      results[i] = answer instanceof Error ? outage(item.key_id, answer) : (answer as R);
    }
  }
  return results;
}

const invalidText = (issues: readonly z.core.$ZodIssue[]) =>
  fieldErrors(issues, "credential")
    .map(({ field, message }) => `${field}: ${message}`)
    .join("; ")
    .slice(0, 500);

export const putMany = (deps: Deps, items: readonly unknown[]): Promise<PutResult[]> =>
  each(items, newCredential, async (chunk) =>
    (await putCredentials(deps, chunk)).map((result, i): PutResult | Error => {
      const key_id = chunk[i]?.key_id ?? "";
      if (result instanceof Error) return result;
      if (typeof result === "string") return { key_id, result };
      return refuse(key_id, result.code, `${result.field}: ${result.message}`);
    }),
  );

export const markMany = (deps: Deps, items: readonly unknown[], status: Mark): Promise<MarkResult[]> =>
  each(items, credentialName, async (chunk) =>
    (await markCredentials(deps, chunk, status)).map((reply, i): MarkResult | Error => {
      const key_id = chunk[i]?.key_id ?? "";
      if (reply instanceof Error) return reply;
      return reply
        ? markedAs(key_id, status, reply)
        : refuse(key_id, "not_found", "there is no such credential in that pool");
    }),
  );

const DONE = { available: "enabled", disabled: "disabled" } as const;

export function markedAs(
  key_id: string,
  status: Mark,
  { changed, leases_going_on }: { changed: boolean; leases_going_on: number },
): MarkResult {
  return { key_id, result: changed ? DONE[status] : "unchanged", leases_going_on };
}
