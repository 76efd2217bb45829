// A lease from the first request to the last, over HTTP, through the production bundle.
import { expect, test } from "vitest";
import { useWorker, verbsOf } from "../support/worker.ts";

const worker = useWorker();
const { add, allocate, renew, release } = verbsOf(worker);

test("allocate, renew, release", async () => {
  const put = await add("key_01", 1, { base_url: "https://api.example.com/v1" });
  expect([put.status, put.body]).toEqual([201, { key_id: "key_01", result: "created" }]);

  const lease = await allocate({ holder: "worker-7" });
  expect(lease.status).toBe(200);
  expect(lease.headers.get("cache-control")).toBe("no-store");
  expect(lease.body).toEqual({
    key_id: "key_01",
    lease_id: expect.stringMatching(/^lse_[\w-]{24}$/),
    provider: "openai",
    pool: "default",
    fallback: false,
    provider_model: "gpt-4o-2024-11-20",
    credential: { api_key: "sk-key_01" },
    base_url: "https://api.example.com/v1",
    fence: expect.any(Number),
    expires_at: new Date(worker.redis.now_ms + 35_000).toISOString(),
    expires_in_seconds: 35,
    renewable: true,
    max_expires_at: new Date(worker.redis.now_ms + 3_600_000).toISOString(),
  });

  const renewed = await renew(lease.body, { lease_seconds: 60 });
  expect([renewed.status, renewed.body]).toMatchObject([
    200,
    { expires_in_seconds: 60, lease_id: lease.body.lease_id },
  ]);

  const released = await release(lease.body, {
    outcome: { kind: "success", http_status: 200, latency_ms: 12 },
  });
  expect([released.status, released.body]).toEqual([200, { released: true }]);
  const again = await release(lease.body);
  expect([again.status, again.body]).toEqual([200, { released: false, reason: "released" }]);
});
