// The catalog's scripts: a price that is not in the admin log, or a copy that never learns of it, if these failed.
import { expect, test } from "vitest";
import { putEntry } from "../../src/scripts/catalog/put.ts";
import { removeEntry } from "../../src/scripts/catalog/remove.ts";
import { run } from "../../src/scripts/run.ts";
import { entriesOf } from "../support/ledger.ts";
import { keys, useRedis } from "../support/redis.ts";

const redis = useRedis();
const place = keys.catalog();
const put = (field: string, value: object) =>
  run(redis.store(), putEntry, place, {
    field,
    value: JSON.stringify(value),
    note: '{"request_id":"req_1"}',
  });
const remove = (field: string) => run(redis.store(), removeEntry, place, { field, note: "{}" });
const hash = () => redis.raw.hgetall(place.catalog_key);
const entries = async () => entriesOf(await redis.raw.xrange(place.journal_key, "-", "+"));

test("created, unchanged, updated, removed: each change is numbered and an entry", async () => {
  expect(await put("price:a/m", { n: 1 })).toEqual({ kind: "created" });
  expect(await put("price:a/m", { n: 1 })).toEqual({ kind: "unchanged" });
  expect(await hash()).toEqual({ "price:a/m": '{"n":1}', "@catalog": "1 1 1" });
  expect(await put("price:a/m", { n: 2 })).toEqual({ kind: "updated" });
  expect(await remove("price:a/m")).toEqual({ kind: "removed" });
  expect(await remove("price:a/m")).toEqual({ kind: "not_found" });
  expect(await hash()).toEqual({ "@catalog": "1 3 0" });
  const said = (await entries()).map(({ kind, aggregate, seq, actor, detail = "" }) => [
    [kind, aggregate, seq, actor],
    JSON.parse(detail),
  ]);
  const head = (seq: string) => ["config", "catalog", seq, "admin"];
  expect(said).toEqual([
    [head("1"), { change: "created", value: { n: 1 }, note: { request_id: "req_1" } }],
    [head("2"), { change: "updated", value: { n: 2 }, note: { request_id: "req_1" } }],
    [head("3"), { change: "removed", value: { n: 2 }, note: {} }],
  ]);
});

test("a catalog that is full takes nothing new, and changes what it has", async () => {
  await put("price:a/m", { n: 1 });
  await redis.raw.hset(place.catalog_key, "@catalog", "1 1 10000");
  expect(await put("price:a/other", { n: 1 })).toEqual({ kind: "full", entries: 10_000 });
  expect(await put("price:a/m", { n: 2 })).toEqual({ kind: "updated" });
  expect((await entries()).length).toBe(2);
});
