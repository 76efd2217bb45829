// The settings of a pool with their defaults, and the two forms in which Lua reads its part of them.
import { z } from "@hono/zod-openapi";
import { id } from "../ids.ts";
import { MAX_CANDIDATES } from "../scripts/lease/allocate.ts";

const HOUR_MS = 3_600_000;
const duration = z
  .int()
  .min(1)
  .max(24 * HOUR_MS)
  .meta({ description: "Milliseconds." });
const weight = z.number().min(0).max(100);

const weights = z.strictObject({
  capacity: weight,
  idle: weight,
  success: weight,
  error: weight,
  rate_limit: weight,
  cooldown: weight,
  freshness: weight,
  jitter: weight,
});

const cooldowns = z.strictObject({
  rate_limit_min_ms: duration,
  rate_limit_default_ms: duration,
  rate_limit_max_ms: duration,
  exhausted_ms: duration,
  errors_from: z.int().min(1).max(1000).meta({ description: "The streak of upstream errors that benches." }),
  error_ms: duration.meta({
    description: "The first bench of a streak; it doubles with each further error.",
  }),
  error_max_ms: duration,
});

const breaker = z.strictObject({
  mode: z.enum(["auto", "open", "closed"]),
  failures: z.int().min(1).max(1000).meta({ description: "Upstream failures in a row that open it." }),
  open_ms: duration,
  open_max_ms: duration,
  probes: z
    .int()
    .min(1)
    .max(100)
    .meta({ description: "Calls let through at once to see whether upstream is back." }),
});

const shape = {
  fallback: z.array(id).max(8).meta({ description: "Pools asked in this order when this one has nothing." }),
  strategy: z.enum(["score", "least_in_flight", "weighted_random", "round_robin"]),
  candidates: z.int().min(1).max(MAX_CANDIDATES),
  weights,
  reserved_capacity: z
    .int()
    .min(0)
    .max(1_000_000)
    .meta({ description: "Units that calls from other pools do not get." }),
  lease_seconds: z.int().min(1).max(3600),
  max_lifetime_seconds: z.int().min(1).max(86_400),
  recovery: z.enum(["opportunistic", "probe"]),
  cooldowns,
  breaker,
};

export const poolSettings = z.strictObject(shape).meta({ id: "PoolSettings" });
export type PoolSettings = z.output<typeof poolSettings>;

/** A change of some settings; what is not named stays. */
export const poolPatch = z
  .strictObject({
    ...shape,
    weights: weights.partial(),
    cooldowns: cooldowns.partial(),
    breaker: breaker.partial(),
  })
  .partial()
  .meta({ id: "PoolPatch" });
export type PoolPatch = z.output<typeof poolPatch>;

/** The settings of a pool that nobody has changed. */
export const defaultsOf = (pool: string): PoolSettings => ({
  fallback: pool === "vip" ? ["default"] : [],
  strategy: "score",
  candidates: MAX_CANDIDATES,
  weights: {
    capacity: 1,
    idle: 0.5,
    success: 1,
    error: 0.5,
    rate_limit: 0.5,
    cooldown: 0.5,
    freshness: 0.2,
    jitter: 0.01,
  },
  reserved_capacity: 0,
  lease_seconds: 35,
  max_lifetime_seconds: 3600,
  recovery: "opportunistic",
  cooldowns: {
    rate_limit_min_ms: 1_000,
    rate_limit_default_ms: 60_000,
    rate_limit_max_ms: 1_800_000,
    exhausted_ms: 6 * HOUR_MS,
    errors_from: 3,
    error_ms: 5_000,
    error_max_ms: 300_000,
  },
  breaker: { mode: "auto", failures: 5, open_ms: 15_000, open_max_ms: 300_000, probes: 1 },
});

/** Drops what is undefined, so that it does not hide what is there. */
const given = (part: object = {}) =>
  Object.fromEntries(Object.entries(part).filter(([, value]) => value !== undefined));

export const patchSettings = (before: PoolSettings, patch: PoolPatch): PoolSettings => ({
  ...before,
  ...given(patch),
  weights: { ...before.weights, ...given(patch.weights) },
  cooldowns: { ...before.cooldowns, ...given(patch.cooldowns) },
  breaker: { ...before.breaker, ...given(patch.breaker) },
});

/** What is stored, over the defaults: a setting that a later version adds has its default. */
export const readSettings = (pool: string, text: string | null | undefined): PoolSettings =>
  text ? patchSettings(defaultsOf(pool), poolPatch.parse(JSON.parse(text))) : defaultsOf(pool);

/** `@limits`: what every grant reads, packed (lua/lib/pool.lua). */
export const limitsOf = ({
  max_lifetime_seconds,
  reserved_capacity,
  breaker: { probes, mode },
  recovery,
}: PoolSettings) => `1 ${max_lifetime_seconds * 1000} ${reserved_capacity} ${probes} ${mode} ${recovery}`;

/** `@health`: what only a release with news reads, as JSON (lua/lib/health.lua, lua/lib/breaker.lua). */
export const healthOf = (settings: PoolSettings) =>
  JSON.stringify({ cooldowns: settings.cooldowns, breaker: settings.breaker });
