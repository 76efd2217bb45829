// The journal's entries: read from streams (or an archive), by aggregate, numbered without a gap, each in its shard.
import { createHash } from "node:crypto";
import { z } from "zod";
import { amount, exact, groupBy, integerOf, jsonOf, type Report } from "./words.ts";

/** An entry as a stream or an archive has it: its id, and names and values in turn. */
export interface RawEntry {
  shard: number;
  id: string;
  fields: string[];
}

const change = z
  .tuple([z.string(), exact, exact, exact, exact, amount, amount, amount, amount, amount, amount])
  .transform(([purse, spent, lapsed, debt, funded, ...after]) => {
    const [available, held, ...amounts] = after;
    const [spent_after, lapsed_after, debt_after, funded_after] = amounts;
    return {
      purse,
      by: { spent, lapsed, debt, funded },
      available,
      held,
      after: { spent: spent_after, lapsed: lapsed_after, debt: debt_after, funded: funded_after },
    };
  });
const changes = z.array(change);
export type Change = z.output<typeof change>;

export interface Entry {
  /** How reports call it. */
  name: string;
  shard: number;
  id: string;
  kind: string;
  aggregate: string;
  seq: bigint;
  at: bigint;
  sub_account: string;
  hold: string;
  op: string;
  /** undefined: it says none. */
  amount: bigint | undefined;
  changes: Change[];
  detail: unknown;
  metadata: string;
}
export type Journal = Map<string, Entry[]>;

const FIELDS = "kind aggregate seq at actor sub_account hold op amount purses detail metadata";
const KINDS: Record<string, readonly string[]> = {
  tenant: ["config", "status", "token", "adjust", "settle", "void", "expire", "refund"],
  pool: ["config", "status"],
  catalog: ["config"],
};

function entryOf({ shard, id, fields }: RawEntry, report: Report): Entry | undefined {
  const where = `journal:${shard} ${id}`;
  const names = fields.filter((_, i) => i % 2 === 0).join(" ");
  if (names !== FIELDS) {
    report(`${where}: its fields are not those of an entry`);
    return undefined;
  }
  const [kind, aggregate, seq, at, , sub_account, hold, op, by, purses, detail, metadata] = fields.filter(
    (_, i) => i % 2 === 1,
  ) as [string, string, string, string, ...string[]];
  const read = {
    seq: integerOf(seq),
    at: integerOf(at),
    amount: by === "" ? undefined : integerOf(by),
    changes: purses === "" ? [] : jsonOf(purses, changes),
    detail: jsonOf<unknown>(detail, z.record(z.string(), z.unknown())),
  };
  const bad = Object.entries(read).find(
    ([what, value]) => value === undefined && !(what === "amount" && by === ""),
  )?.[0];
  if (bad) {
    report(`${where}: its ${bad === "changes" ? "purses" : bad} cannot be read`);
    return undefined;
  }
  const [aggregate_kind = ""] = aggregate.split(":");
  if (!KINDS[aggregate_kind]?.includes(kind)) report(`${where}: ${kind} is no kind of entry of ${aggregate}`);
  const { seq: number, ...rest } = read as Pick<Entry, keyof typeof read>;
  const name = `entry ${number} of ${aggregate}`;
  const words = { kind, aggregate, sub_account: sub_account ?? "", hold: hold ?? "", op: op ?? "" };
  return { name, shard, id, seq: number, ...rest, ...words, metadata: metadata ?? "" };
}

export const shardOf = (aggregate: string) => (createHash("sha256").update(aggregate).digest()[0] ?? 0) % 16;

function inStreamOrder(a: RawEntry, b: RawEntry) {
  const [a_ms = 0, a_n = 0] = a.id.split("-").map(Number);
  const [b_ms = 0, b_n = 0] = b.id.split("-").map(Number);
  return a_ms - b_ms || a_n - b_n || a.shard - b.shard;
}

function checkNumbers(aggregate: string, entries: Entry[], report: Report) {
  let last = 0n;
  for (const { seq, name } of entries) {
    if (seq <= last) report(`${name}: there twice, or out of order`);
    if (seq === last + 2n) report(`${aggregate}: entry ${last + 1n} is missing`);
    if (seq > last + 2n) report(`${aggregate}: entries ${last + 1n} to ${seq - 1n} are missing`);
    if (seq > last) last = seq;
  }
}

/** The last number of an aggregate is the one that the aggregate knows. */
export function checkLast(aggregate: string, seq: bigint, entries: Entry[], report: Report) {
  const numbers = entries.map((entry) => entry.seq).sort((a, b) => (a < b ? -1 : 1));
  const last = numbers.at(-1) ?? 0n;
  if (last !== seq) report(`${aggregate}: its sequence number is ${seq}, that of its last entry ${last}`);
}

/** An entry that is hot and archived is one; it must be the same. */
function onceEach(raw: RawEntry[], report: Report): RawEntry[] {
  const known = new Map<string, RawEntry>();
  for (const entry of raw) {
    const place = `journal:${entry.shard} ${entry.id}`;
    const before = known.get(place);
    if (before && JSON.stringify(before.fields) !== JSON.stringify(entry.fields))
      report(`${place}: archived with other content`);
    known.set(place, before ?? entry);
  }
  return [...known.values()];
}

export function journalOf(raw: RawEntry[], report: Report): Journal {
  const entries = onceEach(raw, report)
    .sort(inStreamOrder)
    .flatMap((entry) => entryOf(entry, report) ?? []);
  const journal = groupBy(entries, ({ aggregate }) => aggregate);
  for (const [aggregate, own] of journal) {
    checkNumbers(aggregate, own, report);
    const shard = shardOf(aggregate);
    for (const entry of own)
      if (entry.shard !== shard) report(`${entry.name}: in journal:${entry.shard}, not in journal:${shard}`);
  }
  return journal;
}
