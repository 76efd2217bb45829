// Prices and routes over HTTP: a model served for nothing, or under a name that means two, if these failed.
import { expect, test } from "vitest";
import { useWorker } from "../support/worker.ts";

const worker = useWorker();
const { admin } = worker;

const rates = { input: 2_500_000, cached_input: 1_250_000, output: 10_000_000, per_request: 0 };
const price = (provider: string, model: string, more: object = {}) =>
  admin("POST", "/prices", { provider, model, ...rates, ...more });
const putModel = (model: string, routes: object[]) =>
  admin("PUT", `/models/${encodeURIComponent(model)}`, { routes });

test("a price is created, stays, changes and goes; its defaults are shown", async () => {
  expect((await price("openai", "gpt-4o")).status).toBe(201);
  expect((await price("openai", "gpt-4o")).body).toMatchObject({ result: "unchanged" });
  const { status, body } = await price("openai", "gpt-4o", { output: 9_000_000 });
  expect([status, body.result]).toEqual([200, "updated"]);
  const list = await admin("GET", "/prices");
  expect(list.body).toEqual({
    prices: [
      {
        provider: "openai",
        model: "gpt-4o",
        ...rates,
        output: 9_000_000,
        per_image_tokens: 1500,
        aliases: [],
      },
    ],
    next_cursor: null,
  });
  const gone = () => admin("DELETE", "/prices?provider=openai&model=gpt-4o");
  expect([(await gone()).status, (await gone()).status]).toEqual([200, 404]);
});

test.each([
  ["input", -1],
  ["input", 1.5],
  ["input", "1"],
  ["input", null],
  ["output", undefined],
  ["cached_input", 1e13],
  ["per_request", undefined],
  ["aliases", [""]],
  ["max_output_tokens", 0],
  ["model", "a\nb"],
  ["cost", 1],
])("a price with %s %j is refused, and names the field", async (field, value) => {
  const { status, body } = await price("openai", "gpt-4o", { [field]: value });
  expect([status, body.errors?.[0]?.field.split(".")[0]]).toEqual([400, field]);
  expect(await worker.redis.raw.exists("{test}:catalog")).toBe(0);
});

test("a name means one model of a provider", async () => {
  await price("openai", "gpt-4o", { aliases: ["latest"] });
  expect((await price("openai", "latest")).body.code).toBe("policy_conflict");
  expect((await price("openai", "o3", { aliases: ["gpt-4o"] })).body.code).toBe("policy_conflict");
  expect((await price("azure", "latest")).status).toBe(201);
});

test("a public name has routes, each with a price", async () => {
  await price("openai", "gpt-4o");
  const refused = await putModel("meta/smart", [
    { provider: "openai", provider_model: "gpt-4o" },
    { provider: "azure" },
  ]);
  expect([refused.status, refused.body.detail]).toEqual([409, "routes.1: azure has no price for that model"]);
  const routes = [{ provider: "openai", pool: "vip", provider_model: "gpt-4o" }];
  expect((await putModel("meta/smart", routes)).body).toEqual({ model: "meta/smart", routes });
  expect((await admin("GET", "/models")).body).toEqual({
    models: [{ model: "meta/smart", routes }],
    next_cursor: null,
  });
  const path = `/models/${encodeURIComponent("meta/smart")}`;
  expect((await admin("DELETE", path)).status).toBe(200);
  expect((await admin("DELETE", path)).status).toBe(404);
});

test("pages are in order, and go on where the one before ended", async () => {
  for (const model of ["b", "a", "c"]) await price("openai", model);
  await price("azure", "z");
  const names = ({ body }: Awaited<ReturnType<typeof admin>>) =>
    body.prices.map((p: { model: string }) => p.model);
  const first = await admin("GET", "/prices?limit=3");
  expect(names(first)).toEqual(["z", "a", "b"]);
  const cursor = encodeURIComponent(first.body.next_cursor);
  expect(names(await admin("GET", `/prices?limit=3&cursor=${cursor}`))).toEqual(["c"]);
  expect(names(await admin("GET", "/prices?provider=openai"))).toEqual(["a", "b", "c"]);
});

const entry = (more: object = {}) => ({
  litellm_provider: "openai",
  mode: "chat",
  input_cost_per_token: 2.5e-6,
  output_cost_per_token: 1e-5,
  ...more,
});

test("a price map is taken over with a report, twice with the same result, and keeps what an operator has set", async () => {
  await price("openai", "m1", { aliases: ["own"], max_output_tokens: 7 });
  const map = {
    m1: entry(),
    m2: entry({ cache_read_input_token_cost: 1e-6 }),
    other: entry({ litellm_provider: "azure" }),
    image: entry({ mode: "image_generation" }),
    free: entry({ output_cost_per_token: undefined }),
    own: entry(),
    sample_spec: { notes: "not a model" },
    ...Object.fromEntries(Array.from({ length: 120 }, (_, i) => [`bulk-${i}`, entry()])),
  };
  const first = await admin("POST", "/prices/import?provider=openai", map);
  expect(first.body).toMatchObject({
    created: 121,
    updated: 1,
    unchanged: 0,
    skipped: {
      "another provider": 1,
      "mode image_generation": 1,
      "no price per token": 1,
      "its name is an alias of another model": 1,
      "not an entry of the price map": 1,
    },
  });
  expect(first.body.examples).toContainEqual({ model: "free", reason: "no price per token" });
  const again = await admin("POST", "/prices/import?provider=openai", map);
  expect(again.body).toMatchObject({ created: 0, updated: 0, unchanged: 122 });
  const { body } = await admin("GET", "/prices?limit=1&cursor=openai/m0");
  expect(body.prices[0]).toMatchObject({
    model: "m1",
    input: 2_500_000,
    aliases: ["own"],
    max_output_tokens: 7,
  });
});

test("an emptied database is no empty catalog", async () => {
  await worker.redis.raw.flushall();
  const answers = [
    await admin("GET", "/prices"),
    await admin("GET", "/models"),
    await price("openai", "m"),
    await putModel("m", [{ provider: "openai" }]),
    await admin("POST", "/prices/import", {}),
    await admin("DELETE", "/models/m"),
  ];
  expect(answers.map(({ status }) => status)).toEqual([503, 503, 503, 503, 503, 503]);
});
