// Whether a cell's books are right: an independent reading of its raw keys, and every violation in words. None: all is well.
//
// It shares no code with the scripts. Nothing may change while it reads, so it is for a test, or a copy, or a cell at rest.
import type { Redis } from "ioredis";
import { checkCatalog } from "./catalog.ts";
import { checkDigits } from "./digits.ts";
import { checkDue } from "./due.ts";
import { journalOf, type RawEntry } from "./entries.ts";
import { type Hold, holdOf } from "./holds.ts";
import { checkIndex, checkMeta, checkOwners } from "./index.ts";
import type { Cell } from "./keys.ts";
import { checkLeases } from "./leases.ts";
import { checkLedger, type Times } from "./ledger.ts";
import { checkOps } from "./ops.ts";
import { checkPool, membersOf, type Pool, poolOf } from "./pools.ts";
import { readCell } from "./read.ts";
import { checkRegistry } from "./registry.ts";
import { checkSubs, checkTokens, type Tenant, tenantOf } from "./tenants.ts";
import { groupBy, type Report } from "./words.ts";

export interface Options {
  /** The time by Redis; without it nothing is said of what is overdue or went too early. */
  now_ms?: number;
  /** True: a hold that is open past its deadline is a violation. */
  swept?: boolean;
  /** The keeping times of the deployment, or the least that they may be. */
  hold_keep_ms?: number;
  op_keep_ms?: number;
  /** What the streams have no more; an entry that is in both is taken once. */
  archived?: RawEntry[];
}

const hotEntries = (cell: Cell): RawEntry[] =>
  cell.journal.flatMap(({ ids: [shard], value }) =>
    value.map(([id, fields]) => ({ shard: Number(shard), id, fields })),
  );

function poolsOf(cell: Cell, report: Report): Map<string, Pool> {
  const members = new Map(cell.leases.map((key) => [key.ids.join(":"), membersOf(key, report)]));
  const pools = cell.pool.map((key) => poolOf(key, members.get(key.ids.join(":")) ?? [], report));
  return new Map(pools.map((pool) => [pool.home, pool]));
}

export async function check(raw: Redis, cell_name: string, options: Options = {}): Promise<string[]> {
  const violations: string[] = [];
  const report = (violation: string) => void violations.push(violation);
  const { now_ms, swept = false, hold_keep_ms = 60_000, op_keep_ms = 3_600_000, archived = [] } = options;
  const times: Times & { op_keep_ms: bigint } = {
    now_ms: now_ms === undefined ? undefined : BigInt(now_ms),
    ...{ hold_keep_ms: BigInt(hold_keep_ms), op_keep_ms: BigInt(op_keep_ms), swept },
  };

  const cell = await readCell(raw, cell_name, report);
  const journal = journalOf([...archived, ...hotEntries(cell)], report);
  const tenants = new Map<string, Tenant>(
    cell.tenant.map((key) => [key.ids[0] ?? "", tenantOf(key, report)]),
  );
  const holds: Hold[] = cell.hold.flatMap((key) => holdOf(key, report) ?? []);
  const pools = poolsOf(cell, report);

  checkDigits(cell, report);
  checkMeta(cell, cell_name, report);
  checkIndex(cell, tenants, pools, report);
  checkOwners(cell, journal, tenants, pools, report);
  const subs = new Map(cell.subs.map(({ ids: [tenant = ""], value }) => [tenant, value]));
  const holdsOf = groupBy(holds, ({ tenant }) => tenant);
  for (const [name, tenant] of tenants) {
    checkSubs(tenant, subs.get(name) ?? new Map(), report);
    checkTokens(tenant, report);
    checkLedger(tenant, holdsOf.get(name) ?? [], journal.get(`tenant:${name}`) ?? [], times, report);
  }
  checkCatalog(cell, journal, report);
  checkDue(cell, holds, report);
  checkOps(cell, journal, times, report);
  for (const [home, pool] of pools) checkPool(pool, journal.get(`pool:${home}`) ?? [], report);
  checkLeases(cell.lease, holds, pools, times.now_ms, report);
  checkRegistry(cell, pools, report);
  return violations;
}
