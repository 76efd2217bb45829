// What the API says of itself: a client made from a description that is not true, if these failed.
import { beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { ledgerVerbsOf } from "../support/ledger-http.ts";
import { type Answer, METRICS_KEY, useWorker, verbsOf } from "../support/worker.ts";
import { ACME, HOLDS, ledgerWalk } from "./ledger-walk.ts";

const worker = useWorker();
const { add, allocate, lease, renew, release } = verbsOf(worker);
const { open, reserve, end, adjust } = ledgerVerbsOf(worker);
const { admin, call } = worker;

type Json = { [key: string]: unknown };
type Operation = { responses: Record<string, { content?: Record<string, { schema: Json }> }> };
let description: { paths: Record<string, Record<string, Operation>>; components: { schemas: Json } };
beforeAll(async () => {
  description = (await call("GET", "/openapi.json", {})).body;
});

/** The schemas with their references as plain JSON Schema has them, and closed: a field that is not described is a fault. */
const closed = (schema: unknown): unknown => {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== "object" || schema === null) return schema;
  const entries = Object.entries(schema).map(([key, value]) => [
    key,
    key === "$ref" ? String(value).replace("#/components/schemas/", "#/$defs/") : closed(value),
  ]);
  const isObject = "properties" in schema && !("additionalProperties" in schema);
  return { ...Object.fromEntries(entries), ...(isObject ? { additionalProperties: false } : {}) };
};

/** What is wrong with an answer by the description of its route; undefined when nothing is. */
function faultOf(route: string, { status, headers, body }: Answer): string | undefined {
  const [method = "", path = ""] = route.split(" ");
  const responses = description.paths[path]?.[method]?.responses;
  const content = responses?.[status]?.content;
  if (!content) return `${status} is not described`;
  const type = headers.get("content-type")?.split(";")[0] ?? "";
  const schema = content[type]?.schema;
  if (!schema) return `${type} is not described for ${status}`;
  const $defs = closed(description.components.schemas);
  const whole = { ...(closed(schema) as Json), $defs } as Parameters<typeof z.fromJSONSchema>[0];
  const parsed = z.fromJSONSchema(whole).safeParse(body);
  return parsed.error && z.prettifyError(parsed.error);
}

const ONE = "/credentials/openai/default/key_01";
const POOL = "/pools/openai/default";
const credentials = [{ provider: "openai", pool: "default", key_id: "key_01" }];
const LEASES = "/api/internal/leases/{lease_id}";
const CREDENTIALS = "/api/admin/credentials";
const OF_ONE = `${CREDENTIALS}/{provider}/{pool}/{key_id}`;

/** Each route as it succeeds, in an order in which it does. */
const walk: Record<string, () => Promise<Answer>> = {
  "post /api/admin/cell": async () => {
    await worker.redis.raw.flushall();
    return admin("POST", "/cell");
  },
  "get /readyz": () => call("GET", "/readyz", {}),
  "get /metrics": () => call("GET", "/metrics", { authorization: `Bearer ${METRICS_KEY}` }),
  [`post ${CREDENTIALS}`]: () => add("key_01", 9, { base_url: "https://api.example.com/v1", weight: 2 }),
  [`get ${CREDENTIALS}`]: () => admin("GET", "/credentials"),
  "post /api/internal/allocate-key": () => allocate(),
  [`post ${LEASES}/renew`]: async () => renew(await lease()),
  [`post ${LEASES}/release`]: async () => release(await lease()),
  [`get ${OF_ONE}`]: () => admin("GET", ONE),
  [`patch ${OF_ONE}`]: () => admin("PATCH", ONE, { max_concurrent_uses: 8 }),
  [`post ${OF_ONE}/disable`]: () => admin("POST", `${ONE}/disable`),
  [`post ${OF_ONE}/enable`]: () => admin("POST", `${ONE}/enable`),
  [`post ${CREDENTIALS}/disable`]: () => admin("POST", "/credentials/disable", { credentials }),
  [`post ${CREDENTIALS}/enable`]: () => admin("POST", "/credentials/enable", { credentials }),
  [`get ${OF_ONE}/leases`]: () => admin("GET", `${ONE}/leases`),
  [`delete ${OF_ONE}/leases`]: () => admin("DELETE", `${ONE}/leases`),
  "get /api/admin/pools": () => admin("GET", "/pools"),
  "get /api/admin/pools/{provider}/{pool}": () => admin("GET", POOL),
  "patch /api/admin/pools/{provider}/{pool}": () => admin("PATCH", POOL, { lease_seconds: 30 }),
  [`delete ${OF_ONE}`]: () => admin("DELETE", ONE),
  ...ledgerWalk(worker),
};

describe("/openapi.json", () => {
  test("is OpenAPI 3.1, for everybody, and describes each route that this test walks, and no other", () => {
    expect(description).toMatchObject({ openapi: "3.1.0", info: { title: "Quartermaster" } });
    const routes = Object.entries(description.paths).flatMap(([path, verbs]) =>
      Object.keys(verbs).map((verb) => `${verb} ${path}`),
    );
    expect(Object.keys(walk).toSorted()).toEqual(routes.toSorted());
  });

  test("what every route answers when it succeeds is what it describes", async () => {
    const faults: Record<string, string> = {};
    for (const [route, ask] of Object.entries(walk)) {
      const answer = await ask();
      const fault = answer.status < 300 ? faultOf(route, answer) : `${answer.status} ${answer.body.detail}`;
      if (fault) faults[route] = fault;
    }
    expect(faults).toEqual({});
  });

  test("what routes answer when they refuse is what they describe", async () => {
    const post = "post /api/internal/allocate-key";
    await add("key_01");
    const held = await lease({ op_id: "op-1" });
    const nobody = { ...held, lease_id: "lse_nobody" };
    const refusals: [string, () => Promise<Answer>][] = [
      [post, () => allocate({ provider: "no id" })],
      [post, () => call("POST", "/api/internal/allocate-key", {}, {})],
      [post, () => allocate({ provider: "nobody" })],
      [post, () => allocate({ op_id: "op-1", lease_seconds: 1 })],
      [post, () => allocate()],
      [`post ${LEASES}/renew`, () => renew(nobody)],
      [`post ${LEASES}/release`, () => release(nobody)],
      [`post ${CREDENTIALS}`, () => add("key_01", 1, { pool: "vip" })],
      [`post ${CREDENTIALS}`, () => admin("POST", "/credentials", { credentials: [{ key_id: "x" }] })],
      [`get ${OF_ONE}`, () => admin("GET", "/credentials/openai/default/nobody")],
      [`patch ${OF_ONE}`, () => admin("PATCH", ONE, { weight: 0 })],
      ["patch /api/admin/pools/{provider}/{pool}", () => admin("PATCH", "/pools/openai/nobody", {})],
      ["post /api/admin/cell", () => admin("POST", "/cell")],
      [`post ${HOLDS}`, () => reserve("h1", 1)],
      [`post ${HOLDS}`, () => open(10).then(() => reserve("h1", 11))],
      [`post ${HOLDS}/{hold_id}/settle`, () => end("h1", "settle", { amount: 1 })],
      [`post ${ACME}/adjust`, () => adjust("account", "deduct", 11)],
    ];
    for (const [route, ask] of refusals) {
      const answer = await ask();
      expect([route, answer.status, faultOf(route, answer)]).toEqual([route, answer.status, undefined]);
    }
    worker.redis.double.fault({ kind: "drop_before", times: 9 });
    const outage = await renew(held);
    expect([outage.status, faultOf(`post ${LEASES}/renew`, outage)]).toEqual([503, undefined]);
  });

  test("the check itself finds what is not described", async () => {
    const answer = await call("GET", "/readyz", {});
    const wrong = (more: Partial<Answer>) => faultOf("get /readyz", { ...answer, ...more });
    expect(faultOf("get /readyz", answer)).toBeUndefined();
    expect(wrong({ status: 418 })).toMatch(/not described/);
    expect(wrong({ body: { ready: "yes" } })).toBeDefined();
    expect(wrong({ body: { ready: true, more: 1 } })).toBeDefined();
  });
});

describe("/docs", () => {
  const STRICT = ["default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'"];

  test("the page and its files are served here, under a policy that lets nothing else in", async () => {
    const page = await call("GET", "/docs", {});
    expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=UTF-8"]);
    const files = [...String(page.body).matchAll(/(?:src|href)="([^"]+)"/g)].map(([, file = ""]) => file);
    expect(files.length).toBeGreaterThanOrEqual(3);
    const types = { css: "text/css", js: "text/javascript", png: "image/png" };
    for (const [file, answer] of [["/docs", page] as const, ...(await fetched(files))]) {
      expect([file, answer.status]).toEqual([file, 200]);
      const policy = answer.headers.get("content-security-policy") ?? "";
      for (const rule of STRICT) expect(policy.split("; ")).toContain(rule);
      expect(policy).not.toMatch(/unsafe|\*|https?:/);
      expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
      const type = types[file.split(".").at(-1) as keyof typeof types];
      if (type) expect(answer.headers.get("content-type")).toContain(type);
    }
  });

  test("nothing in the page needs an exception from it", async () => {
    const { body } = await call("GET", "/docs", {});
    expect(body).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\son\w+=|style=|javascript:|https?:\/\//i);
    expect((await call("GET", "/docs/init.js", {})).body).toContain('"/openapi.json"');
  });

  const fetched = (files: string[]) =>
    Promise.all(files.map(async (file) => [file, await call("GET", file, {})] as const));
});
