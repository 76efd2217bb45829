// What a model's name means: a call that is served by the wrong upstream, or escapes a limit, if these failed.
import { expect, test } from "vitest";
import { type Catalog, priceOf, resolve } from "../../src/catalog/catalog.ts";
import { type Price, price } from "../../src/catalog/schema.ts";

const rates = { input: 1, cached_input: 1, output: 1, per_request: 0 };
const priced = (provider: string, model: string, aliases: string[] = []) =>
  price.parse({ provider, model, ...rates, aliases });

function catalogOf(prices: Price[], models: Catalog["models"] = new Map()): Catalog {
  const byName = new Map<string, Price[]>();
  for (const one of prices)
    for (const name of [one.model, ...one.aliases]) byName.set(name, [...(byName.get(name) ?? []), one]);
  return { seq: 1, prices: new Map(prices.map((p) => [`${p.provider}/${p.model}`, p])), models, byName };
}

const catalog = catalogOf(
  [
    priced("openai", "gpt-4o", ["gpt-4o-latest"]),
    priced("azure", "gpt-4o"),
    priced("openai", "o3"),
    priced("together", "meta/llama"),
  ],
  new Map([
    [
      "smart",
      [
        { provider: "openai", provider_model: "gpt-4o" },
        { provider: "azure", pool: "eu", provider_model: "gpt-4o" },
      ],
    ],
    ["o3", [{ provider: "openai" }, { provider: "azure" }]],
    ["broken", [{ provider: "azure" }]],
  ]),
);
const said = (name: string) => {
  const found = resolve(catalog, name);
  return (
    found && [found.model, ...found.routes.map((r) => `${r.provider}:${r.pool ?? ""}:${r.provider_model}`)]
  );
};

test.each([
  ["openai/gpt-4o", ["gpt-4o", "openai::gpt-4o"]],
  [" openai/gpt-4o ", ["gpt-4o", "openai::gpt-4o"]],
  ["gpt-4o-latest", ["gpt-4o", "openai::gpt-4o"]],
  ["openai/gpt-4o-latest", ["gpt-4o", "openai::gpt-4o"]],
  ["azure/gpt-4o", ["gpt-4o", "azure::gpt-4o"]],
  ["smart", ["smart", "openai::gpt-4o", "azure:eu:gpt-4o"]],
  ["o3", ["o3", "openai::o3"]],
  ["meta/llama", ["meta/llama", "together::meta/llama"]],
  ["together/meta/llama", ["meta/llama", "together::meta/llama"]],
])("%s", (name, expected) => {
  expect(said(name)).toEqual(expected);
});

test.each(["gpt-4o", "GPT-4O", "gpt-4o-2024-11-20", "nobody/gpt-4o", "broken", "", "/", "openai/"])(
  "case C30: %j is nobody's, or not one provider's: not found",
  (name) => {
    expect(said(name)).toBeUndefined();
  },
);

test("an alias is another provider's name, not this one's", () => {
  expect(priceOf(catalog, "azure", "gpt-4o-latest")).toBeUndefined();
});
