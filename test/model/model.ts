// The model of a provider's pools: leases are plain objects, and what is in flight is found by looking at them.
// It knows no counters, fences or sweeps; `step` orders events more finely than the clock does.
import { healthOf, limitsOf, type PoolSettings } from "../../src/pools/settings.ts";
import { KEEP_MS } from "../support/pool.ts";
import type { PoolName } from "./operations.ts";

/** Far ahead, so that no key ends by the real clock; and always the same, so that a seed gives the same history. */
const START_MS = Date.UTC(2100, 0);

export interface Lease {
  readonly id: string;
  readonly pool: PoolName;
  readonly credential: string;
  readonly print: string;
  /** What the service said; only ever compared. */
  readonly fence: number;
  readonly granted_step: number;
  readonly granted_at_ms: number;
  readonly max_expires_at_ms: number;
  expires_at_ms: number;
  state: "held" | "released" | "revoked" | "undone";
  remembered_until_ms: number;
}

export interface Credential {
  capacity: number;
  config: string;
  print: string;
  seal: string;
  status: string;
  until_ms: number;
  benched_step: number;
  errors: number;
  success: number;
  used_at_ms: number;
  limited_at_ms: number;
}

/** How often each thing happened. */
const noEvents = () => ({
  granted: 0,
  refused: 0,
  reserved: 0,
  blocked: 0,
  lost: 0,
  released: 0,
  revoked: 0,
});

export class Pool {
  /** 0: not made yet. */
  made_at_ms = 0;
  changes = 0;
  settings_text = "";
  readonly credentials = new Map<string, Credential>();
  breaker = { failures: 0, open_until_ms: 0, opened_step: 0, trips: 0 };
  happened = noEvents();
  last_fence = 0;
  readonly name: PoolName;
  settings: PoolSettings;

  constructor(name: PoolName, settings: PoolSettings) {
    this.name = name;
    this.settings = settings;
  }

  get made() {
    return this.made_at_ms > 0;
  }

  get capacity() {
    return [...this.credentials.values()].reduce((sum, { capacity }) => sum + capacity, 0);
  }

  get limits() {
    return limitsOf(this.settings);
  }

  get health() {
    return healthOf(this.settings);
  }
}

export class Model {
  now_ms = START_MS;
  step = 0;
  readonly leases: Lease[] = [];
  /** By id, for as long as the service remembers. */
  readonly records = new Map<string, Lease>();
  readonly pools: Record<PoolName, Pool>;

  constructor(settings: Record<PoolName, PoolSettings>) {
    this.pools = { default: new Pool("default", settings.default), vip: new Pool("vip", settings.vip) };
  }

  /** held, or why it is not any more. */
  standing(lease: Lease) {
    return lease.state === "held" && lease.expires_at_ms <= this.now_ms ? "expired" : lease.state;
  }

  /** The leases of a pool, or of one of its credentials, that are held. */
  held = (pool: PoolName, credential?: string) =>
    this.leases.filter(
      (lease) =>
        lease.pool === pool &&
        (credential ?? lease.credential) === lease.credential &&
        this.standing(lease) === "held",
    );

  /** Those whose term is over and that nobody gave back or took away: their units may not be back yet. */
  overdue = (pool: PoolName, credential: string) =>
    this.leases.filter(
      (lease) => lease.pool === pool && lease.credential === credential && this.standing(lease) === "expired",
    );

  /** Granted since the breaker opened, and neither given back nor at its term: a revoked one is still out there. */
  probes({ name, breaker }: Pool) {
    const since = this.leases.filter((lease) => lease.pool === name && this.isProbe(lease, breaker));
    return since.filter(
      ({ state, expires_at_ms }) => (state === "held" || state === "revoked") && expires_at_ms > this.now_ms,
    );
  }

  isProbe = ({ granted_step }: Lease, { open_until_ms, opened_step }: Pool["breaker"]) =>
    open_until_ms > 0 && granted_step > opened_step;

  blocks(pool: Pool) {
    const { mode, probes } = pool.settings.breaker;
    if (mode !== "auto") return mode === "open";
    if (pool.breaker.open_until_ms === 0) return false;
    return this.now_ms < pool.breaker.open_until_ms || this.probes(pool).length >= probes;
  }

  /** Why a credential gives nothing; undefined when it does. */
  whyNot(pool: Pool, id: string, token_ends_ms?: number): string | undefined {
    const credential = pool.credentials.get(id);
    if (token_ends_ms !== undefined && token_ends_ms <= this.now_ms) return "token_expired";
    if (!credential) return "removed";
    const { status, until_ms, capacity } = credential;
    const over = until_ms > 0 && until_ms <= this.now_ms && pool.settings.recovery === "opportunistic";
    if (status !== "available" && !over) return status;
    return this.held(pool.name, id).length >= capacity ? "full" : undefined;
  }

  /** An operator ended all leases of a credential, also those that nobody will miss. */
  revoke(pool: PoolName, credential: string) {
    const own = this.leases.filter(
      (lease) => lease.pool === pool && lease.credential === credential && lease.state === "held",
    );
    for (const lease of own) lease.state = "revoked";
  }

  remember(lease: Lease, until_ms: number) {
    lease.remembered_until_ms = until_ms + KEEP_MS;
    this.records.set(lease.id, lease);
  }

  /** An id that was given up before its grant came. */
  spend(id: string, pool: PoolName, spend_ms: number) {
    const now_ms = this.now_ms;
    this.records.set(id, {
      id,
      pool,
      credential: "-",
      print: "-",
      fence: 0,
      granted_step: 0,
      granted_at_ms: now_ms,
      max_expires_at_ms: now_ms,
      expires_at_ms: now_ms,
      state: "released",
      remembered_until_ms: now_ms + spend_ms,
    });
  }

  /** The moments at which leases, benches, open breakers or records end, next ones first. */
  ends(of: "lease" | "bench" | "breaker" | "record"): number[] {
    const pools = Object.values(this.pools);
    const all = {
      lease: () => this.leases.filter(({ state }) => state === "held").map((lease) => lease.expires_at_ms),
      bench: () => pools.flatMap((pool) => [...pool.credentials.values()].map(({ until_ms }) => until_ms)),
      breaker: () => pools.map(({ breaker }) => breaker.open_until_ms),
      record: () => [...this.records.values()].map(({ remembered_until_ms }) => remembered_until_ms),
    };
    const ahead = all[of]().filter((time_ms) => time_ms > this.now_ms);
    return [...new Set(ahead)].sort((a, b) => a - b);
  }

  wait(ms: number) {
    this.now_ms += ms;
    for (const [id, { remembered_until_ms }] of this.records)
      if (remembered_until_ms <= this.now_ms) this.records.delete(id);
  }
}
