// Writing the catalog: what would make a name mean two things, or a model cost nothing, is refused.
import type { Deps } from "../deps.ts";
import { putEntry } from "../scripts/catalog/put.ts";
import { removeEntry } from "../scripts/catalog/remove.ts";
import { run, runMany } from "../scripts/run.ts";
import { type Catalog, modelField, priceField, priceOf } from "./catalog.ts";
import { readEntry } from "./litellm.ts";
import type { ImportReport, Price, Route } from "./schema.ts";

/** A price, as the name of another price of the same provider would hide it. */
export function nameFault(catalog: Catalog, { provider, model, aliases }: Price): string | undefined {
  const taken = [model, ...aliases].find((name) => {
    const found = priceOf(catalog, provider, name);
    return found && found.model !== model;
  });
  return taken === undefined ? undefined : `aliases: ${provider} has another model that is called so`;
}

/** A route without a price would be served for nothing. */
export function routeFault(catalog: Catalog, model: string, routes: readonly Route[]): string | undefined {
  const i = routes.findIndex((route) => !priceOf(catalog, route.provider, route.provider_model ?? model));
  return i < 0 ? undefined : `routes.${i}: ${routes[i]?.provider} has no price for that model`;
}

export async function putPrice(deps: Deps, price: Price) {
  const args = {
    field: priceField(price.provider, price.model),
    value: JSON.stringify(price),
    note: deps.note(),
  };
  const reply = await run(deps.store, putEntry, deps.keys.catalog(), args);
  deps.catalogs.forget();
  return reply;
}

export async function putRoutes(deps: Deps, model: string, routes: readonly Route[]) {
  const args = { field: modelField(model), value: JSON.stringify({ routes }), note: deps.note({ model }) };
  const reply = await run(deps.store, putEntry, deps.keys.catalog(), args);
  deps.catalogs.forget();
  return reply;
}

export async function remove(deps: Deps, field: string, named: Record<string, unknown>) {
  const reply = await run(deps.store, removeEntry, deps.keys.catalog(), { field, note: deps.note(named) });
  deps.catalogs.forget();
  return reply.kind === "removed";
}

const EXAMPLES = 100;
/** Scripts in one round trip. */
const CHUNK = 50;

/** Takes over LiteLLM's price map, of one provider or of all; what it does not price is left out, and said. */
export async function importPrices(deps: Deps, map: Record<string, unknown>, provider: string | undefined) {
  const catalog = await deps.catalogs.refresh(deps);
  const report: ImportReport = { created: 0, updated: 0, unchanged: 0, skipped: {}, examples: [] };
  const skip = (model: string, reason: string) => {
    report.skipped[reason] = (report.skipped[reason] ?? 0) + 1;
    if (report.examples.length < EXAMPLES) report.examples.push({ model: model.slice(0, 128), reason });
  };
  const prices: Price[] = [];
  for (const [name, entry] of Object.entries(map)) {
    const read = readEntry(name, entry);
    if (typeof read === "string") skip(name, read);
    else if (provider && read.provider !== provider) skip(name, "another provider");
    else if (nameFault(catalog, read)) skip(name, "its name is an alias of another model");
    else prices.push(keepingOwn(catalog, read));
  }
  for (let from = 0; from < prices.length; from += CHUNK) {
    const chunk = prices.slice(from, from + CHUNK);
    const inputs = chunk.map((price) => ({
      keys: deps.keys.catalog(),
      args: {
        field: priceField(price.provider, price.model),
        value: JSON.stringify(price),
        note: deps.note(),
      },
    }));
    for (const [i, reply] of (await runMany(deps.backgroundStore(), putEntry, inputs)).entries()) {
      const model = chunk[i]?.model ?? "";
      if (reply instanceof Error) skip(model, "the store did not answer: import it again");
      else if (reply.kind === "full")
        skip(model, `the catalog has ${reply.entries} entries, the most it may have`);
      else report[reply.kind]++;
    }
  }
  deps.catalogs.forget();
  return report;
}

/** What an operator has set and the map does not know outlives an import. */
function keepingOwn(catalog: Catalog, read: Price): Price {
  const known = catalog.prices.get(`${read.provider}/${read.model}`);
  if (!known) return read;
  const { input: _i, cached_input: _c, output: _o, per_request: _r, cache_write: _w, ...own } = known;
  return { ...read, ...own, max_output_tokens: read.max_output_tokens ?? own.max_output_tokens };
}
