// Secrets: a credential that could not be used, or a secret that somebody could read, if these failed.
import { describe, expect, test } from "vitest";
import { keys } from "../support/redis.ts";
import {
  ADMIN_KEY,
  credential,
  INTERNAL_KEY,
  inFlight,
  METRICS_KEY,
  SEALING,
  units,
  useWorker,
  verbsOf,
} from "../support/worker.ts";

const worker = useWorker();
const { add, allocate, lease, release } = verbsOf(worker);
const { redis } = worker;
const { secrets_key } = keys.pool("openai", "default");

let deployed: string = SEALING.old;
const sealedBy = async (...list: string[]) => {
  const SEALING_KEYS = list.join(",");
  if (SEALING_KEYS !== deployed) await worker.deploy({ SEALING_KEYS });
  deployed = SEALING_KEYS;
};
const statusOf = async (key_id: string) =>
  (await worker.admin("GET", `/credentials/openai/default/${key_id}`)).body.status;

describe("a planted secret", () => {
  const PLANTED = "sk-planted-4242424242424242424242424242";
  const forms = [
    PLANTED,
    ...["base64", "base64url", "hex"].map((as) => Buffer.from(PLANTED).toString(as as "hex")),
  ];
  const leaks = (text: string) => forms.some((form) => text.includes(form.replace(/=+$/, "")));
  const secret = { api_key: PLANTED };
  const admin = { authorization: `Bearer ${ADMIN_KEY}` };

  /** All that Redis holds: names and values. */
  const everything = async () => {
    const { raw } = redis;
    const read: Record<string, (key: string) => Promise<unknown>> = {
      string: (key) => raw.get(key),
      hash: (key) => raw.hgetall(key),
      zset: (key) => raw.zrange(key, "0", "-1"),
      stream: (key) => raw.xrange(key, "-", "+"),
    };
    const values: unknown[] = [];
    for (const key of await raw.keys("*")) values.push(key, await read[await raw.type(key)]?.(key));
    return JSON.stringify(values);
  };

  test("is in the lease's reply and nowhere else", async () => {
    worker.clearLogs();
    const oauth = { kind: "oauth", secret: { access_token: "token-1", refresh_token: PLANTED } };
    const replies = [
      await add("key_01", 1, { secret }),
      await add("key_01", 2, { secret }),
      await add("key_02", 1, { secret, pool: "vip" }),
      await add("key_03", 1, { ...oauth, provider: "other" }),
      await worker.admin("POST", "/credentials", {
        credentials: [credential("key_04", { secret }), { secret }],
      }),
      await worker.admin("GET", "/credentials"),
      await worker.admin("GET", "/credentials/openai/default/key_01"),
      await allocate({ provider: "other" }),
      await worker.call("GET", "/metrics", { authorization: `Bearer ${METRICS_KEY}` }),
    ];
    expect(replies.map(({ status }) => status)).toEqual([201, 200, 409, 201, 200, 200, 200, 200, 200]);
    const held = await lease();
    expect(held.credential).toEqual(secret);
    replies.push(await release(held, { outcome: { kind: "auth_failed", retry_after: PLANTED } }));
    replies.push(await worker.admin("DELETE", "/credentials/openai/default/key_01"));
    for (const { headers, body } of replies) expect(leaks(JSON.stringify([body, ...headers]))).toBe(false);
    expect(leaks(JSON.stringify(worker.logs()))).toBe(false);
    expect(leaks(await everything())).toBe(false);
  });

  test("is not repeated by an error, a log line or a metric when a bad request contains it", async () => {
    worker.clearLogs();
    const good = credential("key_01", { secret });
    const bad: unknown[] = [
      `{"secret": "${PLANTED}"`,
      PLANTED,
      { ...good, key_id: `${PLANTED} ` },
      { ...good, secret: PLANTED },
      { ...good, secret: [PLANTED] },
      { ...good, secret: { api_key: `${PLANTED} ` } },
      { ...good, secret: { api_key: PLANTED, other: PLANTED } },
      { ...good, kind: PLANTED },
      { ...good, status: PLANTED },
      { ...good, max_concurrent_uses: PLANTED },
      { ...good, models: PLANTED },
      { ...good, models: [PLANTED] },
      { ...good, base_url: `https://user:${PLANTED}@api.example.com` },
      { ...good, base_url: `https://api.example.com/?key=${PLANTED}` },
      { ...good, extra: PLANTED },
      { credentials: PLANTED },
      { credentials: [{ ...good, secret: PLANTED }], extra: PLANTED },
    ];
    const replies = [];
    for (const body of bad) replies.push(await worker.call("POST", "/api/admin/credentials", admin, body));
    for (const body of [
      { provider: `${PLANTED}!`, model: "m" },
      { provider: "openai", model: PLANTED, lease_seconds: PLANTED },
    ])
      replies.push(await worker.internal("/allocate-key", body));
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([400]));
    replies.push(
      await worker.call(
        "POST",
        `/api/admin/credentials?key=${PLANTED}`,
        { authorization: `Bearer ${PLANTED}` },
        good,
      ),
    );
    replies.push(
      await worker.call(
        "POST",
        "/api/internal/allocate-key",
        { "x-internal-key": `${INTERNAL_KEY}${PLANTED}` },
        {},
      ),
    );
    replies.push(await worker.call("GET", `/no/${PLANTED}`, admin));
    replies.push(await worker.call("GET", "/metrics", { authorization: `Bearer ${METRICS_KEY}` }));
    for (const { headers, body } of replies) expect(leaks(JSON.stringify([body, ...headers]))).toBe(false);
    expect(worker.logs().length).toBeGreaterThan(bad.length);
    expect(leaks(JSON.stringify(worker.logs()))).toBe(false);
    expect(leaks(await everything())).toBe(false);
  });
});

describe("a secret that cannot be opened", () => {
  test("a sealed text moved to another credential opens nothing", async () => {
    await sealedBy(SEALING.old);
    await add("rich", 1);
    await add("thief", 1);
    await redis.raw.hset(secrets_key, "thief", (await redis.raw.hget(secrets_key, "rich")) ?? "");
    expect(await lease()).toMatchObject({ key_id: "rich" });
    expect((await allocate()).body.reasons).toEqual({ full: 1, auth_failed: 1 });
    expect(await inFlight(redis)).toEqual(units(1));
  });

  test("its sealing key is gone after a deploy: given back, benched, and the next one is handed out", async () => {
    await sealedBy(SEALING.old);
    await add("old", 5);
    await sealedBy(SEALING.new);
    await add("new", 1);
    worker.clearLogs();
    expect(await lease()).toMatchObject({ key_id: "new", credential: { api_key: "sk-new" } });
    expect((await allocate()).body).toMatchObject({
      code: "no_capacity",
      reasons: { full: 1, auth_failed: 1 },
    });
    expect(await inFlight(redis)).toEqual(units(1));
    expect([await statusOf("old"), await statusOf("new")]).toEqual(["auth_failed", "available"]);
    const told = worker.logs().filter(({ message }) => message.includes("secret_does_not_open"));
    expect(told.map(({ message }) => JSON.parse(message).key_id)).toEqual(["old"]);
  });

  test("none opens: no capacity, nothing in flight, and the same op_id is served once one does", async () => {
    await sealedBy(SEALING.new);
    const ids = Array.from({ length: 12 }, (_, i) => `key_${i}`);
    for (const key_id of ids) await add(key_id);
    await sealedBy(SEALING.old);
    for (const asked of ["op-1", "op-1", "op-2"]) {
      const answer = await allocate({ op_id: asked });
      expect([answer.status, answer.body.code]).toEqual([429, "no_capacity"]);
      expect(Object.keys(answer.body.reasons)).toEqual(["auth_failed"]);
    }
    expect(await inFlight(redis)).toEqual(units(0));
    expect(await redis.raw.keys("*:lease:*")).toEqual([]);
    await add("key_0", 1, { secret: { api_key: "sk-changed" } });
    expect(await lease({ op_id: "op-1" })).toMatchObject({
      key_id: "key_0",
      credential: { api_key: "sk-changed" },
    });
  });

  test("rotation: the old key still opens; a sync seals anew; then the old key may go", async () => {
    await sealedBy(SEALING.old);
    await add("key_01", 1);
    await sealedBy(SEALING.new, SEALING.old);
    const first = await lease();
    expect(first.credential).toEqual({ api_key: "sk-key_01" });
    expect((await add("key_01", 1)).body).toEqual({ key_id: "key_01", result: "updated" });
    expect((await add("key_01", 1)).body).toEqual({ key_id: "key_01", result: "unchanged" });
    expect(await redis.raw.hget(secrets_key, "key_01")).toMatch(/^\S+ k2\./);
    expect((await allocate()).status).toBe(429); // what it carried outlives the sync
    await release(first);
    await sealedBy(SEALING.new);
    expect((await lease()).credential).toEqual({ api_key: "sk-key_01" });
  });
});
