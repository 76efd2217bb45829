// The same id, the same lease: a retry that would take a second place, or miss its first one, if these failed.
import { describe, expect, test } from "vitest";
import { inFlight, many, units, useWorker, verbsOf } from "../support/worker.ts";

const worker = useWorker();
const { add, allocate, lease, renew, release } = verbsOf(worker);
const { redis } = worker;

describe("a repeat by op_id", () => {
  test("is the same lease, also 20 at once on a pool with room for all of them", async () => {
    await add("key_01", 20);
    const leases = await many(20, () => lease({ op_id: "op-1", holder: "worker-1" }));
    expect(new Set(leases.map(({ lease_id, fence }) => `${lease_id} ${fence}`)).size).toBe(1);
    expect(await inFlight(redis)).toEqual(units(1));
    await redis.later(5000);
    const again = await lease({ op_id: "op-1", holder: "worker-1" });
    expect(again).toEqual({ ...leases[0], expires_in_seconds: 30 }); // its time goes on
  });

  test("is not the lease of another holder, provider or pool that used the same op_id", async () => {
    await add("key_01", 9);
    await add("key_02", 9, { pool: "vip" });
    await add("key_03", 9, { provider: "other" });
    const asked = [
      {},
      { holder: "worker-1" },
      { holder: "worker-2" },
      { pool: "vip" },
      { provider: "other" },
    ];
    const leases = await Promise.all(asked.map((more) => lease({ op_id: "op-1", ...more })));
    expect(new Set(leases.map(({ lease_id }) => lease_id)).size).toBe(asked.length);
  });

  test("with other arguments is a conflict, whatever became of the lease", async () => {
    await add("key_01", 2, { models: ["*"] });
    const held = await lease({ op_id: "op-1" });
    for (const other of [{ model: "gpt-5" }, { lease_seconds: 36 }, { affinity_key: "a" }]) {
      const answer = await allocate({ op_id: "op-1", ...other });
      expect([answer.status, answer.body.code]).toEqual([409, "idempotency_conflict"]);
    }
    await release(held);
    expect((await allocate({ op_id: "op-1", model: "gpt-5" })).body.code).toBe("idempotency_conflict");
    expect(await inFlight(redis)).toEqual(units(0));
  });

  test("stays the same lease when its credential no longer lists the model: its holder still uses the unit", async () => {
    await add("key_01", 1);
    const { provider_model: _, ...held } = await lease({ op_id: "op-1" });
    await worker.admin("PATCH", "/credentials/openai/default/key_01", { models: { other: "other" } });
    expect(await lease({ op_id: "op-1" })).toMatchObject(held);
    expect(await inFlight(redis)).toEqual(units(1));
  });

  test("of a lease that is over says so and grants nothing new", async () => {
    await add("key_01", 3);
    const ended = {
      released: async () => release(await lease({ op_id: "released" })),
      expired: async () => lease({ op_id: "expired" }).then(() => redis.later(35_000)),
      revoked: async () => {
        await lease({ op_id: "revoked" });
        await worker.admin("DELETE", "/credentials/openai/default/key_01");
        await add("key_01", 3);
      },
    };
    for (const [reason, end] of Object.entries(ended)) {
      await end();
      const answer = await allocate({ op_id: reason });
      expect([answer.status, answer.body.code, answer.body.reason]).toEqual([409, "lease_lost", reason]);
    }
  });

  test("of a refusal asks anew: refusals are not remembered", async () => {
    await add("key_01");
    const held = await lease();
    expect((await allocate({ op_id: "op-1" })).status).toBe(429);
    await release(held);
    expect(await lease({ op_id: "op-1" })).toMatchObject({ key_id: "key_01" });
  });

  test("finds the lease that a fallback gave, also when the asked pool is free again", async () => {
    await add("v1", 1, { pool: "vip" });
    await add("d1");
    const own = await lease({ pool: "vip" });
    const first = await lease({ pool: "vip", op_id: "op-1" });
    expect(first).toMatchObject({ key_id: "d1", pool: "default", fallback: true });
    expect(await lease({ pool: "vip", op_id: "op-1" })).toEqual(first);
    await release(own);
    expect(await lease({ pool: "vip", op_id: "op-1" })).toEqual(first);
    expect(await inFlight(redis, "openai", "vip")).toEqual(units(0));
    await release(first);
    expect((await allocate({ pool: "vip", op_id: "op-1" })).body.reason).toBe("released");
  });
});

describe("case D37: ids that look like numbers and words of JSON stay text", () => {
  const WORDS = ["1e5", "123", "007", "12345678901234567890", "true", "null", "0.5"];

  test.each(WORDS)("%s as provider, pool, key_id, secret, model, holder and op_id", async (word) => {
    const put = await add(word, 1, {
      provider: word,
      pool: word,
      secret: { api_key: word },
      models: { [word]: word },
    });
    expect([put.status, put.body]).toEqual([201, { key_id: word, result: "created" }]);
    const ask = { provider: word, pool: word, model: word, holder: word, op_id: word };
    const held = await lease(ask);
    expect(held).toMatchObject({
      key_id: word,
      provider: word,
      pool: word,
      provider_model: word,
      credential: { api_key: word },
    });
    expect(await lease(ask)).toEqual(held);
    expect((await renew(held)).status).toBe(200);
    const read = await worker.admin("GET", `/credentials/${word}/${word}/${word}`);
    expect(read.body).toMatchObject({
      key_id: word,
      provider: word,
      pool: word,
      models: { [word]: word },
      in_flight: 1,
    });
    const listed = await worker.admin("GET", "/credentials");
    expect(listed.body.credentials).toEqual([read.body]);
    expect((await release(held)).body).toEqual({ released: true });
    expect(await inFlight(redis, word, word)).toEqual(units(0));
    const removed = await worker.admin("DELETE", `/credentials/${word}/${word}/${word}`);
    expect(removed.body).toEqual({ removed: true, leases_ended: 0 });
  });

  test("all of them in one pool are different credentials", async () => {
    for (const word of WORDS) await add(word, 1, { secret: { api_key: word } });
    const leases = await many(WORDS.length, () => lease());
    expect(leases.map(({ key_id }) => key_id).sort()).toEqual([...WORDS].sort());
    for (const held of leases) {
      expect(held.credential).toEqual({ api_key: held.key_id });
      expect((await release(held)).body).toEqual({ released: true });
    }
  });
});
