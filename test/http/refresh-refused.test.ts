// A refresh that fails: a credential that is asked for in vain every minute, or a secret in a log, if these failed.
import { describe, expect, test } from "vitest";
import { useRefresh } from "./refresh-kit.ts";

const kit = useRefresh();
const { worker, redis, admin, lock_key, refresh, report, secretOf, add, path, view, leased, entries } = kit;

describe("invalid_grant", () => {
  test("puts it out of service, with an entry, and is not heard again the next minute", async () => {
    await add();
    kit.endpoint.say({ status: 400, body: { error: "invalid_grant" } });
    expect(await refresh()).toEqual(report({ refused: 1 }));
    expect(await view()).toMatchObject({ status: "auth_failed", until: null });
    expect(await entries()).toMatchObject([{ kind: "status", actor: "refresh" }]);
    expect(await refresh()).toEqual(report());
    expect(kit.endpoint.asked).toHaveLength(1);
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
    kit.endpoint.say(failure);
    expect(await refresh(), JSON.stringify(failure)).toEqual(report({ failed: 1 }));
  }
  expect([(await view()).status, await leased(), await entries()]).toEqual([
    "available",
    { access_token: "at-0" },
    [],
  ]);
  kit.endpoint.reset();
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
  expect(kit.endpoint.asked).toHaveLength(0);
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
    kit.endpoint.say(answer);
    await refresh();
    replies.push(await admin("GET", path), await admin("GET", "/credentials"));
  }
  expect(kit.endpoint.asked).toHaveLength(3);
  expect(JSON.stringify(replies.map(({ body, headers }) => [body, ...headers]))).not.toContain(PLANTED);
  expect(JSON.stringify(worker.logs())).not.toContain(PLANTED);
  for (const key of await redis.raw.keys("*")) {
    const held = (await redis.raw.type(key)) === "stream" ? await redis.raw.xrange(key, "-", "+") : key;
    expect(JSON.stringify(held)).not.toContain(PLANTED);
  }
  await admin("POST", `${path}/enable`);
  expect(await leased()).toEqual({ access_token: `at2-${PLANTED}` }); // and no more than that
});
