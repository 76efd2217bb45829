// Which pool serves, and why none does: who would be served from the wrong purse, or be told nothing useful, if these failed.
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { Sealing, type SealingKey } from "../../src/sealing.ts";
import { poolOf } from "../support/pool.ts";
import { inFlight, SEALING, units, useWorker, verbsOf } from "../support/worker.ts";

const FRESH_MS = 50;
const worker = useWorker({ SNAPSHOT_FRESH_MS: String(FRESH_MS) });
const { add, allocate, lease, renew, release } = verbsOf(worker);
const { redis } = worker;

const vip = (more: Record<string, unknown> = {}) => lease({ pool: "vip", ...more });
const refusal = async (more: Record<string, unknown>) => {
  const { status, body } = await allocate(more);
  return [status, body.code, body.detail];
};

/** A credential put by another Worker: this one's isolate hears nothing of it. */
const addElsewhere = async (key_id: string, pool = "default", models: unknown = { "gpt-4o": "gpt-4o" }) => {
  const [id = "", base64 = ""] = SEALING.old.split(":");
  const key: SealingKey = { key_id: id, bytes: new Uint8Array(Buffer.from(base64, "base64")) };
  const sealed = await new Sealing([key]).seal({ api_key: `sk-${key_id}` }, ["openai", pool, key_id]);
  const config = JSON.stringify({ kind: "api_key", models });
  await poolOf(() => redis.store(), "openai", pool).put(key_id, 1, { sealed, config });
};

describe("case A8: vip and default", () => {
  test("vip falls back when its own are in use, says so, and is first again once one is free", async () => {
    await add("v1", 1, { pool: "vip" });
    await add("d1");
    const own = await vip();
    expect(own).toMatchObject({ key_id: "v1", pool: "vip", fallback: false });
    const sent_on = await vip();
    expect(sent_on).toMatchObject({ key_id: "d1", pool: "default", fallback: true });
    expect((await allocate({ pool: "vip" })).body).toMatchObject({
      code: "no_capacity",
      reasons: { full: 2 },
    });
    expect((await renew(sent_on)).status).toBe(200);
    await release(own);
    expect(await vip()).toMatchObject({ key_id: "v1", pool: "vip", fallback: false });
    expect(await inFlight(redis, "openai", "vip")).toEqual(units(1));
    expect(await inFlight(redis)).toEqual(units(1));
  });

  test("vip falls back while its own are cooling, until the first of them is over it", async () => {
    await add("v1", 1, { pool: "vip" });
    await add("v2", 1, { pool: "vip" });
    await add("d1", 9);
    const [one, two] = [await vip(), await vip()];
    await release(one, { outcome: { kind: "rate_limited", retry_after: "9" } });
    await release(two, { outcome: { kind: "rate_limited", retry_after: "5" } });
    expect(await vip()).toMatchObject({ key_id: "d1", fallback: true });
    await redis.later(5000);
    expect(await vip()).toMatchObject({ key_id: two.key_id, fallback: false });
    expect(await vip()).toMatchObject({ key_id: "d1", fallback: true });
  });

  test("default never gets what vip has free", async () => {
    await add("v1", 1, { pool: "vip" });
    await add("d1");
    await lease();
    expect((await allocate()).body).toMatchObject({ code: "no_capacity", reasons: { full: 1 } });
    expect(await inFlight(redis, "openai", "vip")).toEqual(units(0));
  });
});

describe("case D41: optional parts that are missing", () => {
  test("vip without a default behind it is full by itself; a lease without base_url says null", async () => {
    await add("v1", 1, { pool: "vip" });
    expect(await vip()).toMatchObject({ key_id: "v1", base_url: null, expires_in_seconds: 35 });
    expect((await allocate({ pool: "vip" })).body).toMatchObject({
      code: "no_capacity",
      reasons: { full: 1 },
    });
  });

  test("a pool that is asked for and is not there is an error, and nothing else is taken for it", async () => {
    await add("d1");
    expect(await refusal({ pool: "vip" })).toEqual([404, "not_found", "pool: openai has no pool vip"]);
    expect(await inFlight(redis)).toEqual(units(0));
  });
});

describe("why nothing serves", () => {
  test("each name that is unknown or contradicts the state is named", async () => {
    await add("d1");
    await add("v1", 1, { pool: "vip", models: { rare: "rare" } });
    await add("a1", 1, { provider: "anthropic", pool: "claude", models: ["*"] });
    const cases = [
      [{ provider: "nobody" }, [404, "not_found", "provider: there is no provider nobody"]],
      [{ pool: "nobody" }, [404, "not_found", "pool: openai has no pool nobody"]],
      [{ pool: "claude" }, [409, "policy_conflict", "pool: claude is a pool of anthropic, not of openai"]],
      [{ model: "nobody" }, [404, "not_found", "model: no credential of openai lists it"]],
      [{ model: "nobody", pool: "vip" }, [404, "not_found", "model: no credential of openai lists it"]],
      [
        { model: "rare" },
        [409, "policy_conflict", "model: it is served by openai:vip, which this call may not use"],
      ],
    ] as const;
    for (const [more, wanted] of cases) expect([more, await refusal(more)]).toEqual([more, wanted]);
    expect(await inFlight(redis)).toEqual(units(0));
  });

  test('"*" serves any model under its own name, and others are still named as they are mapped', async () => {
    await add("any", 1, { provider: "local", models: ["*"] });
    await add("d1");
    expect(await lease({ provider: "local", model: "what/ever:7b é" })).toMatchObject({
      provider_model: "what/ever:7b é",
    });
    expect(await lease()).toMatchObject({ provider_model: "gpt-4o-2024-11-20" });
  });
});

describe("what changed a moment ago, unknown to this isolate", () => {
  test("a credential is found at once when the known ones are full", async () => {
    await add("d1");
    await lease();
    await addElsewhere("d2");
    expect(await lease()).toMatchObject({ key_id: "d2", credential: { api_key: "sk-d2" } });
  });

  test("a credential is found at once when nothing served its model before", async () => {
    await add("d1");
    expect((await allocate({ model: "new" })).status).toBe(404);
    await addElsewhere("d2", "default", { new: "new-1" });
    expect(await lease({ model: "new" })).toMatchObject({ key_id: "d2", provider_model: "new-1" });
  });

  test("a credential of vip is found before the full default refuses for both", async () => {
    await add("d1");
    await add("v1", 1, { pool: "vip", models: { rare: "rare" } });
    await vip();
    expect((await allocate({ pool: "vip" })).status).toBe(429);
    await addElsewhere("v2", "vip");
    await sleep(FRESH_MS + 1);
    expect(await vip()).toMatchObject({ key_id: "v2", fallback: false });
  });

  test("a removed credential is not handed out, and its leases are over", async () => {
    await add("d1", 2);
    const held = await lease();
    await poolOf(() => redis.store()).remove("d1");
    expect((await allocate()).body).toMatchObject({ code: "not_found" });
    expect((await renew(held)).body).toMatchObject({ code: "lease_lost", reason: "revoked" });
    expect((await release(held)).body).toEqual({ released: false, reason: "revoked" });
    await addElsewhere("d1");
    expect((await release(held)).body).toEqual({ released: false, reason: "revoked" });
    await lease();
    expect((await allocate()).status).toBe(429);
  });
});
