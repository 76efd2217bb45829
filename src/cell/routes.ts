// Makes an empty database a cell.
import { createRoute, z } from "@hono/zod-openapi";
import { COMMON, fail, problems } from "../errors.ts";
import { json, router } from "../http.ts";
import { id } from "../ids.ts";
import { SHARDS } from "../keys.ts";
import { create } from "../scripts/cell/create.ts";
import { run } from "../scripts/run.ts";

const cellView = z.object({ cell: z.string(), epoch: z.number(), shards: z.number() }).meta({ id: "Cell" });

const createCell = createRoute({
  method: "post",
  path: "/api/admin/cell",
  tags: ["cell"],
  summary: "Make an empty database a cell, once",
  security: [{ admin: [] }],
  request: {
    headers: z.object({
      "idempotency-key": id.optional().meta({ description: "Makes a repeat answer as the first time." }),
    }),
  },
  responses: { 201: json(cellView, "The cell"), ...problems(...COMMON, "policy_conflict") },
});

export const cell = router().openapi(createCell, async (c) => {
  const { store, keys, settings } = c.var.deps;
  const op_id = c.req.valid("header")["idempotency-key"] ?? "";
  const reply = await run(
    store,
    create,
    { meta_key: keys.meta() },
    { cell: settings.CELL, shards: SHARDS, op_id },
  );
  switch (reply.kind) {
    case "created":
      return c.json({ cell: settings.CELL, epoch: reply.epoch, shards: SHARDS }, 201);
    case "exists":
      return fail(c, "policy_conflict", `the database is the cell ${reply.cell} already`, {});
  }
});
