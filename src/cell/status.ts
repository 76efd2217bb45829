// Is it ready, and how is it doing?
import { createRoute, z } from "@hono/zod-openapi";
import type { Deps } from "../deps.ts";
import { COMMON, problems } from "../errors.ts";
import { json, router } from "../http.ts";
import { log } from "../log.ts";
import { CHECKS, probe } from "../scripts/cell/probe.ts";
import { run } from "../scripts/run.ts";
import { StoreUnavailable } from "../store.ts";
import { requireCell } from "./meta.ts";

/** Runs the probe script: whole until it has passed once in this isolate, then only the time. Says what fails in words. */
async function probeStore(deps: Deps, isolate: { probed: boolean }): Promise<string[]> {
  const reply = await run(deps.store, probe, deps.keys.probe(), { full: !isolate.probed });
  isolate.probed ||= reply.failures.length === 0;
  return reply.failures.map((name) => CHECKS[name]);
}

const readyz = createRoute({
  method: "get",
  path: "/readyz",
  tags: ["status"],
  summary: "Runs a script on Redis, and looks for the cell",
  responses: { 200: json(z.object({ ready: z.literal(true) }), "Ready"), ...problems(...COMMON) },
});

const metrics = createRoute({
  method: "get",
  path: "/metrics",
  tags: ["status"],
  summary: "Counters of this isolate, as Prometheus text",
  security: [{ metrics: [] }],
  responses: {
    200: { description: "Prometheus exposition text", content: { "text/plain": { schema: z.string() } } },
    ...problems(...COMMON),
  },
});

export const status = router()
  .openapi(readyz, async (c) => {
    const failures = await probeStore(c.var.deps, Object.getPrototypeOf(c.var.deps));
    if (failures.length > 0) {
      log("error", "dialect", { request_id: c.var.requestId, missing: failures.join("; ") });
      throw new StoreUnavailable("dialect", false, `this database does not do: ${failures.join("; ")}`);
    }
    await requireCell(c.var.deps);
    return c.json({ ready: true as const }, 200);
  })
  .openapi(metrics, async (c) => {
    const up = await run(c.var.deps.store, probe, c.var.deps.keys.probe(), { full: false }).then(
      () => 1,
      () => 0,
    );
    return c.text(c.var.deps.metrics.text({ qm_redis_up: up }), 200);
  });
