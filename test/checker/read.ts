// Reads a whole cell with plain commands. What is no key of a cell, or not as its kind must be, is reported and left out.
import type { Redis } from "ioredis";
import { type Cell, KINDS, kindOf, type Shapes, type Type } from "./keys.ts";
import type { Report } from "./words.ts";

const PAGE = 500;

/** Names without the prefix, sorted, so that reports come in a stable order. */
async function namesOf(raw: Redis, prefix: string): Promise<string[]> {
  const names = new Set<string>();
  let cursor = "0";
  do {
    const [next, page] = await raw.scan(cursor, "MATCH", `${prefix}*`, "COUNT", PAGE);
    for (const key of page) names.add(key.slice(prefix.length));
    cursor = next;
  } while (cursor !== "0");
  return [...names].sort();
}

const READ: { [T in Type]: (raw: Redis, key: string) => Promise<Shapes[T] | null> } = {
  string: (raw, key) => raw.get(key),
  hash: async (raw, key) => new Map(Object.entries(await raw.hgetall(key))),
  zset: async (raw, key) => {
    const flat = await raw.zrange(key, "0", "-1", "WITHSCORES");
    return new Map(flat.flatMap((text, i) => (i % 2 === 0 ? [[text, flat[i + 1] ?? ""] as const] : [])));
  },
  stream: (raw, key) => raw.xrange(key, "-", "+"),
};

async function readKey(raw: Redis, prefix: string, name: string, cell: Cell, report: Report) {
  const key = prefix + name;
  const found = kindOf(name);
  if (!found) return report(`${name}: a key that no pattern knows`);
  const { type, ends } = KINDS[found.kind];
  const [is, end_ms] = await Promise.all([raw.type(key), raw.pexpiretime(key)]);
  if (is === "none") return;
  if (is !== type) return report(`${name}: a ${is}, and must be a ${type}`);
  if (ends === "never" && end_ms !== -1) report(`${name}: ends by itself, and must not`);
  if (ends === "always" && end_ms === -1) report(`${name}: does not end by itself, and must`);
  const value = await READ[type](raw, key);
  if (value === null) return;
  (cell[found.kind] as unknown[]).push({ name, ids: found.ids, end_ms, value });
}

export async function readCell(raw: Redis, name: string, report: Report): Promise<Cell> {
  const prefix = `{${name}}:`;
  const cell = Object.fromEntries(Object.keys(KINDS).map((kind) => [kind, []])) as unknown as Cell;
  const names = await namesOf(raw, prefix);
  for (let i = 0; i < names.length; i += PAGE) {
    const page = names.slice(i, i + PAGE);
    await Promise.all(page.map((one) => readKey(raw, prefix, one, cell, report)));
  }
  for (const keys of Object.values(cell)) keys.sort((a, b) => (a.name < b.name ? -1 : 1));
  return cell;
}
