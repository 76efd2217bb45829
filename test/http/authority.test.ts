// Who may call what: a stranger who would get in, or a key that would open more than it should, if these failed.
import { describe, expect, test } from "vitest";
import { ADMIN_KEY, INTERNAL_KEY, METRICS_KEY, useWorker } from "../support/worker.ts";

const worker = useWorker({ INTERNAL_KEYS: `${INTERNAL_KEY}, second-internal-key` });
const { call } = worker;

type Headers = Record<string, string>;
const bearer = (key: string): Headers => ({ authorization: `Bearer ${key}` });
const internal = (key: string): Headers => ({ "x-internal-key": key });

/** One request of each surface that is fine but for its key. */
const surfaces = {
  internal: ["POST", "/api/internal/leases/lse_1/release", internal(INTERNAL_KEY)],
  admin: ["GET", "/api/admin/credentials", bearer(ADMIN_KEY)],
  metrics: ["GET", "/metrics", bearer(METRICS_KEY)],
} as const;
const held = { key_id: "key_01", provider: "openai" };

/** Keys as callers may get them wrong, for any surface. */
const wrong: Record<string, Headers> = {
  none: {},
  "an empty one": { ...internal(""), authorization: "" },
  "an empty bearer": bearer(""),
  "a part of one": { ...internal(INTERNAL_KEY.slice(1)), ...bearer(ADMIN_KEY.slice(1)) },
  "one and more": { ...internal(`${INTERNAL_KEY}x`), ...bearer(`${ADMIN_KEY}x`) },
  "another case": { ...internal(INTERNAL_KEY.toUpperCase()), ...bearer(ADMIN_KEY.toUpperCase()) },
  "the whole list": internal(`${INTERNAL_KEY}, second-internal-key`),
  "basic authorization": { authorization: `Basic ${btoa(`admin:${ADMIN_KEY}`)}` },
  "a bare key": { authorization: ADMIN_KEY },
  "a key in another header": { "x-api-key": ADMIN_KEY, "x-admin-key": ADMIN_KEY, cookie: `key=${ADMIN_KEY}` },
};

describe.each(Object.entries(surfaces))("%s", (name, [method, path, right]) => {
  const ask = (headers: Headers) => call(method, path, headers, method === "GET" ? undefined : held);

  test("its own key opens it", async () => {
    expect((await ask(right)).status).toBe(200);
  });

  test("no key of another surface does", async () => {
    for (const key of [INTERNAL_KEY, ADMIN_KEY, METRICS_KEY]) {
      const headers = { ...internal(key), ...bearer(key) };
      const opens = JSON.stringify(Object.values(right)).includes(key);
      expect([key, (await ask(headers)).status]).toEqual([key, opens ? 200 : 401]);
    }
  });

  test("no key and no wrong one does, and the answer says what is wanted", async () => {
    for (const [what, headers] of Object.entries(wrong)) {
      const { status, body } = await ask(headers);
      expect([what, status, body.code]).toEqual([what, 401, "unauthenticated"]);
      expect(body.detail).toContain(name === "internal" ? "X-Internal-Key" : "Bearer");
    }
  });

  test("a key in the query does not", async () => {
    const query = `?key=${ADMIN_KEY}&x-internal-key=${INTERNAL_KEY}&authorization=Bearer%20${ADMIN_KEY}`;
    expect((await call(method, `${path}${query}`, {}, method === "GET" ? undefined : held)).status).toBe(401);
  });
});

test("each key of a list opens the surface, so that one can be rotated out", async () => {
  for (const key of [INTERNAL_KEY, "second-internal-key"]) {
    expect((await call("POST", surfaces.internal[1], internal(key), held)).status).toBe(200);
  }
});

test("whoever has no key learns nothing of a body's faults, nor has one read", async () => {
  const path = "/api/internal/allocate-key";
  expect((await call("POST", path, {}, "{")).status).toBe(401);
  expect((await worker.unfinished(path, { "content-length": "100000000" })).status).toBe(401);
});

describe("an empty list of keys", () => {
  test.each(["", ", short"])("%j admits nobody, and names its variable and no value", async (keys) => {
    await worker.deploy({ INTERNAL_KEYS: keys });
    for (const given of ["", keys, "short", INTERNAL_KEY]) {
      const { status, body } = await call("POST", surfaces.internal[1], internal(given), held);
      expect([status, body.code]).toEqual([500, "internal_error"]);
      expect(body.detail).toContain("INTERNAL_KEYS");
      expect(body.detail).not.toContain("short");
    }
    expect((await call("GET", "/healthz", {})).status).toBe(200);
  });
});
