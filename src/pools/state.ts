// The packed fields of a pool's hash, read (lua/lib/pool.lua writes them).
import { STATUSES } from "./schema.ts";

export interface CredentialState {
  readonly status: (typeof STATUSES)[number];
  /** When the bench ends; 0 without a deadline. */
  readonly until_ms: number;
  readonly capacity: number;
  readonly in_flight: number;
  /** Leases with a fence up to this one are over. */
  readonly revoked_fence: number;
  /** 0: never used. */
  readonly used_at_ms: number;
  /** The streak of upstream errors. */
  readonly errors: number;
  /** Smoothed success rate in permille; -1 while there was no call. */
  readonly success: number;
  readonly limited_at_ms: number;
  readonly verified_at_ms: number;
}

/** Throws on a value that cannot be read; the value is not repeated. */
export function readState(text: string): CredentialState {
  const [version, name, ...rest] = text.split(" ");
  const status = STATUSES.find((one) => one === name);
  const [
    until_ms,
    capacity,
    in_flight,
    revoked_fence,
    used_at_ms,
    ,
    errors,
    success,
    limited_at_ms,
    verified_at_ms,
  ] = rest.map(Number);
  if (version !== "1" || !status || rest.length !== 10)
    throw new Error("the state of a credential cannot be read");
  return {
    status,
    until_ms: until_ms ?? 0,
    capacity: capacity ?? 0,
    in_flight: in_flight ?? 0,
    revoked_fence: revoked_fence ?? 0,
    used_at_ms: used_at_ms ?? 0,
    errors: errors ?? 0,
    success: success ?? -1,
    limited_at_ms: limited_at_ms ?? 0,
    verified_at_ms: verified_at_ms ?? 0,
  };
}

const POOL_FIELDS = [
  "fence",
  "seq",
  "members",
  "capacity",
  "in_flight",
  "granted",
  "refused",
  "reserved",
  "blocked",
  "lost",
  "released",
  "reclaimed",
  "revoked",
] as const;

export type PoolState = Record<(typeof POOL_FIELDS)[number], number>;

/** `@pool`. Throws on a value that cannot be read. */
export function readPool(text: string): PoolState {
  const [version, ...values] = text.split(" ").map(Number);
  if (version !== 1 || values.length !== POOL_FIELDS.length) throw new Error("@pool cannot be read");
  return Object.fromEntries(POOL_FIELDS.map((field, i) => [field, values[i]])) as PoolState;
}

/** `@breaker`; undefined while nothing has failed. */
export function readBreaker(text: string | null) {
  const [, failures = 0, open_until_ms = 0] = (text ?? "").split(" ").map(Number);
  return text ? { failures, open_until_ms } : undefined;
}

/** What is shown of a lease's record (lua/lib/lease.lua). */
export function readLease(text: string): { granted_at_ms: number; holder: string } {
  const [, , , , , , granted_at_ms, , holder = ""] = text.split(" ");
  return { granted_at_ms: Number(granted_at_ms), holder };
}

/** `<fingerprint> <sealed secret>`. */
export function readSecret(text: string): { fingerprint: string; sealed: string } {
  const space = text.indexOf(" ");
  return { fingerprint: text.slice(0, space), sealed: text.slice(space + 1) };
}
