// GET /v1/models: what a caller may name, in OpenAI's shape.
import { type Catalog, resolve } from "../catalog/catalog.ts";

interface Model {
  readonly id: string;
  readonly object: "model";
  /** Nobody asks us when a model was made. */
  readonly created: 0;
  readonly owned_by: string;
}

/** Public names; and of each price the model's own name where that is enough, else with its provider. */
export function modelsOf(catalog: Catalog): { object: "list"; data: Model[] } {
  const named = [...catalog.prices.values()].map(({ provider, model }) =>
    resolve(catalog, model) ? model : `${provider}/${model}`,
  );
  const names = [...new Set([...catalog.models.keys(), ...named])].sort();
  const data = names.flatMap((id): Model[] => {
    const [route] = resolve(catalog, id)?.routes ?? [];
    return route ? [{ id, object: "model", created: 0, owned_by: route.provider }] : [];
  });
  return { object: "list", data };
}
