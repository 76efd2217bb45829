// What an isolate believes of a pool: states at most SNAPSHOT_STALE_MS old and the configuration that goes with them.
// It may be out of date, because the script checks again; it only says in which order to ask.
import { z } from "zod";
import type { Settings } from "../env.ts";
import type { Keys } from "../keys.ts";
import type { Store } from "../store.ts";
import { type CredentialConfig, credentialConfig } from "./schema.ts";
import { defaultsOf, type PoolSettings, readSettings } from "./settings.ts";
import { type CredentialState, readPool, readState } from "./state.ts";

/** So many states are read of a larger pool, at random, so that each gets its turn. */
const SAMPLE = 512;
const MOST_POOLS = 1_000;

export interface Candidate {
  readonly key_id: string;
  readonly config: CredentialConfig;
  /** undefined: a member whose state is not in this sample. What this isolate does itself is noted here at once. */
  state: CredentialState | undefined;
}

export interface Snapshot {
  readonly loaded_at_ms: number;
  /** Number of the pool's last change of configuration; `version` tells it from that of a pool made again. */
  readonly seq: number;
  readonly version: string;
  readonly settings: PoolSettings;
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
function readConfig(pool: string, answer: unknown): Pick<Snapshot, "settings" | "configs"> {
  const byText = new Map<string, CredentialConfig>();
  const configs = new Map<string, CredentialConfig>();
  let settings = defaultsOf(pool);
  for (const [key_id, text] of pairs(answer)) {
    if (key_id === "@settings") settings = readSettings(pool, text);
    if (key_id.startsWith("@")) continue;
    const config = byText.get(text) ?? credentialConfig.parse(JSON.parse(text));
    byText.set(text, config);
    configs.set(key_id, config);
  }
  return { settings, configs };
}

function candidatesOf(configs: ReadonlyMap<string, CredentialConfig>, states: unknown): Candidate[] {
  const known = new Map(pairs(states));
  return [...configs].map(([key_id, config]) => {
    const text = known.get(key_id);
    return { key_id, config, state: text === undefined ? undefined : readState(text) };
  });
}

type Pipeline = Parameters<Parameters<Store["read"]>[0]>[0];
interface Place {
  readonly pool: string;
  readonly pool_key: string;
  readonly config_key: string;
}

/** undefined: there is no such pool. Its configuration is read again only when it has changed. */
async function load(store: Store, place: Place, before?: Snapshot): Promise<Snapshot | undefined> {
  const getConfig = (p: Pipeline) => p.hgetall(place.config_key);
  const [head, states, config] = await store.read(
    (p) => p.hmget(place.pool_key, "@pool", "@made"),
    (p) => p.hrandfield(place.pool_key, SAMPLE, true),
    ...(before ? [] : [getConfig]),
  );
  const [own, made] = z.array(z.string().nullable()).parse(head);
  if (!own) return undefined;
  const { seq } = readPool(own);
  const version = `${made} ${seq}`;
  const known = before?.version === version ? before : undefined;
  const { settings, configs } =
    known ?? readConfig(place.pool, before ? (await store.read(getConfig))[0] : config);
  return {
    loaded_at_ms: Date.now(),
    version,
    seq,
    settings,
    configs,
    candidates: candidatesOf(configs, states),
  };
}

/** What reading a pool takes. */
interface Reader {
  readonly store: Store;
  readonly keys: Keys;
}

/** What refreshing one after the reply takes as well. */
interface BackgroundReader extends Reader {
  backgroundStore(): Store;
  background(work: Promise<unknown>): void;
}

export class Snapshots {
  private readonly byPool = new Map<string, Snapshot>();
  private readonly refreshing = new Map<string, number>();

  private readonly settings: Pick<Settings, "SNAPSHOT_FRESH_MS" | "SNAPSHOT_STALE_MS">;

  constructor(settings: Pick<Settings, "SNAPSHOT_FRESH_MS" | "SNAPSHOT_STALE_MS">) {
    this.settings = settings;
  }

  /** The pool as last seen, at once when it is known; a missing or a stale one is waited for. */
  async get(deps: BackgroundReader, provider: string, pool: string): Promise<Snapshot | undefined> {
    const { pool_key } = deps.keys.pool(provider, pool);
    const known = this.byPool.get(pool_key);
    const age_ms = known ? Date.now() - known.loaded_at_ms : Number.POSITIVE_INFINITY;
    if (!known || age_ms > this.settings.SNAPSHOT_STALE_MS) return this.refresh(deps, provider, pool);
    if (age_ms > this.settings.SNAPSHOT_FRESH_MS && this.claimRefresh(pool_key)) {
      const done = this.refresh({ keys: deps.keys, store: deps.backgroundStore() }, provider, pool);
      deps.background(done.finally(() => this.refreshing.delete(pool_key)));
    }
    return known;
  }

  /** Reads it again now, for a caller who found that it was out of date. */
  async refresh({ store, keys }: Reader, provider: string, pool: string): Promise<Snapshot | undefined> {
    const place = { pool, ...keys.pool(provider, pool) };
    const snapshot = await load(store, place, this.byPool.get(place.pool_key));
    this.byPool.delete(place.pool_key);
    if (snapshot) this.byPool.set(place.pool_key, snapshot);
    const [oldest] = this.byPool.keys();
    if (this.byPool.size > MOST_POOLS && oldest) this.byPool.delete(oldest);
    return snapshot;
  }

  /** What is known, however old. */
  peek = (pool_key: string) => this.byPool.get(pool_key);

  /** After a change of configuration that this isolate made itself. */
  forget = (pool_key: string) => this.byPool.delete(pool_key);

  /** A unit taken (1) or given back (-1) by this isolate: the next caller need not wait for a refresh to see it. */
  note(pool_key: string, key_id: string, units: 1 | -1) {
    const candidate = this.byPool.get(pool_key)?.candidates.find((one) => one.key_id === key_id);
    if (!candidate?.state) return;
    const { in_flight, used_at_ms } = candidate.state;
    candidate.state = {
      ...candidate.state,
      in_flight: Math.max(0, in_flight + units),
      used_at_ms: units > 0 ? Date.now() : used_at_ms,
    };
  }

  isFresh = (snapshot: Snapshot) => Date.now() - snapshot.loaded_at_ms <= this.settings.SNAPSHOT_FRESH_MS;

  /** One refresh at a time; one whose request was cut off is forgotten after the staleness limit. */
  private claimRefresh(pool_key: string): boolean {
    const since_ms = this.refreshing.get(pool_key);
    if (since_ms !== undefined && Date.now() - since_ms < this.settings.SNAPSHOT_STALE_MS) return false;
    this.refreshing.set(pool_key, Date.now());
    return true;
  }
}
