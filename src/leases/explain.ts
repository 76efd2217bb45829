// Why nothing at all could serve a request: which of its names is unknown, or contradicts the state.
import { requireCell } from "../cell/meta.ts";
import type { Deps } from "../deps.ts";
import { homeOf } from "../keys.ts";
import { poolsOf } from "../pools/names.ts";
import type { Question } from "./question.ts";
import { providerModel } from "./rank.ts";

export interface Unserved {
  readonly kind: "not_found" | "policy_conflict";
  readonly detail: string;
}

const notFound = (detail: string): Unserved => ({ kind: "not_found", detail });
const conflict = (detail: string): Unserved => ({ kind: "policy_conflict", detail });

/** Pools of a provider that are looked into for a model; an error's text is not worth more. */
const MOST_POOLS = 20;

/** Throws StoreUnavailable when the database is no cell: an emptied one knows no names, and that proves nothing. */
export async function explainNothing(
  deps: Deps,
  { provider, pool, model }: Question<unknown>,
): Promise<Unserved> {
  await requireCell(deps);
  const all = await poolsOf(deps);
  const own = all.filter((one) => one.provider === provider);
  if (!own.some((one) => one.pool === pool)) {
    if (own.length === 0) return notFound(`provider: there is no provider ${provider}`);
    const other = all.find((one) => one.pool === pool);
    if (other) return conflict(`pool: ${pool} is a pool of ${other.provider}, not of ${provider}`);
    return notFound(`pool: ${provider} has no pool ${pool}`);
  }
  for (const one of own.slice(0, MOST_POOLS)) {
    const known = await deps.snapshots.get(deps, provider, one.pool);
    const serves = [...(known?.configs.values() ?? [])].some(
      (config) => providerModel(config, model) !== undefined,
    );
    if (serves)
      return conflict(`model: it is served by ${homeOf(provider, one.pool)}, which this call may not use`);
  }
  return notFound(`model: no credential of ${provider} lists it`);
}
