// What a job looks through: the credentials of the cell's pools, a bounded part of them in each run.
import { z } from "zod";
import type { Deps } from "../deps.ts";
import { StoreUnavailable } from "../store.ts";
import { MINUTE_MS } from "../units.ts";
import { type PoolName, poolsOf } from "./names.ts";
import type { PoolSettings } from "./settings.ts";
import type { Candidate, Snapshot } from "./snapshot.ts";

/** Of a run, and of a moment. */
const POOLS = 100;
const AT_ONCE = 10;

export interface Seen extends PoolName, Candidate {
  readonly settings: PoolSettings;
}

/** What Redis answers to TIME. */
export function timeOf(answer: unknown): number {
  const [seconds = 0, micros = 0] = z.array(z.coerce.number()).parse(answer);
  return seconds * 1000 + Math.floor(micros / 1000);
}

/** Of a list too long for one run another part each minute, so that what fails for ever keeps nobody from its turn. */
export function inTurn<T>(list: readonly T[], most: number, now_ms: number): T[] {
  if (list.length <= most) return [...list];
  const from = (Math.floor(now_ms / MINUTE_MS) * most) % list.length;
  return [...list.slice(from), ...list.slice(0, from)].slice(0, most);
}

/**
 * A few at a time: a Worker has few connections, and who waits for one would use up its time. What fails by itself, such as a
 * stored value that cannot be read, is an error among the results and stops no other. Throws StoreUnavailable.
 */
export async function eachOf<T, R>(
  list: readonly T[],
  at_once: number,
  work: (one: T) => Promise<R>,
): Promise<(R | Error)[]> {
  const results: (R | Error)[] = [];
  const tried = (one: T): Promise<R | Error> =>
    work(one).catch((error: Error) => {
      if (error instanceof StoreUnavailable) throw error;
      return error;
    });
  for (let from = 0; from < list.length; from += at_once)
    results.push(...(await Promise.all(list.slice(from, from + at_once).map(tried))));
  return results;
}

/** The pool as it is now, or as a job of the same run has just seen it. */
async function snapshotOf(deps: Deps, { provider, pool }: PoolName, young_ms: number) {
  const known = deps.snapshots.peek(deps.keys.pool(provider, pool).pool_key);
  if (known && Date.now() - known.loaded_at_ms < young_ms) return known;
  const reader = { keys: deps.keys, store: deps.backgroundStore() };
  return deps.snapshots.refresh(reader, provider, pool);
}

const seenIn = ({ provider, pool }: PoolName, { candidates, settings }: Snapshot): Seen[] =>
  candidates.map((candidate) => ({ provider, pool, settings, ...candidate }));

/**
 * The credentials that are wanted, and Redis' time. Of the largest pools a sample's state is known (`Snapshot`). `young_ms` is how
 * old what is looked at may be. Throws StoreUnavailable.
 */
export async function lookFor(deps: Deps, young_ms: number, wanted: (one: Seen, now_ms: number) => boolean) {
  const store = deps.backgroundStore();
  const pools = await poolsOf({ store, keys: deps.keys, settings: deps.settings });
  const now_ms = timeOf((await store.read((p) => p.time()))[0]);
  const seen = await eachOf(inTurn(pools, POOLS, now_ms), AT_ONCE, async (pool) => {
    const snapshot = await snapshotOf(deps, pool, young_ms);
    return snapshot ? seenIn(pool, snapshot).filter((one) => wanted(one, now_ms)) : [];
  });
  const found = seen.flatMap((part) => (part instanceof Error ? [] : part));
  return { found, unreadable: seen.filter((part) => part instanceof Error).length, now_ms };
}
