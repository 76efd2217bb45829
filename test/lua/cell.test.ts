// cell/create and cell/probe on a real Redis, in both dialects.
import { describe, expect, test } from "vitest";
import { SHARDS } from "../../src/keys.ts";
import { create } from "../../src/scripts/cell/create.ts";
import { CHECKS, probe } from "../../src/scripts/cell/probe.ts";
import { run } from "../../src/scripts/run.ts";
import { keys, useRedis } from "../support/redis.ts";

const redis = useRedis();
const make = (op_id = "") =>
  run(redis.store(), create, { meta_key: keys.meta() }, { cell: "test", shards: SHARDS, op_id });

describe("create", () => {
  test("created once; the same op_id hears the same again, any other that it exists", async () => {
    const epoch = redis.now_ms;
    expect(await make("op-1")).toEqual({ kind: "created", epoch, replayed: false });
    expect(await redis.raw.hgetall(keys.meta())).toEqual({
      cell: "test",
      epoch: String(epoch),
      format: "1",
      shards: "16",
      created_by: "op-1",
    });
    await redis.later(1000);
    expect(await make("op-1")).toEqual({ kind: "created", epoch, replayed: true });
    expect(await make("op-2")).toEqual({ kind: "exists", cell: "test", epoch });
    expect(await make()).toEqual({ kind: "exists", cell: "test", epoch });
  });
});

describe("probe", () => {
  for (const dialect of ["upstash", "redis"] as const) {
    test(`probed: this Redis does all of it (${dialect}), and nothing is left but a stream that ends`, async () => {
      const reply = await run(redis.store(dialect), probe, keys.probe(), { full: true });
      expect(reply).toMatchObject({ kind: "probed", failures: [] });
      const left = await redis.raw.keys("{*");
      expect(left).toEqual([keys.probe().stream_key]);
      expect(await redis.raw.pttl(keys.probe().stream_key)).toBeGreaterThan(0);
    });
  }

  test("what does not work is named, each by itself", async () => {
    await redis.raw.set(keys.probe().stream_key, "not a stream");
    const reply = await run(redis.store(), probe, keys.probe(), { full: true });
    expect(reply).toMatchObject({ failures: ["xadd"] });
    expect(CHECKS.xadd).toContain("stream");
  });

  test("not full: the time, and no key is touched", async () => {
    expect(await run(redis.store(), probe, keys.probe(), { full: false })).toMatchObject({
      now_ms: redis.now_ms,
    });
    expect(await redis.raw.keys("{*")).toEqual([]);
  });
});
