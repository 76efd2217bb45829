// Units on the wire: times in ISO 8601 with milliseconds, durations in seconds.
export const iso = (time_ms: number) => new Date(time_ms).toISOString();

/** The same for a time that may not be: 0 is none. */
export const isoOrNull = (time_ms: number) => (time_ms > 0 ? iso(time_ms) : null);

/** Whole seconds, rounded up and at least 1: a Retry-After that is not too early. */
export const retrySeconds = (due_in_ms: number) => Math.max(1, Math.ceil(due_in_ms / 1000));

export const MINUTE_MS = 60_000;
