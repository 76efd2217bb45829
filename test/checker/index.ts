// What the cell lists, and what it says of itself: its tenants and its pools are those that are there.
import type { Journal } from "./entries.ts";
import type { Cell } from "./keys.ts";
import type { Pool } from "./pools.ts";
import type { Tenant } from "./tenants.ts";
import { integerOf, type Report } from "./words.ts";

function checkNames(name: string, listed: Iterable<string>, there: Iterable<string>, report: Report) {
  const [one, other] = [new Set(listed), new Set(there)];
  for (const id of one) if (!other.has(id)) report(`${name}: ${id} is listed, and not there`);
  for (const id of other) if (!one.has(id)) report(`${name}: ${id} is not listed`);
}

export function checkIndex(
  cell: Cell,
  tenants: Map<string, Tenant>,
  pools: Map<string, Pool>,
  report: Report,
) {
  const existing = [...tenants.values()].filter(({ exists }) => exists).map(({ name }) => name);
  const listed = cell.tenants[0]?.value ?? new Map<string, string>();
  checkNames("index:tenants", listed.keys(), existing, report);
  for (const [name, score] of listed)
    if (score !== "0") report(`index:tenants: ${name} is listed with ${score}`);
  const made = cell.pools[0]?.value ?? new Map<string, string>();
  checkNames("index:pools", made.keys(), pools.keys(), report);
  for (const [home, at_ms] of made) {
    const pool = pools.get(home);
    if (pool && pool.made !== at_ms) report(`index:pools: ${home} was made at ${at_ms}, or at ${pool.made}`);
  }
}

/** Whatever speaks of a tenant or a pool speaks of one that is, or was, there. */
export function checkOwners(
  cell: Cell,
  journal: Journal,
  tenants: Map<string, Tenant>,
  pools: Map<string, Pool>,
  report: Report,
) {
  for (const {
    name,
    ids: [tenant = ""],
  } of [...cell.subs, ...cell.hold, ...cell.op])
    if (!tenants.has(tenant)) report(`${name}: its tenant is not there`);
  for (const aggregate of journal.keys()) {
    const [kind, ...name] = aggregate.split(":");
    if (aggregate === "catalog" && cell.catalog.length > 0) continue;
    const there = kind === "tenant" ? tenants : pools;
    if (!there.has(name.join(":"))) report(`${aggregate}: has entries, and is not there`);
  }
}

export function checkMeta(cell: Cell, name: string, report: Report) {
  const meta = cell.meta[0]?.value;
  if (!meta) return;
  const says = [meta.get("cell"), meta.get("format"), meta.get("shards")].join(" ");
  if (says !== `${name} 1 16`) report(`meta: says ${says}, and must say ${name} 1 16`);
  if (integerOf(meta.get("epoch")) === undefined) report("meta: has no epoch");
}
