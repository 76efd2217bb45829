// The raw keys of both tenants, as one read behind every script.
import assert from "node:assert/strict";
import { keys } from "../../support/redis.ts";
import type { Text } from "../database.ts";
import { HOLDS, OPS, TENANTS } from "./operations.ts";

type Hash = Record<string, string>;
/** By tenant and id. */
type Records = Record<string, string>;

export interface View {
  readonly tenants: Record<string, Hash>;
  readonly subs: Record<string, Hash>;
  readonly due: Hash;
  readonly index: Hash;
  readonly holds: Records;
  readonly ops: Records;
  /** By key: when a record ends; -1: not by itself. */
  readonly ends: Record<string, number>;
  readonly entries: number;
  readonly last: Hash;
  readonly keys: number;
}

const places = TENANTS.map((tenant) => keys.tenant(tenant));
const { due_key, journal_key } = places[0] ?? keys.tenant("");
assert(
  places.every((place) => place.due_key === due_key && place.journal_key === journal_key),
  "one shard",
);

const pairsOf = (ids: string[]) =>
  TENANTS.flatMap((tenant) => ids.map((id) => ({ tenant, id, name: `${tenant}/${id}` })));
const holds = pairsOf(HOLDS);
const ops = pairsOf(OPS);
export const HOLD_KEYS = Object.fromEntries(
  holds.map(({ tenant, id, name }) => [name, keys.hold(tenant, id)]),
);
export const OP_KEYS = Object.fromEntries(ops.map(({ tenant, id, name }) => [name, keys.op(tenant, id)]));
const RECORDS = [...Object.values(HOLD_KEYS), ...Object.values(OP_KEYS)];

/** Of each key that is there: its place, its text and its end; most are not, and cost nothing. */
const READ = `local found = {}
for i, text in ipairs(redis.call("MGET", unpack(KEYS))) do
  if text then
    found[#found + 1] = { i, text, redis.call("PEXPIRETIME", KEYS[i]) }
  end
end
return found`;

export const WATCH = [
  ["EVAL", READ, String(RECORDS.length), ...RECORDS],
  ["ZRANGE", due_key, "0", "-1", "WITHSCORES"],
  ["ZRANGE", keys.index("tenants"), "0", "-1", "WITHSCORES"],
  ["XLEN", journal_key],
  ["XREVRANGE", journal_key, "+", "-", "COUNT", "1"],
  ["DBSIZE"],
  ...places.flatMap(({ tenant_key, subs_key }) => [
    ["HGETALL", tenant_key],
    ["ZRANGE", subs_key, "0", "-1", "WITHSCORES"],
  ]),
];

const listOf = (reply: Text | undefined): Text[] => (Array.isArray(reply) ? reply : []);

function hashOf(reply: Text | undefined): Hash {
  const flat = listOf(reply);
  return Object.fromEntries(
    flat.flatMap((name, i) => (i % 2 === 0 ? [[String(name), String(flat[i + 1])]] : [])),
  );
}

const names = [...holds, ...ops].map(({ name }) => name);

export function viewOf([records, due, index, entries, last, size, ...rest]: Text[]): View {
  const found = listOf(records).map((record) => {
    const [place, text, end] = listOf(record);
    return { at: Number(place) - 1, text: String(text), end: Number(end) };
  });
  const named = (of: typeof found) => of.map(({ at, text }) => [names[at], text]);
  const [entry] = listOf(last);
  return {
    tenants: Object.fromEntries(TENANTS.map((tenant, i) => [tenant, hashOf(rest[2 * i])])),
    subs: Object.fromEntries(TENANTS.map((tenant, i) => [tenant, hashOf(rest[2 * i + 1])])),
    due: hashOf(due),
    index: hashOf(index),
    holds: Object.fromEntries(named(found.filter(({ at }) => at < holds.length))),
    ops: Object.fromEntries(named(found.filter(({ at }) => at >= holds.length))),
    ends: Object.fromEntries(found.map(({ at, end }) => [RECORDS[at], end])),
    entries: Number(entries),
    last: hashOf(listOf(entry)[1]),
    keys: Number(size),
  };
}
