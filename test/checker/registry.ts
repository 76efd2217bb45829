// What belongs to a credential beside its state: its configuration, its secret, and its place in the provider's registry.

import { z } from "zod";
import type { Cell, Key } from "./keys.ts";
import type { Pool } from "./pools.ts";
import { groupBy, jsonOf, type Report } from "./words.ts";

type Parts = Map<string, Map<string, string>>;

/** Hashes of pools, by home. */
const partsOf = (keys: Key<"hash">[]): Parts => new Map(keys.map(({ ids, value }) => [ids.join(":"), value]));

/** Each credential has a field, and no other field is there. */
function checkFields(name: string, fields: Map<string, string> | undefined, pool: Pool, report: Report) {
  for (const id of pool.credentials.keys()) if (!fields?.has(id)) report(`${name}: nothing of ${id}`);
  for (const [id, text] of fields ?? []) {
    const settings = id === "@settings" && name.endsWith(":config");
    if (!pool.credentials.has(id) && !settings) report(`${name}: ${id} is not a credential of its pool`);
    const json = name.endsWith(":config");
    if (json && !jsonOf<unknown>(text, z.looseObject({})))
      report(`${name}: what it has of ${id} cannot be read`);
    if (!json && !/^\S+ [^.\s]+\.\S*$/.test(text)) report(`${name}: what it has of ${id} cannot be read`);
  }
}

/** What the registry of a provider must say. */
function registryOf(pools: Pool[], secrets: Parts): Map<string, string> {
  const registry = new Map<string, string>();
  for (const pool of pools) {
    const prints: string[] = [];
    for (const id of pool.credentials.keys()) {
      registry.set(`id:${id}`, pool.name);
      const print = secrets.get(pool.home)?.get(id)?.split(" ")[0];
      if (print) prints.push(print);
    }
    for (const [print, uses] of groupBy(prints, (one) => one))
      registry.set(`fp:${print}`, `${pool.name} ${uses.length}`);
  }
  return registry;
}

export function checkRegistry(cell: Cell, pools: Map<string, Pool>, report: Report) {
  const configs = partsOf(cell.config);
  const secrets = partsOf(cell.secrets);
  for (const pool of pools.values()) {
    checkFields(`pool:${pool.home}:config`, configs.get(pool.home), pool, report);
    checkFields(`pool:${pool.home}:secrets`, secrets.get(pool.home), pool, report);
  }
  for (const { name, ids } of [...cell.config, ...cell.secrets, ...cell.leases])
    if (!pools.has(ids.join(":"))) report(`${name}: its pool is not there`);
  const providers = new Map(cell.provider.map(({ ids: [provider = ""], value }) => [provider, value]));
  const byProvider = groupBy(pools.values(), ({ provider }) => provider);
  for (const provider of new Set([...providers.keys(), ...byProvider.keys()])) {
    const expected = registryOf(byProvider.get(provider) ?? [], secrets);
    const found = providers.get(provider) ?? new Map<string, string>();
    for (const field of new Set([...expected.keys(), ...found.keys()])) {
      const [is = "nothing", must = "nothing"] = [found.get(field), expected.get(field)];
      if (is !== must) report(`provider:${provider} ${field}: says ${is}, and must say ${must}`);
    }
  }
}
