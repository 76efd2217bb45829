// The catalog as an isolate knows it: a copy at most CATALOG_TTL_MS old, read again only when it has changed.
import { z } from "zod";
import type { Keys } from "../keys.ts";
import type { Store } from "../store.ts";
import { type Price, price, type Route, routes } from "./schema.ts";

export interface Catalog {
  readonly seq: number;
  /** By `<provider>/<model>`, in order. */
  readonly prices: ReadonlyMap<string, Price>;
  /** By public name, in order. */
  readonly models: ReadonlyMap<string, readonly Route[]>;
  /** Who has a price for a name or an alias. */
  readonly byName: ReadonlyMap<string, readonly Price[]>;
}

export const priceField = (provider: string, model: string) => `price:${provider}/${model}`;
export const modelField = (model: string) => `model:${model}`;

const flat = z.array(z.string());
const sorted = <T>(map: Map<string, T>) => new Map([...map].sort(([a], [b]) => (a < b ? -1 : 1)));

function catalogOf(answer: unknown): Catalog {
  const list = flat.parse(answer ?? []);
  const prices = new Map<string, Price>();
  const models = new Map<string, readonly Route[]>();
  let seq = 0;
  for (let i = 0; i + 1 < list.length; i += 2) {
    const [field = "", text = ""] = list.slice(i);
    if (field === "@catalog") seq = Number(text.split(" ")[1]);
    if (field.startsWith("price:")) prices.set(field.slice("price:".length), price.parse(JSON.parse(text)));
    if (field.startsWith("model:"))
      models.set(field.slice("model:".length), routes.parse(JSON.parse(text)).routes);
  }
  const byName = new Map<string, Price[]>();
  for (const one of prices.values()) {
    for (const name of new Set([one.model, ...one.aliases]))
      byName.set(name, [...(byName.get(name) ?? []), one]);
  }
  return { seq, prices: sorted(prices), models: sorted(models), byName };
}

/** The price of a model of a provider, by its name or an alias; its own name comes first. */
export function priceOf({ prices, byName }: Catalog, provider: string, model: string): Price | undefined {
  return prices.get(`${provider}/${model}`) ?? byName.get(model)?.find((one) => one.provider === provider);
}

/** A way to serve a model: where, under which name there, and for how much. */
export interface Priced {
  readonly provider: string;
  readonly pool: string | undefined;
  readonly provider_model: string;
  readonly price: Price;
}
export interface Resolved {
  /** The one name that is counted and shown, whichever was asked for. */
  readonly model: string;
  readonly routes: readonly Priced[];
}

/**
 * What a caller means by a model's name: a public one with routes, else `provider/model`, else the one provider that has a price for
 * it. undefined: nobody does, or several.
 */
export function resolve(catalog: Catalog, asked: string): Resolved | undefined {
  const name = asked.trim();
  const known = catalog.models.get(name);
  if (known) {
    const priced = known.flatMap(({ provider, pool, provider_model = name }) => {
      const found = priceOf(catalog, provider, provider_model);
      return found ? [{ provider, pool, provider_model: found.model, price: found }] : [];
    });
    return priced.length > 0 ? { model: name, routes: priced } : undefined;
  }
  const slash = name.indexOf("/");
  const named = slash > 0 ? priceOf(catalog, name.slice(0, slash), name.slice(slash + 1)) : undefined;
  const all = catalog.byName.get(name) ?? [];
  const found = named ?? (all.length === 1 ? all[0] : undefined);
  if (!found) return undefined;
  const route = { provider: found.provider, pool: undefined, provider_model: found.model, price: found };
  return { model: found.model, routes: [route] };
}

interface Reader {
  readonly store: Store;
  readonly keys: Keys;
}
interface BackgroundReader extends Reader {
  backgroundStore(): Store;
  background(work: Promise<unknown>): void;
}

export class Catalogs {
  private known: { catalog: Catalog; read_at_ms: number } | undefined;
  private refreshing = false;
  private readonly ttl_ms: number;

  constructor(ttl_ms: number) {
    this.ttl_ms = ttl_ms;
  }

  /** The copy, refreshed in the background from half its life on; waited for when there is none or it is too old. */
  async get(deps: BackgroundReader): Promise<Catalog> {
    const age_ms = this.known ? Date.now() - this.known.read_at_ms : Number.POSITIVE_INFINITY;
    if (!this.known || age_ms >= this.ttl_ms) return this.refresh(deps);
    if (age_ms >= this.ttl_ms / 2 && !this.refreshing) {
      this.refreshing = true;
      const done = this.refresh({ keys: deps.keys, store: deps.backgroundStore() });
      deps.background(
        done.finally(() => {
          this.refreshing = false;
        }),
      );
    }
    return this.known.catalog;
  }

  /** Asks whether it has changed, and reads it only then. */
  async refresh({ store, keys }: Reader): Promise<Catalog> {
    const { catalog_key } = keys.catalog();
    const { known } = this;
    const [head] = known ? await store.read((p) => p.hget(catalog_key, "@catalog")) : [];
    const same = known && Number(String(head ?? "1 0").split(" ")[1]) === known.catalog.seq;
    const catalog = same ? known.catalog : catalogOf((await store.read((p) => p.hgetall(catalog_key)))[0]);
    this.known = { catalog, read_at_ms: Date.now() };
    return catalog;
  }

  /** After a change that this isolate made itself. */
  forget() {
    this.known = undefined;
  }
}
