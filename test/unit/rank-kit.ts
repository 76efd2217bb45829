// Candidates and snapshots for the tests of rank, and chance that repeats.
import { rank } from "../../src/leases/rank.ts";
import type { CredentialConfig } from "../../src/pools/schema.ts";
import { defaultsOf, type PoolSettings } from "../../src/pools/settings.ts";
import type { Candidate, Snapshot } from "../../src/pools/snapshot.ts";
import type { CredentialState } from "../../src/pools/state.ts";

export const NOW_MS = Date.UTC(2030, 0);

/** As new: nothing in flight, never used, no call yet. */
export const state = (more: Partial<CredentialState> = {}): CredentialState => ({
  status: "available",
  until_ms: 0,
  capacity: 10,
  in_flight: 0,
  revoked_fence: 0,
  used_at_ms: 0,
  errors: 0,
  success: -1,
  limited_at_ms: 0,
  verified_at_ms: 0,
  ...more,
});

export const candidate = (
  key_id: string,
  more: Partial<CredentialState> | "unknown" = {},
  config: Partial<CredentialConfig> = {},
): Candidate => ({
  key_id,
  config: { kind: "api_key", models: ["*"], ...config },
  state: more === "unknown" ? undefined : state(more),
});

/** So many, from k0 on. */
export const some = (count: number, ...more: [more?: Partial<CredentialState> | "unknown"]) =>
  Array.from({ length: count }, (_, i) => candidate(`k${i}`, ...more));

export const snapshot = (candidates: Candidate[], settings: Partial<PoolSettings> = {}): Snapshot => ({
  loaded_at_ms: NOW_MS,
  seq: 1,
  version: "1 1",
  settings: { ...defaultsOf("default"), ...settings },
  configs: new Map(candidates.map(({ key_id, config }) => [key_id, config])),
  candidates,
});

/** mulberry32: the same numbers for the same seed. */
export function chance(seed = 1): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const random = chance(7);

/** In which order they are asked, by name. */
export const order = (
  candidates: Candidate[],
  settings: Partial<PoolSettings> = {},
  options: Parameters<typeof rank>[2] & { model?: string } = {},
) =>
  rank(snapshot(candidates, settings), options.model ?? "m", { now_ms: NOW_MS, random, ...options }).map(
    ({ key_id }) => key_id,
  );

/** How often each is asked first, in so many rankings, as a share. */
export function firsts(times: number, ask: (i: number) => string[]): Record<string, number> {
  const shares: Record<string, number> = {};
  for (let i = 0; i < times; i++) {
    const [first = ""] = ask(i);
    shares[first] = (shares[first] ?? 0) + 1 / times;
  }
  return shares;
}
