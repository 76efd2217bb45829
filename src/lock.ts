// A lock in Redis around a piece of work, so that of two runs at once one does it. It ends by itself.
import type { Deps } from "./deps.ts";
import { mint } from "./ids.ts";
import { freeLock } from "./scripts/lock/free.ts";
import { takeLock } from "./scripts/lock/take.ts";
import { run } from "./scripts/run.ts";

interface Lock {
  /** Leaves it taken for so long from now: what was done is not to be tried again soon. Throws StoreUnavailable. */
  keep(for_ms: number): Promise<void>;
}

/** What the work returns; undefined without it when another has the lock. `for_ms` must outlast the work. Throws StoreUnavailable. */
export async function withLock<T>(
  deps: Pick<Deps, "keys" | "backgroundStore">,
  name: readonly string[],
  for_ms: number,
  work: (lock: Lock) => Promise<T>,
): Promise<T | undefined> {
  const keys = { lock_key: deps.keys.lock(...name) };
  const owner = mint("owner");
  const take = (ms: number) => run(deps.backgroundStore(), takeLock, keys, { owner, for_ms: ms });
  if ((await take(for_ms)).kind === "held") return undefined;
  let kept = false;
  const keep = async (ms: number) => {
    kept = (await take(ms)).kind === "taken";
  };
  try {
    return await work({ keep });
  } finally {
    // One that cannot be freed ends soon.
    if (!kept) await run(deps.backgroundStore(), freeLock, keys, { owner }).catch(() => undefined);
  }
}
