// Shadow mode: a tenant that is tried out is turned away, or charged, or never seen in the log, if these failed.
import { expect, test } from "vitest";
import { METRICS_KEY } from "../support/worker.ts";
import { HELLO, useGateway } from "./gateway-kit.ts";

const gateway = useGateway();
const { admin, logs, call } = gateway.worker;
const chat = (model = "demo-chat") => gateway.post("/v1/chat/completions", { model, messages: HELLO });
const said = (event: string) => logs().filter(({ message }) => message.includes(`"event":"${event}"`));

test("what funds refuse passes, uncharged, and is recorded; what is there is charged as ever", async () => {
  await admin("PATCH", "/tenants/acme", { shadow: true });
  await gateway.ledger.adjust("account", "set", 1);
  const passed = await chat();
  expect(passed.status).toBe(200);
  expect(await passed.text()).toContain('"role":"assistant"');
  await gateway.idle();
  expect(await gateway.account()).toMatchObject({ available: 1, spent: 0 });
  expect(said("shadow_refusal").length).toBe(1);
  await expect.poll(() => said("shadow_call").length).toBe(1);
  const { body } = await call("GET", "/metrics", { authorization: `Bearer ${METRICS_KEY}` });
  expect(body).toContain('qm_shadow_refusals_total{kind="exhausted"} 1');
  await gateway.ledger.adjust("account", "set", 1_000_000);
  expect((await chat()).status).toBe(200);
  expect((await gateway.ends(1))[0]?.kind).toBe("settle");
});

test("a failing upstream teaches its credential, in the shadow too", async () => {
  await admin("PATCH", "/tenants/acme", { shadow: true });
  await gateway.ledger.adjust("account", "zero");
  gateway.upstream.behave({ kind: "auth_failed" });
  expect((await chat()).status).toBe(502);
  const { body } = await admin("GET", "/credentials/demo/default/key_01");
  expect([body.status, body.in_flight]).toEqual(["auth_failed", 0]);
});

test.each([
  ["off", async () => gateway.ledger.adjust("account", "zero"), 429],
  [
    "on, a frozen tenant",
    async () => admin("PATCH", "/tenants/acme", { shadow: true, status: "frozen" }),
    403,
  ],
])("%s: refused", async (_, arrange, status) => {
  await arrange();
  expect((await chat()).status).toBe(status);
});
