// /api/admin/pools: what each pool has, does, and is set to.
import { createRoute, z } from "@hono/zod-openapi";
import { requireCell } from "../cell/meta.ts";
import type { Deps } from "../deps.ts";
import { COMMON, fail, problems } from "../errors.ts";
import { body, json, page, router } from "../http.ts";
import { id } from "../ids.ts";
import { homeOf } from "../keys.ts";
import { configure } from "../scripts/pool/configure.ts";
import { run } from "../scripts/run.ts";
import type { Read } from "../store.ts";
import { isoOrNull } from "../units.ts";
import { compare, type PoolName, poolsOf } from "./names.ts";
import {
  healthOf,
  limitsOf,
  type PoolPatch,
  patchSettings,
  poolPatch,
  poolSettings,
  readSettings,
} from "./settings.ts";
import { readBreaker, readPool } from "./state.ts";

const admin = { tags: ["pools"], security: [{ admin: [] }] };
const path = "/api/admin/pools";
const params = z.object({ provider: id, pool: id });

const number = z.number();
const poolView = z
  .object({
    provider: z.string(),
    pool: z.string(),
    credentials: number,
    capacity: number,
    in_flight: number,
    breaker: z.object({ failures_in_a_row: number, open_until: z.string().nullable() }),
    counters: z
      .object({
        granted: number,
        refused: number,
        reserved: number,
        breaker_open: number,
        lost: number,
        released: number,
        reclaimed: number,
        revoked: number,
      })
      .meta({ description: "Since the pool was made." }),
    settings: poolSettings,
  })
  .meta({ id: "Pool" });

const list = createRoute({
  ...admin,
  method: "get",
  path,
  summary: "List pools with their state, counters and settings",
  request: { query: z.object({ provider: id.optional(), ...page }) },
  responses: {
    200: json(
      z.object({ pools: z.array(poolView), next_cursor: z.string().nullable() }),
      "A page, in order of name",
    ),
    ...problems(...COMMON),
  },
});

const read = createRoute({
  ...admin,
  method: "get",
  path: `${path}/{provider}/{pool}`,
  summary: "One pool with its state, counters and settings",
  request: { params },
  responses: { 200: json(poolView, "The pool"), ...problems(...COMMON, "not_found") },
});

const change = createRoute({
  ...admin,
  method: "patch",
  path: `${path}/{provider}/{pool}`,
  summary: "Change some settings of a pool",
  request: { params, ...body(poolPatch) },
  responses: {
    200: json(poolView, "The pool as it is now"),
    ...problems(...COMMON, "not_found", "policy_conflict"),
  },
});

const texts = z.array(z.string().nullable());

/** Pools by name, without those that are not there; one round trip. */
async function readPools(deps: Deps, names: readonly PoolName[]) {
  if (names.length === 0) return [];
  const reads = names.flatMap(({ provider, pool }): Read[] => {
    const { pool_key, config_key } = deps.keys.pool(provider, pool);
    return [(p) => p.hmget(pool_key, "@pool", "@breaker"), (p) => p.hmget(config_key, "@settings")];
  });
  const answers = (await deps.store.read(...reads)).map((answer) => texts.parse(answer));
  return names.flatMap(({ provider, pool }, i) => {
    const [own, breaker = null] = answers[2 * i] ?? [];
    if (!own) return [];
    const { members, capacity, in_flight, blocked, fence: _fence, seq: _seq, ...counters } = readPool(own);
    const { failures = 0, open_until_ms = 0 } = readBreaker(breaker) ?? {};
    return {
      provider,
      pool,
      credentials: members,
      capacity,
      in_flight,
      breaker: { failures_in_a_row: failures, open_until: isoOrNull(open_until_ms) },
      counters: { ...counters, breaker_open: blocked },
      settings: readSettings(pool, answers[2 * i + 1]?.[0]),
    };
  });
}

const ATTEMPTS = 5;

/** By compare-and-set. absent: there is no such pool; stale: others change it faster than we. */
async function changeSettings(deps: Deps, { provider, pool }: PoolName, patch: PoolPatch) {
  const place = deps.keys.pool(provider, pool);
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const [before] = await deps.store.read((p) => p.hget(place.config_key, "@settings"));
    const text = typeof before === "string" ? before : "";
    const settings = patchSettings(readSettings(pool, text), patch);
    const reply = await run(deps.store, configure, place, {
      home: homeOf(provider, pool),
      settings_before: text,
      settings: JSON.stringify(settings),
      limits: limitsOf(settings),
      health: healthOf(settings),
      note: deps.note(),
    });
    deps.snapshots.forget(place.pool_key);
    if (reply.kind !== "stale") return reply.kind;
  }
  return "stale" as const;
}

const NO_SUCH = "there is no such pool";

export const settings = router()
  .openapi(list, async (c) => {
    const { provider, limit, cursor = "" } = c.req.valid("query");
    const names = (await poolsOf(c.var.deps)).filter(
      (one) =>
        (!provider || one.provider === provider) && compare([one.provider, one.pool], cursor.split("/")) > 0,
    );
    const here = names.slice(0, limit);
    const last = names.length > limit ? here.at(-1) : undefined;
    const next_cursor = last ? `${last.provider}/${last.pool}` : null;
    return c.json({ pools: await readPools(c.var.deps, here), next_cursor }, 200);
  })
  .openapi(read, async (c) => {
    const [found] = await readPools(c.var.deps, [c.req.valid("param")]);
    if (found) return c.json(found, 200);
    await requireCell(c.var.deps);
    return fail(c, "not_found", NO_SUCH, {});
  })
  .openapi(change, async (c) => {
    const name = c.req.valid("param");
    const kind = await changeSettings(c.var.deps, name, c.req.valid("json"));
    if (kind === "stale")
      return fail(c, "policy_conflict", "others are changing this pool: send it again", {});
    const [found] = kind === "configured" ? await readPools(c.var.deps, [name]) : [];
    if (found) return c.json(found, 200);
    await requireCell(c.var.deps);
    return fail(c, "not_found", NO_SUCH, {});
  });
