// Entries of the journal as an operator reads them.
import { z } from "@hono/zod-openapi";
import { id } from "../ids.ts";

export const KINDS = ["settle", "void", "expire", "refund", "adjust", "config", "status", "token"] as const;

export const journalQuery = z.object({
  tenant: id.optional(),
  sub_account: id.optional(),
  provider: id.optional().meta({ description: "Entries of its pools." }),
  pool: id.optional(),
  kind: z.enum(KINDS).optional(),
  hold_id: id.optional().meta({ description: "Of a call it is the call's id." }),
  op_id: id.optional(),
  request_id: id.optional().meta({ description: "The `x-request-id` of the request that made the entry." }),
  limit: z
    .string()
    .regex(/^([1-9]\d{0,2}|1000)$/, "1 to 1000")
    .default("100")
    .transform(Number),
  cursor: z
    .string()
    .regex(/^\d{1,15}-\d{1,15}@\d{1,2}$/, "as an answer gave it")
    .optional(),
});
export type JournalQuery = z.output<typeof journalQuery>;

const number = z.number();
const amounts = { spent: number, lapsed: number, debt: number, funded: number };
export const entryView = z
  .object({
    entry_id: z.string(),
    kind: z.enum(KINDS),
    tenant: z.string().nullable(),
    provider: z.string().nullable(),
    pool: z.string().nullable(),
    seq: number.meta({ description: "Numbers the entries of its tenant or pool, without a gap." }),
    at: z.string(),
    actor: z.string(),
    sub_account: z.string().nullable(),
    hold_id: z.string().nullable(),
    op_id: z.string().nullable(),
    amount: number.nullable().meta({ description: "What it charged; of an adjust what came in." }),
    purses: z.array(
      z.object({
        purse: z.string().meta({ description: "`account`, or `purse:` and the sub-account." }),
        change: z.object(amounts),
        after: z.object({ available: number, held: number, ...amounts }),
      }),
    ),
    detail: z.unknown(),
    metadata: z.unknown().meta({ description: "The caller's, byte for byte." }),
  })
  .meta({ id: "Entry" });
export const entriesPage = z.object({ entries: z.array(entryView), next_cursor: z.string().nullable() });
