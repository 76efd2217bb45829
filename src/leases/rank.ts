// In which order to ask a pool's credentials. Pure: the script has the last word on each.
import type { CredentialConfig } from "../pools/schema.ts";
import type { PoolSettings } from "../pools/settings.ts";
import type { Candidate, Snapshot } from "../pools/snapshot.ts";

const MINUTE_MS = 60_000;
/** A credential that was idle so long counts as fully rested. */
const RESTED_MS = 5 * MINUTE_MS;
/** A rate limit so long ago is forgotten. */
const LIMIT_FADES_MS = 10 * MINUTE_MS;
/** A credential that no probe has seen for so long is stale. */
export const STALE_MS = 24 * 60 * MINUTE_MS;
/** A streak of so many errors counts in full. */
const FULL_STREAK = 3;

const unit = (value: number) => Math.min(1, Math.max(0, value));

/** Upstream's name for a model, or undefined when the credential does not serve it. */
export function providerModel({ models }: CredentialConfig, model: string): string | undefined {
  if (Array.isArray(models)) return model;
  return Object.hasOwn(models, model) ? models[model] : undefined;
}

/** As far as this isolate knows: its token lives, and it is not benched, or its bench has ended by itself. */
function isHealthy({ state, config }: Candidate, { recovery }: PoolSettings, now_ms: number): boolean {
  if ((config.token_expires_at_ms ?? Number.POSITIVE_INFINITY) <= now_ms) return false;
  if (!state || state.status === "available") return true;
  return recovery === "opportunistic" && state.until_ms > 0 && state.until_ms <= now_ms;
}

/**
 * The weighted sum of a candidate's terms, each 0 to 1: the free part of its capacity (none where its cap was lowered below what
 * it carries), its rest (idle time over 5 minutes; never used is full), its success rate (no call yet is 1); less its error
 * streak (3 is full), a rate limit (fades over 10 minutes), a bench that it is in or has just come out of, and the time since a
 * probe saw it (24 hours is full); plus jitter, so that equals are asked in random order. Weights are the pool's; random() is
 * 0 to 1.
 */
export function score(
  { state }: Candidate,
  weights: PoolSettings["weights"],
  now_ms: number,
  random: () => number,
): number {
  const jitter = weights.jitter * random();
  if (!state) return weights.capacity + weights.idle + weights.success - weights.freshness + jitter;
  const free = unit(1 - state.in_flight / state.capacity);
  const rested = state.used_at_ms > 0 ? unit((now_ms - state.used_at_ms) / RESTED_MS) : 1;
  const success = state.success < 0 ? 1 : state.success / 1000;
  const errors = unit(state.errors / FULL_STREAK);
  const limited = state.limited_at_ms > 0 ? unit(1 - (now_ms - state.limited_at_ms) / LIMIT_FADES_MS) : 0;
  const benched = state.status === "available" ? 0 : 1;
  const stale = state.verified_at_ms > 0 ? unit((now_ms - state.verified_at_ms) / STALE_MS) : 1;
  const gains = weights.capacity * free + weights.idle * rested + weights.success * success;
  const losses = weights.error * errors + weights.rate_limit * limited + weights.cooldown * benched;
  return gains - losses - weights.freshness * stale + jitter;
}

/** 32-bit FNV-1a with a final mix, as a number above 0 and below 1. */
function hash01(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (((hash ^ (hash >>> 16)) >>> 0) + 1) / (2 ** 32 + 1);
}

/**
 * Weighted rendezvous hashing (Thaler and Ravishankar 1998; weights by -w / ln h): each key has its own order of credentials,
 * and one that comes or goes moves only the keys that it wins or had.
 */
const affinity = ({ key_id, config }: Candidate, affinity_key: string) =>
  -(config.weight ?? 1) / Math.log(hash01(`${affinity_key}\n${key_id}`));

/**
 * Weighted sampling without replacement (Efraimidis and Spirakis 2006): the greatest random^(1/weight) comes first. As a
 * logarithm, since of a small weight the power itself is 0 and all of them would be equal.
 */
const lot = ({ config }: Candidate, random: () => number) => Math.log(random()) / (config.weight ?? 1);

export interface RankOptions {
  readonly affinity_key?: string | undefined;
  readonly now_ms?: number;
  readonly random?: () => number;
}

/** How much a candidate is wanted, by the pool's strategy; more is better. */
function wish(candidate: Candidate, settings: PoolSettings, now_ms: number, options: RankOptions): number {
  const { affinity_key, random = Math.random } = options;
  if (affinity_key) return affinity(candidate, affinity_key);
  switch (settings.strategy) {
    case "score":
      return score(candidate, settings.weights, now_ms, random);
    case "least_in_flight":
      return -(candidate.state?.in_flight ?? 0) + random();
    case "weighted_random":
      return lot(candidate, random);
    case "round_robin":
      return -(candidate.state?.used_at_ms ?? 0) + random();
  }
}

const [OWN, ROOM, UNKNOWN, FULL, BENCHED] = [0, 1, 2, 3, 4];

/** Known room comes first, then what is not in the sample, then what is full, and what is benched last. */
function tier(candidate: Candidate, settings: PoolSettings, now_ms: number): number {
  const { state } = candidate;
  if (!isHealthy(candidate, settings, now_ms)) return BENCHED;
  if (!state) return UNKNOWN;
  return state.in_flight < state.capacity ? ROOM : FULL;
}

interface Ranked {
  readonly candidate: Candidate;
  readonly wish: number;
  tier: number;
}

/** A caller's own come before all others, full or not: they may be free by then. Of more than fit, half are left to those with room. */
function ownFirst(ranked: readonly Ranked[], most: number) {
  const healthy = ranked.filter((one) => one.tier < BENCHED).sort((a, b) => b.wish - a.wish);
  const own = healthy.slice(0, healthy.length > most ? Math.ceil(most / 2) : most);
  for (const one of own) one.tier = OWN;
}

/** The best candidates of a pool for a model, best first, at most the pool's `candidates`. */
export function rank(snapshot: Snapshot, model: string, options: RankOptions = {}): Candidate[] {
  const { affinity_key, now_ms = Date.now() } = options;
  const { settings, candidates } = snapshot;
  const ranked = candidates
    .filter(({ config }) => providerModel(config, model) !== undefined)
    .map((candidate) => ({
      candidate,
      wish: wish(candidate, settings, now_ms, options),
      tier: tier(candidate, settings, now_ms),
    }));
  if (affinity_key) ownFirst(ranked, settings.candidates);
  return ranked
    .sort((a, b) => a.tier - b.tier || b.wish - a.wish)
    .slice(0, settings.candidates)
    .map(({ candidate }) => candidate);
}

/** Whether any credential of a pool lists a model. */
export const serves = (snapshot: Snapshot, model: string) =>
  snapshot.candidates.some(({ config }) => providerModel(config, model) !== undefined);
