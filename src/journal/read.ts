// The journal, newest first: 16 streams read as one, filtered, page by page.
import { z } from "zod";
import type { Deps } from "../deps.ts";
import { withFieldText } from "../json-text.ts";
import { SHARDS } from "../keys.ts";
import type { Read } from "../store.ts";
import { iso } from "../units.ts";
import type { JournalQuery } from "./schema.ts";

interface Entry {
  readonly id: string;
  readonly shard: number;
  readonly fields: Readonly<Record<string, string>>;
}

const raw = z.array(z.tuple([z.string(), z.array(z.string())]));

/** Entries of one shard in one round, and rounds of one request: a page may be empty and go on. */
const CHUNK = 200;
const ROUNDS = 10;

/** By time and number, then by shard: the order in which pages go back. */
function before(a: Entry, b: Entry): number {
  const [a_ms = 0, a_n = 0] = a.id.split("-").map(Number);
  const [b_ms = 0, b_n = 0] = b.id.split("-").map(Number);
  return b_ms - a_ms || b_n - a_n || b.shard - a.shard;
}

type Place = Pick<Entry, "id" | "shard">;
const cursorOf = ({ id, shard }: Place) => `${id}@${shard}`;
function placeOf(cursor: string): Place {
  const [id = "", shard] = cursor.split("@");
  return { id, shard: Number(shard) };
}

/** Where a shard goes on behind a place: what is there at the same moment in a lower shard comes after it. */
const endOf = (shard: number, place: Place | undefined) =>
  place === undefined ? "+" : shard < place.shard ? place.id : `(${place.id}`;

async function readRound(deps: Deps, shards: readonly number[], place: Place | undefined): Promise<Entry[]> {
  const reads = shards.map(
    (shard): Read =>
      (p) =>
        p.xrevrange(deps.keys.journal(shard), endOf(shard, place), "-", CHUNK),
  );
  const answers = await deps.store.read(...reads);
  return answers.flatMap((answer, i) =>
    raw.parse(answer ?? []).map(([id, list]) => {
      const fields = list.flatMap((name, n) => (n % 2 === 0 ? [[name, list[n + 1] ?? ""] as const] : []));
      return { id, shard: shards[i] ?? 0, fields: Object.fromEntries(fields) };
    }),
  );
}

const requestOf = (detail: string): unknown => {
  const parsed: { note?: { request_id?: unknown } } = JSON.parse(detail || "{}");
  return parsed.note?.request_id;
};

function matches({ fields }: Entry, query: JournalQuery): boolean {
  const { tenant, sub_account, provider, pool, kind, hold_id, op_id, request_id } = query;
  const [what, ...names] = (fields.aggregate ?? "").split(":");
  const is = (asked: string | undefined, said: string | undefined) => asked === undefined || asked === said;
  return (
    is(tenant, what === "tenant" ? names[0] : undefined) &&
    is(provider, what === "pool" ? names[0] : undefined) &&
    is(pool, what === "pool" ? names[1] : undefined) &&
    is(sub_account, fields.sub_account) &&
    is(kind, fields.kind) &&
    is(hold_id, fields.hold) &&
    is(op_id, fields.op) &&
    (request_id === undefined || requestOf(fields.detail ?? "") === request_id)
  );
}

/** The only shard that can have it, or all. */
function shardsOf(deps: Deps, { tenant, provider, pool }: JournalQuery): number[] {
  const keys = tenant
    ? deps.keys.tenant(tenant)
    : provider && pool
      ? deps.keys.pool(provider, pool)
      : undefined;
  const all = Array.from({ length: SHARDS }, (_, shard) => shard);
  return keys ? all.filter((shard) => deps.keys.journal(shard) === keys.journal_key) : all;
}

/** A page of entries, each as JSON text, and where the next one begins. */
export async function readJournal(deps: Deps, query: JournalQuery) {
  const shards = shardsOf(deps, query);
  const found: Entry[] = [];
  let place = query.cursor === undefined ? undefined : placeOf(query.cursor);
  for (let round = 0; round < ROUNDS; round++) {
    const read = await readRound(deps, shards, place);
    // Behind the end of a shard that was read in full, another may have older ones that were not read yet.
    const full = shards.flatMap((shard) => {
      const own = read.filter((entry) => entry.shard === shard);
      return own.length === CHUNK ? own.slice(-1) : [];
    });
    const limit = full.sort(before)[0];
    const sure = read.sort(before).filter((entry) => !limit || before(entry, limit) <= 0);
    for (const entry of sure) {
      place = entry;
      if (matches(entry, query)) found.push(entry);
      if (found.length === query.limit) return { entries: found.map(viewOf), next_cursor: cursorOf(entry) };
    }
    if (!limit) return { entries: found.map(viewOf), next_cursor: null };
  }
  return { entries: found.map(viewOf), next_cursor: place ? cursorOf(place) : null };
}

const changes = z.array(z.tuple([z.string()], z.number()));

function pursesOf(text: string) {
  return changes.parse(JSON.parse(text || "[]")).map(([purse, ...n]) => {
    const [
      spent,
      lapsed,
      debt,
      funded,
      available,
      held,
      spent_after,
      lapsed_after,
      debt_after,
      funded_after,
    ] = n;
    return {
      purse,
      change: { spent, lapsed, debt, funded },
      after: {
        ...{ available, held },
        ...{ spent: spent_after, lapsed: lapsed_after, debt: debt_after, funded: funded_after },
      },
    };
  });
}

/** As JSON text, since the metadata must not pass through a parser. A sealed secret stays in the journal. */
function viewOf({ id, shard, fields }: Entry): string {
  const [what, ...names] = (fields.aggregate ?? "").split(":");
  const { sealed: _, ...detail } = JSON.parse(fields.detail || "{}");
  const view = {
    entry_id: cursorOf({ id, shard }),
    kind: fields.kind,
    tenant: what === "tenant" ? (names[0] ?? null) : null,
    provider: what === "pool" ? (names[0] ?? null) : null,
    pool: what === "pool" ? (names[1] ?? null) : null,
    seq: Number(fields.seq),
    at: iso(Number(fields.at)),
    actor: fields.actor,
    sub_account: fields.sub_account || null,
    hold_id: fields.hold || null,
    op_id: fields.op || null,
    amount: fields.amount ? Number(fields.amount) : null,
    purses: pursesOf(fields.purses ?? ""),
    detail,
  };
  return withFieldText(view, "metadata", fields.metadata || "null");
}
