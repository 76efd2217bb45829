// Retry-After in all its forms (RFC 9110, section 10.2.3) as a duration.

/** Larger ones mean nothing; Lua clamps to the pool's own maximum. */
const MOST_MS = 10 ** 12;

/**
 * Milliseconds to wait, or undefined when the header is absent or says nothing: `120`, `1.5`, or a date, which counts from the
 * response's own Date header, so that no clock of ours or the caller's decides. Zero is kept; Lua raises it to the minimum.
 */
export function retryAfterMs(header: string | undefined, date: string | undefined): number | undefined {
  const text = header?.trim() ?? "";
  if (/^\d{1,20}(\.\d{1,20})?$/.test(text)) return Math.min(Math.ceil(Number(text) * 1000), MOST_MS);
  if (!/^[A-Za-z]{3,9},? /.test(text)) return undefined;
  const wait_ms = Date.parse(text) - Date.parse(date ?? "");
  return wait_ms > 0 ? Math.min(wait_ms, MOST_MS) : undefined;
}
