// What the handlers work with. One set an isolate, a Store a request; only this file builds a client.
import { Redis } from "@upstash/redis/cloudflare";
import type { Context } from "hono";
import type { RequestIdVariables } from "hono/request-id";
import { Catalogs } from "./catalog/catalog.ts";
import { type Settings, settingsOf } from "./env.ts";
import { Callers } from "./gateway/caller.ts";
import type { GatewayCode } from "./gateway/dialect-error.ts";
import { type Keys, keysOf } from "./keys.ts";
import { Metrics } from "./metrics.ts";
import { Snapshots } from "./pools/snapshot.ts";
import { Overdue } from "./quota/overdue.ts";
import { Sealing } from "./sealing.ts";
import { CLIENT, Deadline, Store } from "./store.ts";

type IdName =
  | "provider"
  | "pool"
  | "key_id"
  | "lease_id"
  | "holder"
  | "tenant"
  | "sub_account"
  | "hold_id"
  | "call_id"
  | "op_id";
/** What a request was about, for its log line: ids only. */
export type Ids = Partial<Record<IdName, string>>;

export interface App {
  Bindings: Env;
  Variables: RequestIdVariables & { deps: Deps; code?: GatewayCode; ids?: Ids };
}

/** Lives as long as the isolate: settings, imported keys, snapshots, counters. */
export interface Isolate {
  readonly settings: Settings;
  readonly keys: Keys;
  readonly sealing: Sealing;
  readonly snapshots: Snapshots;
  readonly metrics: Metrics;
  readonly overdue: Overdue;
  readonly catalogs: Catalogs;
  readonly callers: Callers;
  /** Set once the dialect probe has passed. */
  probed: boolean;
}

export interface Deps extends Isolate {
  /** What a journal entry says of the request that made it: its id, and what the caller gives beside it. */
  note(more?: Record<string, unknown>): string;
  /** Redis under the deadline of this request. */
  readonly store: Store;
  /** Redis with time of its own, for work that goes on after the reply. */
  backgroundStore(): Store;
  /** The same with a deadline that begins now: for what comes after a wait. */
  again(): Deps;
  /** Keeps the Worker alive for work after the reply; what fails there is nobody's answer. */
  background(work: Promise<unknown>): void;
}

const isolates = new WeakMap<Env, Isolate>();

/** Throws SettingsError. */
function isolateOf(env: Env): Isolate {
  let isolate = isolates.get(env);
  if (!isolate) {
    const settings = settingsOf(env);
    isolate = {
      settings,
      keys: keysOf(settings.CELL),
      sealing: new Sealing(settings.SEALING_KEYS),
      snapshots: new Snapshots(settings),
      metrics: new Metrics(),
      overdue: new Overdue(),
      catalogs: new Catalogs(settings.CATALOG_TTL_MS),
      callers: new Callers(settings.CATALOG_TTL_MS),
      probed: false,
    };
    isolates.set(env, isolate);
  }
  return isolate;
}

function storeOf(settings: Settings): Store {
  const deadline = new Deadline(settings.REQUEST_DEADLINE_MS, settings.REDIS_TIMEOUT_MS);
  const redis = new Redis({
    url: settings.UPSTASH_REDIS_REST_URL,
    token: settings.UPSTASH_REDIS_REST_TOKEN,
    ...CLIENT,
    signal: deadline.signal,
  });
  return new Store(redis, settings.REDIS_DIALECT, deadline);
}

/** The deps of one request, or of one run of the jobs. Throws SettingsError. */
export function depsOf(env: Env, context: Pick<ExecutionContext, "waitUntil">, request_id: string): Deps {
  const isolate = isolateOf(env);
  const own = (): Deps =>
    Object.assign(Object.create(isolate) as Isolate, {
      note: (more: Record<string, unknown> = {}) => JSON.stringify({ request_id, ...more }),
      store: storeOf(isolate.settings),
      backgroundStore: () => storeOf(isolate.settings),
      again: own,
      background: (work: Promise<unknown>) => context.waitUntil(work.catch(() => undefined)),
    });
  return own();
}

export const depsOfContext = (c: Context<App>) => depsOf(c.env, c.executionCtx, c.get("requestId"));
