// Up to 1,000 credentials in one request, each answered by itself.
import type { Deps } from "../deps.ts";
import { fieldErrors } from "../http.ts";
import { StoreUnavailable } from "../store.ts";
import { putCredential } from "./credentials.ts";
import { newCredential, type PutResult } from "./schema.ts";

/** Requests that a Worker may have waiting for an answer at one time. */
const PARALLEL = 6;

const refused = (key_id: string, code: string, detail: string): PutResult => ({
  key_id,
  result: "refused",
  error: { code, detail },
});

const keyIdOf = (given: unknown) => {
  const key_id = typeof given === "object" && given !== null && "key_id" in given ? given.key_id : undefined;
  return typeof key_id === "string" ? key_id.slice(0, 64) : "";
};

async function putOne(deps: Deps, given: unknown): Promise<PutResult> {
  const parsed = newCredential.safeParse(given);
  if (!parsed.success) {
    const errors = fieldErrors(parsed.error.issues, "credential");
    const detail = errors.map(({ field, message }) => `${field}: ${message}`).join("; ");
    return refused(keyIdOf(given), "invalid_request", detail.slice(0, 500));
  }
  return putCredential(deps, parsed.data).catch((error: unknown) => {
    if (!(error instanceof StoreUnavailable)) throw error;
    const detail = error.maybe_applied
      ? "it may have happened: send it again"
      : "the store did not answer: send it again";
    return refused(parsed.data.key_id, "store_unavailable", detail);
  });
}

/** The answers stand in the order of the request. An id that stands twice is taken once. */
export async function putMany(deps: Deps, given: readonly unknown[]): Promise<PutResult[]> {
  const results: PutResult[] = [];
  const seen = new Set<string>();
  const repeats = given.map((one) => {
    const provider = typeof one === "object" && one !== null && "provider" in one ? String(one.provider) : "";
    const name = `${provider}:${keyIdOf(one)}`;
    const repeated = seen.has(name);
    seen.add(name);
    return repeated;
  });
  const work = [...given.entries()];
  const worker = async () => {
    for (let next = work.shift(); next; next = work.shift()) {
      const [i, one] = next;
      results[i] = repeats[i]
        ? refused(keyIdOf(one), "invalid_request", "key_id: it stands twice")
        : await putOne(deps, one);
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, worker));
  return results;
}
