// What passes the gateway, both ways: a key, a cookie or a prompt that reaches whom it should not, if these failed.
import { describe, expect, test } from "vitest";
import { METRICS_KEY } from "../support/worker.ts";
import { HELLO, useGateway } from "./gateway-kit.ts";

const gateway = useGateway();
const { admin, call, logs } = gateway.worker;

const CLIENT = {
  cookie: "session=PLANTED",
  "user-agent": "PLANTED/1.0",
  "x-forwarded-for": "10.0.0.1",
  "cf-connecting-ip": "10.0.0.1",
  "x-stainless-lang": "js",
  "openai-organization": "org-PLANTED",
  "openai-project": "proj-PLANTED",
  "x-internal-key": "test-internal-key",
  "openai-beta": "assistants=v2",
};

describe("case E50: an allow-list both ways", () => {
  test("of the caller's headers upstream gets its own few, and the credential in place of the token", async () => {
    const reply = await gateway.post("/v1/chat/completions", { model: "demo-chat", messages: HELLO }, CLIENT);
    expect(reply.status).toBe(200);
    const headers: Record<string, unknown> = { ...gateway.upstream.calls[0]?.headers };
    expect(headers).toMatchObject({ authorization: "Bearer sk-demo-key_01", "openai-beta": "assistants=v2" });
    expect(JSON.stringify(headers)).not.toMatch(/PLANTED|10\.0\.0\.1|qm_acme|test-internal-key|stainless/);
  });

  test("of upstream's headers the caller gets its own few", async () => {
    const planted = {
      "set-cookie": "a=b",
      "openai-organization": "org",
      "x-ratelimit-remaining-tokens": "1",
    };
    gateway.upstream.behave({ headers: { ...planted, "x-request-id": "req_upstream" } });
    const reply = await gateway.post("/v1/chat/completions", { model: "demo-chat", messages: HELLO });
    expect([...reply.headers.keys()].filter((name) => name in planted)).toEqual([]);
    expect(reply.headers.get("x-qm-request-id")).toMatch(/^req_/);
    expect(reply.headers.get("x-qm-key-id")).toBeNull();
  });

  test("the credential is named to who also has an internal key", async () => {
    const ask = (headers: Record<string, string>) =>
      gateway.post("/v1/chat/completions", { model: "demo-chat", messages: HELLO }, headers);
    expect((await ask({ "x-internal-key": "test-internal-key" })).headers.get("x-qm-key-id")).toBe("key_01");
    expect((await ask({ "x-internal-key": "wrong" })).headers.get("x-qm-key-id")).toBeNull();
  });
});

test("case E51: a key that upstream repeats, a prompt, a token: in no answer, log, metric or entry", async () => {
  gateway.upstream.behave({ status: 400, body: '{"error":{"message":"bad key sk-demo-key_01"}}', times: 1 });
  const repeated = await gateway.post("/v1/chat/completions", { model: "demo-chat", messages: HELLO });
  gateway.upstream.behave({ kind: "auth_failed", times: 1 });
  const refused = await gateway.post("/v1/chat/completions", { model: "demo-chat", messages: HELLO });
  await gateway.idle();
  const metrics = await call("GET", "/metrics", { authorization: `Bearer ${METRICS_KEY}` });
  const lists = [await admin("GET", "/credentials"), await admin("GET", "/journal?limit=1000")];
  const said = [
    await repeated.text(),
    await refused.text(),
    metrics.body,
    ...lists.map(({ body }) => JSON.stringify(body)),
  ];
  const all = [...said, ...logs().map(({ message }) => message)].join("\n");
  expect(all).not.toContain("sk-demo-key_01");
  expect(all).not.toContain(gateway.token);
  expect(all).not.toContain("How many loaves");
});

test("case E52: a guessed call or hold of another tenant tells nothing", async () => {
  await gateway.post("/v1/chat/completions", { model: "demo-chat", messages: HELLO });
  const [end] = await gateway.ends(1);
  const hold = (tenant: string) =>
    call("GET", `/api/internal/holds/${end?.hold}?tenant=${tenant}`, {
      "x-internal-key": "test-internal-key",
    });
  await admin("POST", "/tenants", { tenant: "globex" });
  expect([(await hold("acme")).status, (await hold("globex")).status]).toEqual([200, 404]);
});

test("case E53: junk names of models make no series and no broken line", async () => {
  for (let i = 0; i < 40; i++)
    await gateway.post("/v1/chat/completions", { model: `junk-${i}"\\`, messages: HELLO });
  for (const model of ["x".repeat(10_000), "a\nb", "x');alert(1)//"])
    expect(
      (await gateway.post("/v1/chat/completions", { model, messages: HELLO })).status,
    ).toBeGreaterThanOrEqual(400);
  const { body } = await call("GET", "/metrics", { authorization: `Bearer ${METRICS_KEY}` });
  expect(body).not.toContain("junk");
  for (const line of body.trim().split("\n")) expect(line).toMatch(/^(# (HELP|TYPE) .+|\w+(\{.*\})? \d+)$/);
});

test("an agent's request arrives byte for byte, but for the model's name", async () => {
  const text = JSON.stringify({
    model: "demo-claude",
    max_tokens: 1_024,
    system: [{ type: "text", text: "You bake. ".repeat(500), cache_control: { type: "ephemeral" } }],
    tools: [
      {
        name: "oven",
        description: "é 北",
        input_schema: { type: "object", properties: { c: { type: "integer" } } },
      },
    ],
    messages: [
      { role: "user", content: [{ type: "text", text: "Bake" }] },
      { role: "assistant", content: [{ type: "tool_use", id: "toolu_1", name: "oven", input: { c: 220 } }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "hot" }] },
    ],
    metadata: { user_id: "u-1" },
    thinking: { type: "enabled", budget_tokens: 1_000 },
  }).replace('"u-1"', '"u-1","n":15947634569000323');
  const headers = { "anthropic-version": "2023-06-01", "anthropic-beta": "interleaved-thinking-2025-05-14" };
  expect((await gateway.post("/v1/messages", text, headers)).status).toBe(200);
  const sent = gateway.upstream.calls[0];
  expect(sent?.body).toBe(text.replace('"demo-claude"', '"demo-claude-1"'));
  expect(sent?.headers).toMatchObject({ ...headers, "x-api-key": "sk-demo-key_01" });
});

test("one credential for one conversation", async () => {
  for (const key of ["key_02", "key_03", "key_04"]) await gateway.addKey(key);
  for (let i = 0; i < 6; i++) {
    const headers = { "x-qm-affinity": "conversation-7" };
    await (
      await gateway.post("/v1/chat/completions", { model: "demo-chat", messages: HELLO }, headers)
    ).text();
  }
  const keys = new Set(gateway.upstream.calls.map(({ headers }) => headers.authorization));
  expect(keys.size).toBe(1);
});
