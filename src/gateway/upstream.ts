// One request upstream: its headers and its first bytes, within the time that the settings give it.
import type { Deps } from "../deps.ts";
import type { Admission } from "./admission.ts";
import { upstreamHeaders } from "./headers.ts";
import type { Dialect } from "./meter/dialect.ts";
import { type UpstreamPath, upstreamUrl } from "./upstream-url.ts";

export interface Outgoing {
  readonly dialect: Dialect;
  readonly path: UpstreamPath;
  /** The caller's headers. */
  readonly headers: Headers;
  readonly body: string;
  /** Whose idempotency keys are kept apart from others'. */
  readonly scope: readonly string[];
}

export interface Answered {
  readonly response: Response;
  /** Of its body, behind the first bytes; undefined: it has none. */
  readonly reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  /** The first bytes, read already: until then the call may still go to another credential. */
  readonly first: Uint8Array | undefined;
  /** Ends it, wherever it is. */
  abort(): void;
}

export type Failed = "timeout" | "unreachable" | "no_base_url" | "aborted";

class Late extends Error {}

/** What a promise resolves to, or Late when it takes longer. */
export async function within<T>(work: Promise<T>, ms: number): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Late()), ms);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
export const isLate = (error: unknown) => error instanceof Late;

/** Redirects are not followed: they would carry the secret elsewhere. `signal` is the caller's. */
export async function send(
  { settings }: Pick<Deps, "settings">,
  { lease }: Admission,
  { dialect, path, headers, body, scope }: Outgoing,
  signal: AbortSignal,
): Promise<Answered | Failed> {
  const { config, secret } = lease;
  if (!config.base_url) return "no_base_url";
  const stop = new AbortController();
  const abort = () => stop.abort();
  signal.addEventListener("abort", abort, { once: true });
  const ends_at_ms = Date.now() + settings.UPSTREAM_FIRST_BYTE_MS;
  try {
    const request = fetch(upstreamUrl(config.base_url, path), {
      method: "POST",
      headers: upstreamHeaders({ dialect, headers, scope, kind: config.kind, secret }),
      body,
      redirect: "manual",
      signal: stop.signal,
    });
    const response = await within(request, settings.UPSTREAM_FIRST_BYTE_MS);
    const reader = (response.body as ReadableStream<Uint8Array> | null)?.getReader();
    if (!response.ok || !reader) return { response, reader, first: undefined, abort };
    const { value: first } = await within(reader.read(), Math.max(1, ends_at_ms - Date.now()));
    return { response, reader, first, abort };
  } catch (error) {
    abort();
    if (isLate(error)) return "timeout";
    return signal.aborted ? "aborted" : "unreachable";
  }
}

/** What of an error's body is looked at. */
const ERROR_BYTES = 65_536;

/** The beginning of a body as text; what cannot be read is left out. */
export async function beginning({ reader, abort }: Answered, idle_ms: number): Promise<string> {
  const decoder = new TextDecoder();
  let [text, bytes] = ["", 0];
  try {
    while (reader && bytes < ERROR_BYTES) {
      const { done, value } = await within(reader.read(), idle_ms);
      if (done) break;
      bytes += value.length;
      text += decoder.decode(value, { stream: true });
    }
  } catch {
    // The status says enough.
  }
  abort();
  return text.slice(0, ERROR_BYTES);
}
