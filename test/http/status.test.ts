// Alive, ready, measured: an outage that nobody would see, or a service that would be called ill, if these failed.
import { describe, expect, test } from "vitest";
import { ADMIN_KEY, credential, METRICS_KEY, many, useWorker, verbsOf } from "../support/worker.ts";

const worker = useWorker({ REDIS_TIMEOUT_MS: "300", REQUEST_DEADLINE_MS: "700" });
const { add, allocate, lease, release } = verbsOf(worker);
const { call, redis } = worker;

const get = (path: string) => call("GET", path, { authorization: `Bearer ${METRICS_KEY}` });
const createCell = (headers: Record<string, string> = {}) =>
  worker.admin("POST", "/cell", undefined, headers);
/** Redis is down for as long as `work` takes. */
const without = async (work: () => Promise<void>) => {
  await redis.server.stop();
  await work().finally(() => redis.server.restart());
};

describe("/healthz", () => {
  test("answers without a key, and touches nothing: also while Redis is down", async () => {
    redis.double.requests = 0;
    const up = await call("GET", "/healthz", {});
    expect([up.status, up.body]).toEqual([200, "ok\n"]);
    await without(async () => expect((await call("GET", "/healthz", {})).status).toBe(200));
    expect(redis.double.requests).toBe(0);
  });
});

describe("/readyz", () => {
  test("is 200 when Redis runs a script and the cell is there", async () => {
    const { status, body } = await call("GET", "/readyz", {});
    expect([status, body]).toEqual([200, { ready: true }]);
  });

  test("runs a script, not only a PING: it is not ready when scripts fail", async () => {
    redis.double.fault({ kind: "html_500", times: 9, match: ([name = ""]) => /^EVAL/i.test(name) });
    expect((await get("/readyz")).body.code).toBe("store_unavailable");
  });

  test("says that there is no cell, and how to make one", async () => {
    await redis.raw.flushall();
    const { status, body } = await get("/readyz");
    expect([status, body.code]).toEqual([503, "store_unavailable"]);
    expect(body.detail).toContain("POST /api/admin/cell");
  });

  test("is 503 while Redis is down, and 200 once it is back", async () => {
    await without(async () => {
      const { status, headers } = await get("/readyz");
      expect([status, headers.get("retry-after")]).toEqual([503, "1"]);
    });
    await createCell();
    expect((await get("/readyz")).status).toBe(200);
  });

  test("says in words what a database does not do", async () => {
    await worker.deploy({}); // the probe runs whole once in an isolate
    await redis.at(1000);
    const { status, body } = await get("/readyz");
    expect([status, body.code]).toEqual([503, "store_unavailable"]);
    expect(body.detail).toContain("TIME inside a script gives the present time");
    await redis.at(Date.now());
    expect((await get("/readyz")).status).toBe(200);
  });
});

describe("/metrics", () => {
  /** The samples of an exposition text; throws on a line that is none. */
  const samplesOf = (text: string) => {
    const samples = new Map<string, number>();
    const types = new Map<string, string>();
    expect(text.endsWith("\n")).toBe(true);
    for (const line of text.trimEnd().split("\n")) {
      const comment = /^# (HELP|TYPE) ([a-zA-Z_:][\w:]*) (.+)$/.exec(line);
      if (comment?.[1] === "TYPE") types.set(comment[2] ?? "", comment[3] ?? "");
      if (comment) continue;
      const label = '[a-zA-Z_]\\w*="(?:[^"\\\\\\n]|\\\\["\\\\n])*"';
      const sample = new RegExp(`^(([a-z_]+)(?:\\{${label}(?:,${label})*\\})?) (\\d+)$`).exec(line);
      if (!sample) throw new Error(`not a sample: ${line}`);
      const [, series = "", name = "", value] = sample;
      expect(samples.has(series)).toBe(false);
      expect(types.get(name)).toMatch(/^(counter|gauge)$/);
      samples.set(series, Number(value));
    }
    return samples;
  };
  const metrics = async () => {
    const answer = await get("/metrics");
    expect(answer.headers.get("content-type")).toMatch(/^text\/plain/);
    return samplesOf(answer.body);
  };

  test("counts leases, refusals and requests, with as many series whatever callers send", async () => {
    await worker.deploy({});
    await add("key_01");
    await release(await lease());
    await lease();
    await allocate();
    await many(50, (i) => call("GET", `/api/admin/x-${i}`, { authorization: `Bearer ${ADMIN_KEY}` }));
    await many(50, (i) => allocate({ provider: `x"${i}\n`, model: `junk-${i}` }));
    const samples = await metrics();
    expect(samples.get("qm_redis_up")).toBe(1);
    expect(samples.get('qm_leases_total{pool="openai:default",result="granted"}')).toBe(2);
    expect(samples.get('qm_leases_total{pool="openai:default",result="released"}')).toBe(1);
    expect(samples.get('qm_refusals_total{code="no_capacity"}')).toBe(1);
    expect(samples.get('qm_requests_total{route="/api/internal/allocate-key",status="429"}')).toBe(1);
    expect(samples.size).toBeLessThan(20);
  });

  test("says that Redis is down, with 200, and counts the outage apart", async () => {
    await worker.deploy({});
    await without(async () => {
      expect((await allocate()).status).toBe(503);
      const samples = await metrics();
      expect(samples.get("qm_redis_up")).toBe(0);
      expect(samples.get('qm_store_unavailable_total{reason="refused"}')).toBe(1);
      expect(samples.get('qm_refusals_total{code="store_unavailable"}')).toBe(1);
      expect([...samples.keys()].some((series) => series.includes("no_capacity"))).toBe(false);
    });
  });
});

describe("POST /api/admin/cell", () => {
  test("makes an empty database a cell, once; a repeat with the same Idempotency-Key is the first answer", async () => {
    await redis.raw.flushall();
    const first = await createCell({ "idempotency-key": "make-1" });
    expect([first.status, first.body]).toEqual([
      201,
      { cell: "test", epoch: expect.any(Number), shards: 16 },
    ]);
    const again = await createCell({ "idempotency-key": "make-1" });
    expect([again.status, again.body]).toEqual([201, first.body]);
    for (const headers of [{}, { "idempotency-key": "make-2" }]) {
      const { status, body } = await createCell(headers);
      expect([status, body.code]).toEqual([409, "policy_conflict"]);
    }
  });

  test("20 at once make one cell", async () => {
    await redis.raw.flushall();
    const answers = await many(20, () => createCell());
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(19);
  });

  test("before it, every other route is 503, never an unknown name; after it, they work", async () => {
    const held = { lease_id: "lse_1", key_id: "key_01", provider: "openai", pool: "default" };
    const { renew, release } = verbsOf(worker);
    const one = "/credentials/openai/default/key_01";
    const routes = {
      allocate: () => allocate(),
      "allocate with an op_id": () => allocate({ op_id: "op-1" }),
      renew: () => renew(held),
      release: () => release(held),
      put: () => add("key_01"),
      "put a list": () => worker.admin("POST", "/credentials", { credentials: [credential("key_01")] }),
      read: () => worker.admin("GET", one),
      list: () => worker.admin("GET", "/credentials"),
      remove: () => worker.admin("DELETE", one),
      revoke: () => worker.admin("DELETE", `${one}/leases`),
      disable: () => worker.admin("POST", `${one}/disable`),
      "read pools": () => worker.admin("GET", "/pools"),
      "read a pool": () => worker.admin("GET", "/pools/openai/default"),
    };
    await add("key_01");
    await lease(); // an isolate that knows the pool must not trust what it knows
    await redis.raw.flushall();
    for (const [route, ask] of Object.entries(routes)) {
      const { status, body } = await ask();
      expect([route, status, body.code, body.maybe_applied]).toEqual([
        route,
        503,
        "store_unavailable",
        false,
      ]);
    }
    expect(await redis.raw.keys("*pool*")).toEqual([]);
    await createCell();
    await add("key_01");
    await lease();
  });
});
