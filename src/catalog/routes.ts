// /api/admin/prices and /api/admin/models: what models cost, and who serves them.
import { createRoute, z } from "@hono/zod-openapi";
import { requireCell } from "../cell/meta.ts";
import { COMMON, fail, problems } from "../errors.ts";
import { body, json, page, router } from "../http.ts";
import { id } from "../ids.ts";
import { model } from "../pools/schema.ts";
import { modelField, priceField } from "./catalog.ts";
import * as change from "./change.ts";
import * as schema from "./schema.ts";

const admin = { tags: ["catalog"], security: [{ admin: [] }] };
const PRICES = "/api/admin/prices";
const MODELS = "/api/admin/models";
const removed = json(z.object({ removed: z.literal(true) }), "It is gone");
const modelPath = { params: z.object({ model }) };

const listPrices = createRoute({
  ...admin,
  method: "get",
  path: PRICES,
  summary: "List prices",
  request: { query: z.object({ ...page, cursor: z.string().max(300).optional(), provider: id.optional() }) },
  responses: {
    200: json(
      z.object({ prices: z.array(schema.price), next_cursor: z.string().nullable() }),
      "A page, in order of provider and model",
    ),
    ...problems(...COMMON),
  },
});

const putPrice = createRoute({
  ...admin,
  method: "post",
  path: PRICES,
  summary: "Set the price of a model at a provider",
  request: body(schema.price),
  responses: {
    200: json(schema.priceResult, "It was there"),
    201: json(schema.priceResult, "It is new"),
    ...problems(...COMMON, "policy_conflict"),
  },
});

const removePrice = createRoute({
  ...admin,
  method: "delete",
  path: PRICES,
  summary: "Forget a price; the model is not served any more",
  request: { query: schema.priceName },
  responses: { 200: removed, ...problems(...COMMON, "not_found") },
});

const importPrices = createRoute({
  ...admin,
  method: "post",
  path: `${PRICES}/import`,
  summary: "Take over LiteLLM's price map",
  request: {
    query: z.object({ provider: id.optional().meta({ description: "Only this one; absent: all." }) }),
    ...body(z.record(z.string().max(300), z.unknown()).meta({ id: "PriceMap" })),
  },
  responses: { 200: json(schema.importReport, "What became of it"), ...problems(...COMMON) },
});

const listModels = createRoute({
  ...admin,
  method: "get",
  path: MODELS,
  summary: "List public names of models with their routes",
  request: { query: z.object(page) },
  responses: {
    200: json(
      z.object({ models: z.array(schema.modelView), next_cursor: z.string().nullable() }),
      "A page, in order of name",
    ),
    ...problems(...COMMON),
  },
});

const putModel = createRoute({
  ...admin,
  method: "put",
  path: `${MODELS}/{model}`,
  summary: "Say who serves a public name, in which order",
  request: { ...modelPath, ...body(schema.routes) },
  responses: { 200: json(schema.modelView, "Its routes"), ...problems(...COMMON, "policy_conflict") },
});

const removeModel = createRoute({
  ...admin,
  method: "delete",
  path: `${MODELS}/{model}`,
  summary: "Forget the routes of a public name",
  request: modelPath,
  responses: { 200: removed, ...problems(...COMMON, "not_found") },
});

/** A page of an ordered map behind the cursor, which is a key of it. */
function pageOf<T>(all: ReadonlyMap<string, T>, limit: number, cursor = "") {
  const keys = [...all.keys()].filter((key) => key > cursor);
  const here = keys.slice(0, limit);
  const next_cursor = keys.length > limit ? (here.at(-1) ?? null) : null;
  return { here: here.map((key) => ({ key, value: all.get(key) as T })), next_cursor };
}

const FULL = (entries: number) => `the catalog has ${entries} entries, the most it may have`;

export const catalog = router()
  .openapi(listPrices, async (c) => {
    const { provider, limit, cursor } = c.req.valid("query");
    const { prices } = await c.var.deps.catalogs.refresh(c.var.deps);
    if (prices.size === 0) await requireCell(c.var.deps);
    const own = new Map([...prices].filter(([, price]) => !provider || price.provider === provider));
    const { here, next_cursor } = pageOf(own, limit, cursor);
    return c.json({ prices: here.map(({ value }) => value), next_cursor }, 200);
  })
  .openapi(putPrice, async (c) => {
    const price = c.req.valid("json");
    const { provider, model } = price;
    c.set("ids", { provider });
    await requireCell(c.var.deps);
    const fault = change.nameFault(await c.var.deps.catalogs.refresh(c.var.deps), price);
    if (fault) return fail(c, "policy_conflict", fault, {});
    const reply = await change.putPrice(c.var.deps, price);
    if (reply.kind === "full") return fail(c, "policy_conflict", FULL(reply.entries), {});
    const result = { provider, model, result: reply.kind };
    return reply.kind === "created" ? c.json(result, 201) : c.json(result, 200);
  })
  .openapi(removePrice, async (c) => {
    const { provider, model } = c.req.valid("query");
    if (await change.remove(c.var.deps, priceField(provider, model), { provider, model }))
      return c.json({ removed: true as const }, 200);
    await requireCell(c.var.deps);
    return fail(c, "not_found", "model: that provider has no price for it", {});
  })
  .openapi(importPrices, async (c) => {
    await requireCell(c.var.deps);
    const map = c.req.valid("json");
    return c.json(await change.importPrices(c.var.deps, map, c.req.valid("query").provider), 200);
  })
  .openapi(listModels, async (c) => {
    const { limit, cursor } = c.req.valid("query");
    const { models } = await c.var.deps.catalogs.refresh(c.var.deps);
    if (models.size === 0) await requireCell(c.var.deps);
    const { here, next_cursor } = pageOf(models, limit, cursor);
    return c.json(
      { models: here.map(({ key, value }) => ({ model: key, routes: [...value] })), next_cursor },
      200,
    );
  })
  .openapi(putModel, async (c) => {
    const { model } = c.req.valid("param");
    const { routes } = c.req.valid("json");
    await requireCell(c.var.deps);
    const fault = change.routeFault(await c.var.deps.catalogs.refresh(c.var.deps), model, routes);
    if (fault) return fail(c, "policy_conflict", fault, {});
    const reply = await change.putRoutes(c.var.deps, model, routes);
    if (reply.kind === "full") return fail(c, "policy_conflict", FULL(reply.entries), {});
    return c.json({ model, routes }, 200);
  })
  .openapi(removeModel, async (c) => {
    const { model } = c.req.valid("param");
    if (await change.remove(c.var.deps, modelField(model), { model }))
      return c.json({ removed: true as const }, 200);
    await requireCell(c.var.deps);
    return fail(c, "not_found", "model: no such public name", {});
  });
