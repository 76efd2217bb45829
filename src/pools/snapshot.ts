// What an isolate believes of a pool: states at most SNAPSHOT_STALE_MS old and the configuration that goes with them.
// It may be out of date, because the script checks again; it only says in which order to ask.
import { z } from "zod";
import type { Deps } from "../deps.ts";
import type { Settings } from "../env.ts";
import type { Store } from "../store.ts";
import { type CredentialConfig, credentialConfig } from "./schema.ts";
import { type CredentialState, readSeq, readState } from "./state.ts";

/** So many states are read of a larger pool, at random, so that each gets its turn. */
const SAMPLE = 512;
const MOST_POOLS = 1_000;

export interface Candidate {
  readonly key_id: string;
  readonly config: CredentialConfig;
  /** undefined: a member whose state is not in this sample. */
  readonly state: CredentialState | undefined;
}

export interface Snapshot {
  readonly loaded_at_ms: number;
  /** Number of the pool's last change of configuration. */
  readonly seq: number;
  readonly configs: ReadonlyMap<string, CredentialConfig>;
  readonly candidates: readonly Candidate[];
}

const flat = z.array(z.string());

/** Fields and values in turn, as HGETALL and HRANDFIELD answer. */
function* pairs(answer: unknown): Generator<[string, string]> {
  const list = flat.parse(answer ?? []);
  for (let i = 0; i + 1 < list.length; i += 2) yield [list[i] ?? "", list[i + 1] ?? ""];
}

/** Most configurations of a pool are one text, so each text is parsed once. */
function readConfigs(answer: unknown): Map<string, CredentialConfig> {
  const byText = new Map<string, CredentialConfig>();
  const configs = new Map<string, CredentialConfig>();
  for (const [key_id, text] of pairs(answer)) {
    if (key_id.startsWith("@")) continue;
    const config = byText.get(text) ?? credentialConfig.parse(JSON.parse(text));
    byText.set(text, config);
    configs.set(key_id, config);
  }
  return configs;
}

function candidatesOf(configs: ReadonlyMap<string, CredentialConfig>, states: unknown): Candidate[] {
  const known = new Map(pairs(states));
  return [...configs].map(([key_id, config]) => {
    const text = known.get(key_id);
    return { key_id, config, state: text === undefined ? undefined : readState(text) };
  });
}

/** undefined: there is no such pool. */
async function load(
  store: Store,
  keys: PoolKeys,
  before: Snapshot | undefined,
): Promise<Snapshot | undefined> {
  const readConfig = (p: Pipeline) => p.hgetall(keys.config_key);
  const [own, states, config] = await store.read(
    (p) => p.hget(keys.pool_key, "@pool"),
    (p) => p.hrandfield(keys.pool_key, SAMPLE, true),
    ...(before ? [] : [readConfig]),
  );
  if (typeof own !== "string") return undefined;
  const seq = readSeq(own);
  const configs =
    before?.seq === seq ? before.configs : readConfigs(before ? (await store.read(readConfig))[0] : config);
  return { loaded_at_ms: Date.now(), seq, configs, candidates: candidatesOf(configs, states) };
}

type Pipeline = Parameters<Parameters<Store["read"]>[0]>[0];
type PoolKeys = { pool_key: string; config_key: string };

export class Snapshots {
  private readonly byPool = new Map<string, Snapshot>();
  private readonly refreshing = new Map<string, number>();

  private readonly settings: Pick<Settings, "SNAPSHOT_FRESH_MS" | "SNAPSHOT_STALE_MS">;

  constructor(settings: Pick<Settings, "SNAPSHOT_FRESH_MS" | "SNAPSHOT_STALE_MS">) {
    this.settings = settings;
  }

  /** The pool as last seen, at once when it is known; a missing or a stale one is waited for. */
  async get(deps: Deps, provider: string, pool: string): Promise<Snapshot | undefined> {
    const keys = deps.keys.pool(provider, pool);
    const known = this.byPool.get(keys.pool_key);
    const age_ms = known ? Date.now() - known.loaded_at_ms : Number.POSITIVE_INFINITY;
    if (!known || age_ms > this.settings.SNAPSHOT_STALE_MS) return this.refresh(deps.store, keys);
    if (age_ms > this.settings.SNAPSHOT_FRESH_MS && this.claimRefresh(keys.pool_key)) {
      const done = this.refresh(deps.backgroundStore(), keys);
      deps.background(done.finally(() => this.refreshing.delete(keys.pool_key)));
    }
    return known;
  }

  /** Reads it again now, for a caller who found that it was out of date. */
  async refresh(store: Store, keys: PoolKeys): Promise<Snapshot | undefined> {
    const snapshot = await load(store, keys, this.byPool.get(keys.pool_key));
    this.byPool.delete(keys.pool_key);
    if (snapshot) this.byPool.set(keys.pool_key, snapshot);
    const [oldest] = this.byPool.keys();
    if (this.byPool.size > MOST_POOLS && oldest) this.byPool.delete(oldest);
    return snapshot;
  }

  /** After a change that this isolate made itself. */
  forget = (pool_key: string) => this.byPool.delete(pool_key);

  isFresh = (snapshot: Snapshot) => Date.now() - snapshot.loaded_at_ms <= this.settings.SNAPSHOT_FRESH_MS;

  /** One refresh at a time; one whose request was cut off is forgotten after the staleness limit. */
  private claimRefresh(pool_key: string): boolean {
    const since_ms = this.refreshing.get(pool_key);
    if (since_ms !== undefined && Date.now() - since_ms < this.settings.SNAPSHOT_STALE_MS) return false;
    this.refreshing.set(pool_key, Date.now());
    return true;
  }
}
