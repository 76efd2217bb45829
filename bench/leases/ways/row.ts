// Ways that keep the counter in a row of PostgreSQL.
import type { Sql } from "postgres";
import type { Way } from "./way.ts";

function inRow(name: string, sql: Sql, verbs: Pick<Way, "take" | "give">): Way {
  return {
    name,
    prepare: async (units) => {
      await sql`CREATE TABLE IF NOT EXISTS pool (id int PRIMARY KEY, capacity int NOT NULL, in_use int NOT NULL)
        WITH (fillfactor = 10)`;
      await sql`INSERT INTO pool VALUES (1, ${units}, 0)
        ON CONFLICT (id) DO UPDATE SET capacity = excluded.capacity, in_use = 0`;
    },
    inUse: async () => {
      const [row] = await sql<{ in_use: number }[]>`SELECT in_use FROM pool WHERE id = 1`;
      return row?.in_use ?? 0;
    },
    ...verbs,
  };
}

/** Read the row and lock it, decide, write, commit: what code between reading and writing needs. */
export const rowLock = (sql: Sql) =>
  inRow("PostgreSQL, SELECT FOR UPDATE", sql, {
    take: () =>
      sql.begin(async (tx) => {
        const [row] = await tx<{ in_use: number; capacity: number }[]>`
          SELECT in_use, capacity FROM pool WHERE id = 1 FOR UPDATE`;
        if (!row || row.in_use >= row.capacity) return undefined;
        await tx`UPDATE pool SET in_use = ${row.in_use + 1} WHERE id = 1`;
        return "unit";
      }),
    give: () => sql`UPDATE pool SET in_use = in_use - 1 WHERE id = 1`,
  });

/** The decision in the statement itself: one round trip, the same lock on the row. */
export const oneUpdate = (sql: Sql) =>
  inRow("PostgreSQL, one UPDATE", sql, {
    take: async () => {
      const { count } = await sql`UPDATE pool SET in_use = in_use + 1 WHERE id = 1 AND in_use < capacity`;
      return count === 1 ? "unit" : undefined;
    },
    give: () => sql`UPDATE pool SET in_use = in_use - 1 WHERE id = 1`,
  });
