// The API's description: every route is in the snapshot, so that a change of the contract is seen in a review.
import { expect, test } from "vitest";
import { app } from "../../src/app.ts";
import { errorTable } from "../../src/errors.ts";

const described = async () =>
  (await app.request("/openapi.json")).json() as Promise<{ paths: Record<string, object> }>;

test("the description is the one that was agreed", async () => {
  await expect(`${JSON.stringify(await described(), null, 1)}\n`).toMatchFileSnapshot("./openapi.json");
});

test("every route of the API is described", async () => {
  const { paths } = await described();
  const known = Object.entries(paths).flatMap(([path, verbs]) =>
    Object.keys(verbs).map((verb) => `${verb} ${path}`),
  );
  const served = app.routes
    .filter(({ method, path }) => method !== "ALL" && !/^\/(docs|openapi\.json|healthz|v1\/)/.test(path)) // /v1 speaks the dialects of others
    .map(({ method, path }) => `${method.toLowerCase()} ${path.replaceAll(/:(\w+)/g, "{$1}")}`);
  expect(known.sort()).toEqual([...new Set(served)].sort());
});

test("every pattern is one that JSON Schema takes, without flags of a language", async () => {
  const patterns: string[] = [];
  JSON.stringify(await described(), (key, value) => {
    if (key === "pattern" && typeof value === "string") patterns.push(value);
    return value;
  });
  expect(patterns.length).toBeGreaterThan(5);
  for (const pattern of patterns) {
    expect(() => new RegExp(pattern, "u")).not.toThrow();
    expect(pattern).not.toMatch(/\/[a-z]*$/);
  }
  expect(new RegExp(patterns.find((pattern) => pattern.includes("{C}")) ?? "$^", "u").test("gpt-4o")).toBe(
    true,
  );
});

test("no two errors share a code, and each has a status of its class", () => {
  expect(new Set(errorTable.map(({ code }) => code)).size).toBe(errorTable.length);
  for (const { status } of errorTable) expect(status).toBeGreaterThanOrEqual(400);
});
