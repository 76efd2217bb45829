// The refresh of OAuth tokens, as cron fires it: a credential that dies at the end of its first token, or whose refresh token is
// used twice and revoked, if these failed.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { patch } from "../../src/scripts/pool/patch.ts";
import { useBooks } from "../support/books.ts";
import { entriesOf } from "../support/ledger.ts";
import { PATIENT } from "../support/ledger-routes.ts";
import { aWhileAgo, fire } from "../support/overdue.ts";
import { keys } from "../support/redis.ts";
import { startTokenEndpoint } from "../support/token-endpoint.ts";
import { credential, type More, many, useWorker, verbsOf } from "../support/worker.ts";

const worker = useWorker(PATIENT);
const { redis, admin } = worker;
const { lease, release } = verbsOf(worker);
useBooks(redis);
const { journal_key } = keys.pool("openai", "default");
const lock_key = keys.lock("refresh", "openai", "default", "key_01");
const HOUR_MS = 3_600_000;

let endpoint: Awaited<ReturnType<typeof startTokenEndpoint>>;
beforeAll(async () => {
  endpoint = await startTokenEndpoint();
});
afterAll(() => endpoint.stop());
beforeEach(async () => {
  endpoint.reset();
  await aWhileAgo(worker);
});

const refresh = () => fire(worker, "refresh");
const report = (more: object = {}) =>
  expect.objectContaining({ refreshed: 0, refused: 0, failed: 0, ...more });
const inMs = (ms: number) => new Date(Date.now() + ms).toISOString();
const secretOf = (more: More = {}) => ({
  access_token: "at-0",
  refresh_token: "rt-0",
  expires_at: inMs(5 * 60_000),
  token_url: endpoint.url,
  client_id: "client-1",
  ...more,
});
const add = (secret: More = {}, more: More = {}) =>
  admin("POST", "/credentials", credential("key_01", { kind: "oauth", secret: secretOf(secret), ...more }));
const path = "/credentials/openai/default/key_01";
const view = async () => (await admin("GET", path)).body;
const leased = async () => {
  const held = await lease();
  await release(held);
  return held.credential;
};
const entries = async () =>
  entriesOf(await redis.raw.xrange(journal_key, "-", "+")).filter(({ actor }) => actor === "refresh");
/** Begins a refresh, and goes on while the endpoint takes its time. */
async function underWay() {
  const running = refresh();
  await expect.poll(() => endpoint.asked.length, { timeout: 5_000 }).toBe(1);
  return { running };
}
const slowly = (body: unknown, status = 200) => endpoint.say({ body, status, delay_ms: 500 });

describe("a token that ends within ten minutes", () => {
  test("is refreshed: the next lease has the new one, which lives from now on", async () => {
    await add({ client_secret: "cs & u" });
    expect(await leased()).toEqual({ access_token: "at-0" });
    const before = Date.now();
    expect(await refresh()).toEqual(report({ refreshed: 1 }));
    const { method, headers, form } = endpoint.asked[0] ?? { form: {} };
    expect([method, headers?.["content-type"]]).toEqual(["POST", "application/x-www-form-urlencoded"]);
    expect(form).toEqual({
      ...{ grant_type: "refresh_token", refresh_token: "rt-0" },
      ...{ client_id: "client-1", client_secret: "cs & u" },
    });
    expect(await leased()).toEqual({ access_token: "at-1" });
    const ends_ms = Date.parse((await view()).token_expires_at) - HOUR_MS;
    expect(ends_ms).toBeGreaterThanOrEqual(before - 1000);
    expect(ends_ms).toBeLessThanOrEqual(Date.now() + 1000);
    expect(await entries()).toMatchObject([{ kind: "config", actor: "refresh", seq: "2" }]);
    expect(await redis.raw.exists(lock_key)).toBe(0);
    expect(await refresh()).toEqual(report());
  });

  test("is refreshed with the refresh token that came last, and with the same one where none came", async () => {
    await add();
    endpoint.say((n) => ({
      body: { access_token: `at-${n}`, expires_in: 60, ...(n === 1 ? { refresh_token: "rt-1" } : {}) },
    }));
    for (let n = 0; n < 3; n++) expect(await refresh()).toEqual(report({ refreshed: 1 }));
    expect(endpoint.asked.map(({ form }) => form.refresh_token)).toEqual(["rt-0", "rt-1", "rt-1"]);
    expect(endpoint.asked[2]?.form.client_id).toBe("client-1");
    expect(await leased()).toEqual({ access_token: "at-3" });
  });

  test("serves again when it had been refused, or was over; a spent quota stays spent", async () => {
    await add();
    await release(await lease(), { outcome: { kind: "auth_failed" } });
    expect(await refresh()).toEqual(report({ refreshed: 1 }));
    expect((await view()).status).toBe("available");
    endpoint.say({ body: { access_token: "at-2", expires_in: 60 } });
    await admin("PATCH", path, { secret: secretOf({ expires_at: inMs(-1000) }) });
    expect(await refresh()).toEqual(report({ refreshed: 1 }));
    await release(await lease(), { outcome: { kind: "exhausted" } });
    expect(await refresh()).toEqual(report({ refreshed: 1 }));
    expect((await view()).status).toBe("exhausted");
  });

  test("without expires_in it is taken to live an hour; a number as text is one", async () => {
    for (const expires_in of [undefined, "3600"]) {
      await add({ access_token: `at-${expires_in}` });
      endpoint.say({ body: { access_token: "at-9", expires_in } });
      expect(await refresh()).toEqual(report({ refreshed: 1 }));
      const lives_ms = Date.parse((await view()).token_expires_at) - Date.now();
      expect(Math.abs(lives_ms - HOUR_MS)).toBeLessThan(5_000);
    }
  });

  test("is left alone when it ends later, has nothing to be refreshed with, or is disabled", async () => {
    await add({ expires_at: inMs(11 * 60_000) });
    expect(await refresh()).toEqual(report());
    await add({ token_url: undefined, client_id: undefined });
    expect(await refresh()).toEqual(report());
    await add();
    await admin("POST", `${path}/disable`);
    expect(await refresh()).toEqual(report());
    expect(endpoint.asked).toHaveLength(0);
    await admin("POST", `${path}/enable`);
    expect(await refresh()).toEqual(report({ refreshed: 1 }));
  });

  test("of more than ten, ten a run", async () => {
    const one = (i: number) =>
      credential(`key_${i}`, { kind: "oauth", secret: secretOf({ access_token: `t-${i}` }) });
    await admin("POST", "/credentials", { credentials: Array.from({ length: 12 }, (_, i) => one(i)) });
    expect(await refresh()).toEqual(report({ refreshed: 10 }));
    expect(await refresh()).toEqual(report({ refreshed: 2 }));
  });
});

describe("at the same time", () => {
  test("two runs refresh once", async () => {
    await add();
    slowly({ access_token: "at-1", refresh_token: "rt-1", expires_in: 3600 });
    await many(2, refresh);
    expect(endpoint.asked).toHaveLength(1);
    expect([await leased(), (await entries()).length]).toEqual([{ access_token: "at-1" }, 1]);
  });

  test.each([
    ["granted", { access_token: "at-1", expires_in: 3600 }, 200],
    ["invalid_grant", { error: "invalid_grant" }, 400],
  ])(
    "an operator's new secret wins over what was asked for with the old one: %s",
    async (_, body, status) => {
      const expires_at = inMs(5 * 60_000); // the configuration stays the same, to the letter
      await add({ expires_at });
      slowly(body, status);
      const { running } = await underWay();
      await admin("PATCH", path, { secret: secretOf({ access_token: "operators", expires_at }) });
      expect(await running).toEqual(report());
      expect(await leased()).toEqual({ access_token: "operators" });
      expect(await entries()).toEqual([]);
    },
  );

  test("an operator's change of something else is kept beside the new token", async () => {
    await add();
    slowly({ access_token: "at-1", refresh_token: "rt-1", expires_in: 3600 });
    const { running } = await underWay();
    await admin("PATCH", path, { weight: 7 });
    expect(await running).toEqual(report({ refreshed: 1 }));
    expect(await view()).toMatchObject({ weight: 7, status: "available" });
    expect(await leased()).toEqual({ access_token: "at-1" });
  });

  test("a credential that is removed stays removed", async () => {
    await add();
    slowly({ access_token: "at-1", expires_in: 3600 });
    const { running } = await underWay();
    await admin("DELETE", path);
    expect(await running).toEqual(report());
    expect((await admin("GET", path)).status).toBe(404);
  });

  test.each(["drop_before", "drop_after"] as const)(
    "a write that meets an outage (%s) is made once, since the old refresh token may be spent",
    async (kind) => {
      await add();
      await redis.raw.script("LOAD", patch.text.upstash.source.replace(/^#!.*\n/, ""));
      slowly({ access_token: "at-1", refresh_token: "rt-1", expires_in: 3600 });
      const { running } = await underWay();
      redis.double.fault({ kind, match: ([, what]) => what === patch.text.upstash.sha });
      expect(await running).toEqual(report({ refreshed: 1 }));
      expect([await leased(), (await entries()).length]).toEqual([{ access_token: "at-1" }, 1]);
    },
  );
});

describe("invalid_grant", () => {
  test("puts it out of service, with an entry, and is not heard again the next minute", async () => {
    await add();
    endpoint.say({ status: 400, body: { error: "invalid_grant" } });
    expect(await refresh()).toEqual(report({ refused: 1 }));
    expect(await view()).toMatchObject({ status: "auth_failed", until: null });
    expect(await entries()).toMatchObject([{ kind: "status", actor: "refresh" }]);
    expect(await refresh()).toEqual(report());
    expect(endpoint.asked).toHaveLength(1);
    await redis.raw.del(lock_key); // ten minutes later
    expect(await refresh()).toEqual(report({ refused: 1 }));
    expect(await entries()).toHaveLength(1);
    await admin("PATCH", path, { secret: secretOf({ refresh_token: "rt-new" }) });
    expect((await view()).status).toBe("available");
  });
});

test("any other failure is counted, changes nothing, and is tried again the next minute", async () => {
  await add();
  const failures = [
    { status: 500, body: { error: "invalid_grant" } },
    { status: 401, body: { error: "invalid_client" } },
    { status: 400, body: "invalid_grant" },
    { body: "<html>" },
    { body: { error: "bad_refresh_token" } },
    { body: { access_token: "with a space", expires_in: 3600 } },
    { body: { access_token: "" } },
  ];
  for (const failure of failures) {
    endpoint.say(failure);
    expect(await refresh(), JSON.stringify(failure)).toEqual(report({ failed: 1 }));
  }
  expect([(await view()).status, await leased(), await entries()]).toEqual([
    "available",
    { access_token: "at-0" },
    [],
  ]);
  endpoint.reset();
  expect(await refresh()).toEqual(report({ refreshed: 1 }));
});

test("a token_url is a place for secrets: https and no private host, unless both are allowed", async () => {
  const fields = (answer: { status: number; body: { errors?: { field: string }[] } }) => [
    answer.status,
    answer.body.errors?.map(({ field }) => field),
  ];
  expect(fields(await add({ refresh_token: undefined }))).toEqual([400, ["secret"]]);
  expect(fields(await add({ client_id: undefined }))).toEqual([400, ["secret"]]);
  expect(fields(await add({ token_url: "ftp://a.example/token" }))).toEqual([400, ["secret.token_url"]]);
  await add();
  await worker.deploy({ ALLOW_PRIVATE_UPSTREAMS: "false" });
  const private_url = { secret: secretOf({ token_url: "https://10.0.0.1/token" }) };
  expect(fields(await admin("PATCH", path, private_url))).toEqual([400, ["secret.token_url"]]);
  expect(fields(await add())).toEqual([400, ["secret.token_url"]]);
  expect(await refresh()).toEqual(report({ failed: 1 })); // it was stored before
  expect(endpoint.asked).toHaveLength(0);
  await worker.deploy({});
});

test("planted secrets are in no log line, no entry and no answer", async () => {
  const PLANTED = "planted-4242424242424242";
  worker.clearLogs();
  const secret = {
    ...{ refresh_token: `rt-${PLANTED}`, client_secret: `cs-${PLANTED}`, client_id: `ci-${PLANTED}` },
    access_token: `at-${PLANTED}`,
  };
  const replies = [await add(secret)];
  const answers = [
    { status: 500, body: `no ${PLANTED}` },
    { body: { access_token: `at2-${PLANTED}`, refresh_token: `rt2-${PLANTED}`, expires_in: 60 } },
    { status: 400, body: { error: "invalid_grant", error_description: PLANTED } },
  ];
  for (const answer of answers) {
    endpoint.say(answer);
    await refresh();
    replies.push(await admin("GET", path), await admin("GET", "/credentials"));
  }
  expect(endpoint.asked).toHaveLength(3);
  expect(JSON.stringify(replies.map(({ body, headers }) => [body, ...headers]))).not.toContain(PLANTED);
  expect(JSON.stringify(worker.logs())).not.toContain(PLANTED);
  for (const key of await redis.raw.keys("*")) {
    const held = (await redis.raw.type(key)) === "stream" ? await redis.raw.xrange(key, "-", "+") : key;
    expect(JSON.stringify(held)).not.toContain(PLANTED);
  }
  await admin("POST", `${path}/enable`);
  expect(await leased()).toEqual({ access_token: `at2-${PLANTED}` }); // and no more than that
});
