// What the tests of the ledger's verbs share: a tenant with funds, its raw state by name, and the checker after each test.
import { afterEach, expect } from "vitest";
import { check } from "../checker/check.ts";
import { dumpOf } from "../support/lease.ts";
import {
  entriesOf,
  HOLD_KEEP_MS,
  ledgerOf,
  purseOf,
  type SubTerms,
  tenantStateOf,
} from "../support/ledger.ts";
import type { useRedis } from "../support/redis.ts";

type Redis = ReturnType<typeof useRedis>;

export const OP_KEEP_MS = 24 * 3_600_000;

/** Proves the books after each test of a file: no one's balance is wrong, whatever the test looked at. */
export const checkAfterEach = (redis: Redis) =>
  afterEach(async () => {
    const now_ms = redis.now_ms;
    expect(
      await check(redis.raw, "test", { now_ms, hold_keep_ms: HOLD_KEEP_MS, op_keep_ms: OP_KEEP_MS }),
    ).toEqual([]);
  });

/** Amounts by name, those that are 0 left out. */
export const nonzero = (amounts: Record<string, number>) =>
  Object.fromEntries(Object.entries(amounts).filter(([, amount]) => amount !== 0));

/** An entry as it must be: all fields, those that a kind has not are empty. */
export const entryLike = (fields: Record<string, unknown>) => ({
  ...{ sub_account: "", hold: "", op: "", amount: "", purses: [], metadata: "" },
  ...fields,
});

type Field =
  | "kind"
  | "aggregate"
  | "seq"
  | "at"
  | "actor"
  | "sub_account"
  | "hold"
  | "op"
  | "amount"
  | "metadata";
interface Entry extends Record<Field, string> {
  purses: [purse: string, ...amounts: number[]][];
  detail: Record<string, unknown>;
}

/** The entries of one aggregate, their two JSON parts parsed. */
export async function entriesIn(redis: Redis, journal_key: string, aggregate: string): Promise<Entry[]> {
  const all = entriesOf(await redis.raw.xrange(journal_key, "-", "+")).map(
    ({ purses, detail, ...entry }) => ({
      ...(entry as Record<Field, string>),
      purses: purses === "" ? [] : JSON.parse(purses ?? ""),
      detail: JSON.parse(detail ?? ""),
    }),
  );
  return all.filter((entry) => entry.aggregate === aggregate);
}

export function ledgerKit(redis: Redis, tenant = "acme") {
  const ledger = ledgerOf(() => redis.store(), tenant);
  const field = (name: string) => redis.raw.hget(ledger.tenant_key, name);
  const dump = () => dumpOf(redis.raw);
  const state = async () => tenantStateOf(await field("state"));
  const entries = () => entriesIn(redis, ledger.journal_key, `tenant:${tenant}`);
  let grants = 0;

  /** The database without the tenant's counters, and those. */
  async function withoutState() {
    const all = await dump();
    const hash = all[ledger.tenant_key] as Record<string, string> | undefined;
    return {
      rest: { ...all, [ledger.tenant_key]: { ...hash, state: "" } },
      counters: tenantStateOf(hash?.state),
    };
  }

  return {
    ledger,
    field,
    dump,
    state,
    entries,
    /** The amounts of a purse that are not 0, without `made`; of the account without a name. */
    purse: async (sub = "") => {
      const { made: _, ...amounts } = purseOf(await field(sub === "" ? "account" : `purse:${sub}`));
      return nonzero(amounts);
    },
    made: async (sub: string) => purseOf(await field(`purse:${sub}`)).made,
    record: (hold_id: string) => redis.raw.get(ledger.hold_key(hold_id)),
    /** When the sweeper must visit it; null when it must not. */
    due: async (hold_id: string) => {
      const score = await redis.raw.zscore(ledger.due_key, `hold ${tenant} ${hold_id}`);
      return score === null ? null : Number(score);
    },
    /** In how many ms a key ends; null when it does not. */
    endsIn: async (key: string) => {
      const end_ms = await redis.raw.pexpiretime(key);
      return end_ms === -1 ? null : Number(end_ms) - redis.now_ms;
    },
    /** The last entry, and how many there are: it must be numbered so. */
    last: async () => {
      const all = await entries();
      expect(all.map(({ seq }) => seq)).toEqual(all.map((_, i) => String(i + 1)));
      expect((await state()).seq).toBe(all.length);
      return all.at(-1);
    },
    /** What the last entry must be, the tenant's own part filled in. */
    entry: async (fields: Record<string, unknown>) =>
      entryLike({
        aggregate: `tenant:${tenant}`,
        seq: String((await state()).seq),
        at: String(redis.now_ms),
        ...fields,
      }),
    /** A refusal changes nothing but the counter of refusals. */
    refuses: async <T>(verb: () => Promise<T>, reply: T) => {
      const before = await withoutState();
      expect(await verb()).toEqual(reply);
      const after = await withoutState();
      expect(after.rest).toEqual(before.rest);
      expect(after.counters).toEqual({ ...before.counters, refused: (before.counters.refused ?? 0) + 1 });
    },
    changesNothing: async <T>(verb: () => Promise<T>, reply: T) => {
      const before = await dump();
      expect(await verb()).toEqual(reply);
      expect(await dump()).toEqual(before);
    },
    grant: (sub: string, amount: number) => ledger.adjust(sub, `grant-${++grants}`, "grant", amount),
    /** The tenant with funds on its account, and sub-accounts with theirs. */
    open: async (account: number, subs: Record<string, SubTerms & { funds?: number }> = { alice: {} }) => {
      expect(await ledger.put()).toEqual({ kind: "created" });
      if (account > 0) await ledger.adjust("", "funds-account", "grant", account);
      for (const [sub, { funds = 0, ...terms }] of Object.entries(subs)) {
        expect(await ledger.putSub(sub, terms)).toEqual({ kind: "created" });
        if (funds > 0) await ledger.adjust(sub, `funds-${sub}`, "grant", funds);
      }
    },
  };
}

/** A funding as a reply has it, in the order in which it was drawn. */
export const from = (sub_account: number, account: number) =>
  [
    { source: "sub_account" as const, amount: sub_account },
    { source: "account" as const, amount: account },
  ].filter(({ amount }) => amount > 0);

/** The same as an entry has it. */
export const rowsFrom = (sub_account: number, account: number) =>
  from(sub_account, account).map(({ source, amount }) => [source, amount]);
