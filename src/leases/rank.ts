// In which order to ask a pool's credentials. Pure: the script has the last word on each.

import type { CredentialConfig } from "../pools/schema.ts";
import type { Candidate, Snapshot } from "../pools/snapshot.ts";
import { MAX_CANDIDATES } from "../scripts/lease/allocate.ts";

/** A credential that was idle so long counts as fully rested. */
const RESTED_MS = 5 * 60_000;
const JITTER = 0.01;

/** Upstream's name for a model, or undefined when the credential does not serve it. */
export function providerModel({ models }: CredentialConfig, model: string): string | undefined {
  if (Array.isArray(models)) return model;
  return Object.hasOwn(models, model) ? models[model] : undefined;
}

/** Whether the gates would let it pass, as far as this isolate knows. */
function looksUsable({ state }: Candidate, now_ms: number): boolean {
  if (!state) return true;
  const restored = state.until_ms > 0 && state.until_ms <= now_ms;
  return (state.status === "available" || restored) && state.in_flight < state.capacity;
}

/**
 * The score of a candidate: the free part of its capacity (0 to 1) plus half of its rest (idle time over 5 minutes, 0 to 1;
 * full when it was never used), plus jitter. One that looks unusable comes after all that look usable.
 */
export function score(candidate: Candidate, now_ms: number, random: () => number): number {
  const { state } = candidate;
  const free = state ? 1 - state.in_flight / state.capacity : 1;
  const rested = state?.used_at_ms ? Math.min(1, (now_ms - state.used_at_ms) / RESTED_MS) : 1;
  const usable = looksUsable(candidate, now_ms) ? 0 : -10;
  return usable + free + 0.5 * rested + JITTER * random();
}

/** The best candidates of a pool for a model, best first. */
export function rank(
  snapshot: Snapshot,
  model: string,
  now_ms = Date.now(),
  random: () => number = Math.random,
): Candidate[] {
  return snapshot.candidates
    .filter(({ config }) => providerModel(config, model) !== undefined)
    .map((candidate) => ({ candidate, score: score(candidate, now_ms, random) }))
    .sort((a, b) => b.score - a.score)
    .slice(0, MAX_CANDIDATES)
    .map(({ candidate }) => candidate);
}
