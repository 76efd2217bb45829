// What a job asks of hosts outside: a secret would go to another host, or a run would hang or swell, if these failed. (The harness
// of the HTTP tests follows redirects by itself, so they cannot show it.)
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { startUpstream, type Upstream } from "../../dev/upstream/server.ts";
import { ask } from "../../src/pools/outside.ts";

let upstream: Upstream;
beforeAll(async () => {
  upstream = await startUpstream();
});
afterAll(() => upstream.stop());
beforeEach(() => upstream.reset());
const headers = { authorization: "Bearer sk-demo-1" };
const models = () => ask(`${upstream.url}/v1/models`, { headers });

test("an answer: its status, its headers and its body", async () => {
  const answer = await models();
  expect([answer?.status, answer?.headers.get("x-request-id")]).toEqual([200, "req_demo"]);
  expect(JSON.parse(answer?.body ?? "").object).toBe("list");
});

test("a redirect is an answer; it is not followed", async () => {
  upstream.behave({ kind: "redirect" });
  expect((await models())?.status).toBe(307);
  expect(upstream.calls.map(({ path }) => path)).toEqual(["/v1/models"]);
});

test("of a large body no more than its beginning", async () => {
  upstream.behave({ body: "x".repeat(5_000_000) });
  expect((await models())?.body).toBe("x".repeat(65_536));
});

test("nobody there, a reset, a URL that is none: no answer, and no exception that could repeat a secret", async () => {
  expect(await ask("http://127.0.0.1:9", { headers })).toBeUndefined();
  expect(await ask("no url", { headers })).toBeUndefined();
  upstream.behave({ kind: "reset" });
  expect(await models()).toBeUndefined();
});
