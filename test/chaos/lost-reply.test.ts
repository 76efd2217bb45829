// Redis does what it is asked and the answer is lost: who would get a change twice, or never know of it, if these failed.
import { describe, expect, test } from "vitest";
import { create } from "../../src/scripts/cell/create.ts";
import { allocate as allocateScript } from "../../src/scripts/lease/allocate.ts";
import { release as releaseScript } from "../../src/scripts/lease/release.ts";
import { renew as renewScript } from "../../src/scripts/lease/renew.ts";
import { configure } from "../../src/scripts/pool/configure.ts";
import { mark } from "../../src/scripts/pool/mark.ts";
import { patch } from "../../src/scripts/pool/patch.ts";
import { put } from "../../src/scripts/pool/put.ts";
import { remove } from "../../src/scripts/pool/remove.ts";
import { revoke } from "../../src/scripts/pool/revoke.ts";
import { stateOf } from "../support/pool.ts";
import { keys } from "../support/redis.ts";
import { type Answer, inFlight, many, settled, units, useWorker, verbsOf } from "../support/worker.ts";

const worker = useWorker();
const { add, allocate, lease, renew, release } = verbsOf(worker);
const { redis, admin } = worker;

const ONE = "/credentials/openai/default/key_01";
const POOL = "/pools/openai/default";
const { pool_key } = keys.pool("openai", "default");

interface Text {
  readonly text: { readonly upstash: { readonly sha: string; readonly source: string } };
}

/** Asks once with the reply lost after the script has run: sent as a hash that is known, or as a text after a flush. */
async function lose(command: "EVALSHA" | "EVAL", { text: { upstash } }: Text, ask: () => Promise<Answer>) {
  const load = command === "EVAL" ? ["SCRIPT", "FLUSH"] : ["SCRIPT", "LOAD", upstash.source];
  const { url, token } = redis.double;
  await fetch(url, {
    method: "POST",
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify(load),
  });
  const named = command === "EVAL" ? upstash.source : upstash.sha;
  redis.double.fault({
    kind: "drop_after",
    match: ([name = "", what]) => name.toUpperCase() === command && what === named,
  });
  const { status, body } = await ask();
  expect([status, body.code, body.maybe_applied]).toEqual([503, "store_unavailable", true]);
}

describe.each(["EVALSHA", "EVAL"] as const)(
  "case D38: the reply of %s is lost, and the caller repeats",
  (command) => {
    test("allocate with an op_id: the same lease", async () => {
      await add("key_01", 9);
      const ask = () => allocate({ op_id: "op-1" });
      await lose(command, allocateScript, ask);
      const [first, second] = [await ask(), await ask()];
      expect([first.status, first.body]).toEqual([200, second.body]);
      expect(await inFlight(redis)).toEqual(units(1));
    });

    test("allocate without one: the unit that nobody got is free again soon", async () => {
      await add("key_01");
      await lose(command, allocateScript, () => allocate());
      await settled(redis, 0);
      expect((await lease()).key_id).toBe("key_01");
      expect((await admin("GET", POOL)).body).toMatchObject({ in_flight: 1, counters: { granted: 1 } });
    });

    test("renew: one new end", async () => {
      await add("key_01");
      const held = await lease();
      await lose(command, renewScript, () => renew(held, { lease_seconds: 90 }));
      const again = await renew(held, { lease_seconds: 90 });
      expect([again.status, again.body.expires_at]).toEqual([
        200,
        new Date(redis.now_ms + 90_000).toISOString(),
      ]);
    });

    test("release: one unit back, one outcome counted", async () => {
      await add("key_01", 2);
      const [held] = [await lease(), await lease()];
      const ask = () => release(held, { outcome: { kind: "upstream_error", http_status: 503 } });
      await lose(command, releaseScript, ask);
      expect((await ask()).body).toEqual({ released: false, reason: "released" });
      expect(await inFlight(redis)).toEqual(units(1));
      expect(stateOf(await redis.raw.hget(pool_key, "key_01"))).toMatchObject({ errors: 1 });
    });

    test("put: the credential is there once, and the repeat finds it as it wants it", async () => {
      await lose(command, put, () => add("key_01", 3));
      const again = await add("key_01", 3);
      expect([again.status, again.body.result]).toEqual([200, "unchanged"]);
      expect((await admin("GET", POOL)).body).toMatchObject({ credentials: 1, capacity: 3 });
    });

    test("remove: it is gone, and the repeat says that it is not there", async () => {
      await add("key_01");
      const held = await lease();
      await lose(command, remove, () => admin("DELETE", ONE));
      expect((await admin("DELETE", ONE)).body.code).toBe("not_found");
      expect((await renew(held)).body.reason).toBe("revoked");
      expect((await admin("GET", POOL)).body).toMatchObject({ credentials: 0, capacity: 0, in_flight: 0 });
    });

    test("operators' verbs: the repeat answers as the first would have, and ends in the same state", async () => {
      await add("key_01", 2);
      await lease();
      await lose(command, mark, () => admin("POST", `${ONE}/disable`));
      expect((await admin("POST", `${ONE}/disable`)).status).toBe(200);
      await lose(command, patch, () => admin("PATCH", ONE, { max_concurrent_uses: 5 }));
      expect((await admin("PATCH", ONE, { max_concurrent_uses: 5 })).body).toMatchObject({
        max_concurrent_uses: 5,
      });
      await lose(command, configure, () => admin("PATCH", POOL, { lease_seconds: 9 }));
      expect((await admin("PATCH", POOL, { lease_seconds: 9 })).body.settings.lease_seconds).toBe(9);
      await lose(command, revoke, () => admin("DELETE", `${ONE}/leases`));
      expect((await admin("DELETE", `${ONE}/leases`)).status).toBe(200);
      const pool = await admin("GET", POOL);
      expect(pool.body).toMatchObject({ capacity: 5, in_flight: 0, counters: { revoked: 1 } });
      expect((await admin("GET", ONE)).body).toMatchObject({ status: "disabled", in_flight: 0 });
    });

    test("cell: made once; with an Idempotency-Key the repeat is the first answer", async () => {
      await redis.raw.flushall();
      const ask = () => admin("POST", "/cell", undefined, { "idempotency-key": "make-1" });
      await lose(command, create, ask);
      const [first, second] = [await ask(), await ask()];
      expect([first.status, first.body]).toEqual([201, second.body]);
      expect((await admin("POST", "/cell")).status).toBe(409);
    });
  },
);

test("case D38: a lost grant of the fallback pool is free again soon, and the asked pool keeps what it has", async () => {
  await add("v1", 1, { pool: "vip" });
  await add("key_01");
  await lease({ pool: "vip" });
  await allocate({ pool: "vip", model: "nobody" }); // both pools are known
  const { sha } = allocateScript.text.upstash;
  const granting = ([, what = "", , key = ""]: string[]) => what === sha && key === pool_key;
  redis.double.fault({ kind: "drop_after", match: granting });
  expect((await allocate({ pool: "vip" })).body.maybe_applied).toBe(true);
  await settled(redis, 0);
  expect(await inFlight(redis, "openai", "vip")).toEqual(units(1));
});

test("case D39: scripts forgotten before each request: every verb works, 20 at once are each applied once", async () => {
  redis.double.fault({ kind: "script_flush", times: 1e6 });
  expect((await add("key_01", 20)).status).toBe(201);
  const leases = await many(20, (i) => lease({ op_id: `op-${i}` }));
  expect(await many(20, (i) => lease({ op_id: `op-${i}` }))).toEqual(leases);
  expect(await inFlight(redis)).toEqual(units(20));
  expect((await allocate()).status).toBe(429);
  const renewed = await Promise.all(leases.map((one) => renew(one)));
  expect(new Set(renewed.map(({ status }) => status))).toEqual(new Set([200]));
  const released = await Promise.all(leases.map((one) => release(one)));
  expect(new Set(released.map(({ body }) => body.released))).toEqual(new Set([true]));
  const pool = await admin("GET", "/pools/openai/default");
  expect(pool.body).toMatchObject({ in_flight: 0, counters: { granted: 20, released: 20 } });
  expect((await admin("DELETE", "/credentials/openai/default/key_01")).body.removed).toBe(true);
  expect((await worker.call("GET", "/readyz", {})).status).toBe(200);
});

test("an outage between a grant and its reply: it may have happened, and what nobody got is given back", async () => {
  await worker.deploy({ SNAPSHOT_STALE_MS: "0" }); // the pool is read again after the grant
  await add("key_01", 2);
  await release(await lease());
  const afterGrant = () => {
    let granted = false;
    const match = ([name = ""]: string[]) => {
      granted ||= name.toUpperCase() === "EVALSHA";
      return granted && name.toUpperCase() === "HRANDFIELD";
    };
    redis.double.fault({ kind: "drop_before", match });
  };
  afterGrant();
  expect((await allocate()).body).toMatchObject({ code: "store_unavailable", maybe_applied: true });
  await settled(redis, 0);
  afterGrant();
  expect((await allocate({ op_id: "op-1" })).body).toMatchObject({ maybe_applied: true });
  await lease({ op_id: "op-1" });
  expect(await inFlight(redis)).toEqual(units(1));
});
