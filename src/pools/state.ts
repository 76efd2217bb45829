// The packed fields of a pool's hash, read (lua/lib/pool.lua writes them).
import { STATUSES } from "./schema.ts";

export interface CredentialState {
  readonly status: (typeof STATUSES)[number];
  /** When the bench ends; 0 without a deadline. */
  readonly until_ms: number;
  readonly capacity: number;
  readonly in_flight: number;
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
  const [until_ms, capacity, in_flight, , used_at_ms, , errors, success, limited_at_ms, verified_at_ms] =
    rest.map(Number);
  if (version !== "1" || !status || rest.length !== 10)
    throw new Error("the state of a credential cannot be read");
  return {
    status,
    until_ms: until_ms ?? 0,
    capacity: capacity ?? 0,
    in_flight: in_flight ?? 0,
    used_at_ms: used_at_ms ?? 0,
    errors: errors ?? 0,
    success: success ?? -1,
    limited_at_ms: limited_at_ms ?? 0,
    verified_at_ms: verified_at_ms ?? 0,
  };
}

/** The number of the last change of a pool's configuration, from `@pool`. */
export function readSeq(text: string): number {
  const [version, , seq] = text.split(" ");
  if (version !== "1" || seq === undefined) throw new Error("@pool cannot be read");
  return Number(seq);
}

/** `<fingerprint> <sealed secret>`. */
export function readSecret(text: string): { fingerprint: string; sealed: string } {
  const space = text.indexOf(" ");
  return { fingerprint: text.slice(0, space), sealed: text.slice(space + 1) };
}
