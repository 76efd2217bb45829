// Up to 1,000 credentials in one request, each answered by itself, and lists page by page.
import { expect, test } from "vitest";
import { credential, useWorker } from "../support/worker.ts";

const worker = useWorker();

test("case A5: a batch with bad ones; each has its own answer, and nothing is half-done", async () => {
  await worker.admin("POST", "/credentials", credential("known"));
  const batch = [
    credential("key_01"),
    credential("bad", { max_concurrent_uses: 0 }),
    credential("known"),
    { key_id: "worse" },
    "not an object",
    credential("key_01", { max_concurrent_uses: 7 }),
    credential("private", { base_url: "ftp://example.com" }),
  ];
  const { status, body } = await worker.admin("POST", "/credentials", { credentials: batch });
  expect(status).toBe(200);
  expect(body.results.map(({ result }: { result: string }) => result)).toEqual([
    "created",
    "refused",
    "unchanged",
    "refused",
    "refused",
    "refused",
    "refused",
  ]);
  expect(body.results[1]).toMatchObject({ key_id: "bad", error: { code: "invalid_request" } });
  expect(body.results[1].error.detail).toContain("max_concurrent_uses");
  expect(body.results[5].error.detail).toContain("twice");
  const { body: list } = await worker.admin("GET", "/credentials");
  expect(list.credentials.map(({ key_id }: { key_id: string }) => key_id)).toEqual(["key_01", "known"]);
  expect(list.credentials[0].max_concurrent_uses).toBe(1);
});

test("NDJSON: a line each, and a line that is not JSON spoils no other", async () => {
  const lines = [JSON.stringify(credential("a")), "{broken", "", JSON.stringify(credential("b"))].join("\n");
  const { body } = await worker.admin("POST", "/credentials", lines, {
    "content-type": "application/x-ndjson",
  });
  expect(body.results).toMatchObject([
    { key_id: "a", result: "created" },
    { result: "refused" },
    { key_id: "b", result: "created" },
  ]);
  const names = ["a", "b", "none"].map((key_id) => ({ provider: "openai", key_id }));
  const off = await worker.admin("POST", "/credentials/disable", { credentials: names });
  expect(off.body.results).toMatchObject([
    { key_id: "a", result: "disabled", leases_going_on: 0 },
    { key_id: "b", result: "disabled" },
    { key_id: "none", result: "refused", error: { code: "not_found" } },
  ]);
  const on = names.map((name) => JSON.stringify(name)).join("\n");
  const back = await worker.admin("POST", "/credentials/enable", on, {
    "content-type": "application/x-ndjson",
  });
  expect(back.body.results).toMatchObject([
    { result: "enabled" },
    { result: "enabled" },
    { result: "refused" },
  ]);
});

test("a thousand at once, then page by page, in order", async () => {
  const credentials = Array.from({ length: 1000 }, (_, i) =>
    credential(`k${String(i).padStart(4, "0")}`, { pool: i % 2 ? "default" : "vip" }),
  );
  const { body } = await worker.admin("POST", "/credentials", { credentials });
  expect(body.results.filter(({ result }: { result: string }) => result === "created")).toHaveLength(1000);
  const seen: string[] = [];
  for (let cursor = ""; ; ) {
    const page = (
      await worker.admin("GET", `/credentials?limit=300${cursor && `&cursor=${encodeURIComponent(cursor)}`}`)
    ).body;
    seen.push(
      ...page.credentials.map(({ pool, key_id }: { pool: string; key_id: string }) => `${pool}/${key_id}`),
    );
    if (!page.next_cursor) break;
    cursor = page.next_cursor;
  }
  expect(seen).toEqual(credentials.map(({ pool, key_id }) => `${pool}/${key_id}`).sort());
  expect((await worker.admin("GET", "/credentials?pool=vip&limit=1000")).body.credentials).toHaveLength(500);
  expect(
    (await worker.admin("POST", "/credentials", { credentials: [...credentials, credential("x")] })).status,
  ).toBe(400);
});

test("an empty database lists nothing", async () => {
  expect((await worker.admin("GET", "/credentials")).body).toEqual({ credentials: [], next_cursor: null });
  expect((await worker.admin("GET", "/pools")).body).toEqual({ pools: [], next_cursor: null });
});
