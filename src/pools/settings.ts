// The settings of a pool with their defaults, and the two forms in which Lua reads its part of them.

/** All durations in milliseconds, but for the two that a caller sees in seconds. */
export const DEFAULTS = {
  lease_seconds: 35,
  max_lifetime_seconds: 3600,
  recovery: "opportunistic",
  cooldowns: {
    min_ms: 1_000,
    default_ms: 60_000,
    max_ms: 1_800_000,
    exhausted_ms: 6 * 3_600_000,
    errors_from: 3,
    error_ms: 5_000,
    max_error_ms: 300_000,
  },
  breaker: { mode: "auto", failures: 5, open_ms: 15_000, max_open_ms: 300_000, probes: 1 },
} as const;

export type PoolSettings = typeof DEFAULTS;

/** Where a pool may send what it cannot serve. */
export const fallbackOf = (pool: string): readonly string[] => (pool === "vip" ? ["default"] : []);

/** `@limits`: what every grant reads, packed (lua/lib/pool.lua). */
export const limitsOf = ({ max_lifetime_seconds, breaker, recovery }: PoolSettings) =>
  `1 ${max_lifetime_seconds * 1000} ${breaker.probes} ${breaker.mode} ${recovery}`;

/** `@health`: what only a release with news reads, as JSON (lua/lib/health.lua, lua/lib/breaker.lua). */
export const healthOf = ({ cooldowns, breaker }: PoolSettings) => JSON.stringify({ cooldowns, breaker });
