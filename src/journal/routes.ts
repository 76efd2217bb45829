// GET /api/admin/journal: why was this charged, who changed that.
import { createRoute } from "@hono/zod-openapi";
import { requireCell } from "../cell/meta.ts";
import { COMMON, problems } from "../errors.ts";
import { json, jsonText, router } from "../http.ts";
import { readJournal } from "./read.ts";
import * as schema from "./schema.ts";

const read = createRoute({
  tags: ["journal"],
  security: [{ admin: [] }],
  method: "get",
  path: "/api/admin/journal",
  summary: "Entries of the journal, newest first",
  request: { query: schema.journalQuery },
  responses: {
    200: json(schema.entriesPage, "A page; one may be empty and go on"),
    ...problems(...COMMON),
  },
});

export const journal = router().openapi(read, async (c) => {
  const { entries, next_cursor } = await readJournal(c.var.deps, c.req.valid("query"));
  if (entries.length === 0) await requireCell(c.var.deps);
  const text = `{"entries":[${entries.join(",")}],"next_cursor":${JSON.stringify(next_cursor)}}`;
  return jsonText<typeof schema.entriesPage>(c, text);
});
