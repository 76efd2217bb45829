// A Redis that forgot its scripts: each verb of the ledger and of a pool, many at once, is done once.
import { expect, test } from "vitest";
import { poolOf } from "../support/pool.ts";
import { useRedis } from "../support/redis.ts";
import { settingsOf } from "./health-kit.ts";
import { checkAfterEach, ledgerKit, nonzero } from "./ledger-kit.ts";

const redis = useRedis();
const { ledger, purse, state, entries } = ledgerKit(redis);
const pool = poolOf(() => redis.store());
const SLOW = settingsOf({ lease_seconds: 7 });
const ACTIVE = '{"status":"active"}';

/** Every verb in an order in which each has something to do: what the first is told, and what the others are. */
const VERBS: [
  name: string,
  verb: () => Promise<{ kind: string; replayed?: boolean }>,
  first: string,
  others: string,
][] = [
  ["tenant/put", () => ledger.put(), "created", "unchanged"],
  ["tenant/put_sub", () => ledger.putSub("alice"), "created", "unchanged"],
  ["tenant/put_sub", () => ledger.putSub("alice", { max_concurrent: 5 }, ACTIVE), "updated", "unchanged"],
  ["tenant/add_token", () => ledger.addToken("alice", "tok_1", "sha-1"), "added", "named"],
  ["quota/adjust", () => ledger.adjust("", "op1", "grant", 1000), "adjusted", "adjusted again"],
  ["quota/reserve", () => ledger.reserve("alice", "h1", 100), "reserved", "reserved again"],
  ["quota/reserve", () => ledger.reserve("alice", "h2", 100), "reserved", "reserved again"],
  ["quota/reserve", () => ledger.reserve("alice", "h3", 100, { ttl_ms: 1 }), "reserved", "reserved again"],
  ["quota/extend", () => ledger.extend("h1", 60_000, 150, 20), "extended", "extended"],
  ["quota/settle", () => ledger.settle("h1", 120), "settled", "settled again"],
  ["quota/refund", () => ledger.refund("h1", "r1", 20), "refunded", "refunded again"],
  ["quota/void", () => ledger.void("h2"), "voided", "voided again"],
  ["quota/expire", () => ledger.expire("h3"), "expired", "closed"],
  ["tenant/revoke_token", () => ledger.revokeToken("alice", "tok_1"), "revoked", "not_found"],
  ["pool/put", () => pool.put("c1", 5), "created", "unchanged"],
  ["pool/patch", () => pool.patch("c1", "{}", { config: '{"weight":2}' }), "patched", "stale"],
  ["pool/mark", () => pool.mark("c1", "disabled"), "marked", "marked"],
  ["pool/configure", () => pool.configure(SLOW), "configured", "stale"],
  ["pool/revoke", () => pool.revoke("c1"), "revoked", "revoked"],
  ["pool/reclaim", () => pool.reclaim(), "reclaimed", "reclaimed"],
  ["pool/remove", () => pool.remove("c1"), "removed", "not_found"],
];

const told = ({ kind, replayed }: { kind: string; replayed?: boolean }) =>
  replayed ? `${kind} again` : kind;

test("case D39: SCRIPT FLUSH, then every verb 20 in parallel: each is applied once, and all are told so", async () => {
  for (const [name, verb, first, others] of VERBS) {
    if (name === "quota/expire") await redis.later(1);
    await redis.raw.script("FLUSH");
    const replies = await Promise.all(Array.from({ length: 20 }, verb));
    const wanted = [first, ...Array<string>(19).fill(others)];
    expect(replies.map(told).sort(), name).toEqual(wanted.sort());
  }
  expect(await purse()).toEqual({ available: 900, spent: 100, funded: 1000 });
  expect(await purse("alice")).toEqual(nonzero({ borrowed: 100 }));
  expect(await state()).toEqual({ seq: 10, subs: 1, open: 0, reserved: 3, refused: 0 });
  expect((await entries()).map(({ kind }) => kind)).toEqual([
    ...["config", "config", "config", "token", "adjust", "settle", "refund", "void", "expire", "token"],
  ]);
  await redis.raw.script("FLUSH");
  const removed = await Promise.all(Array.from({ length: 20 }, () => ledger.removeSub("alice")));
  expect(removed.map(told).sort()).toEqual([...Array(19).fill("not_found"), "removed"]);
  await redis.raw.script("FLUSH");
  const gone = await Promise.all(Array.from({ length: 20 }, () => ledger.remove()));
  expect(gone.map(told).sort()).toEqual([...Array(19).fill("absent"), "removed"]);
}, 60_000);

checkAfterEach(redis);
