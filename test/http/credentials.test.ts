// What an operator does with credentials, over HTTP: one by one and in batches, without touching a lease.
import { describe, expect, test } from "vitest";
import { credential, useWorker } from "../support/worker.ts";

const worker = useWorker();
const PATH = "/credentials/openai/default";
const one = (key_id: string) => worker.admin("GET", `${PATH}/${key_id}`);
const lease = async (more: Record<string, unknown> = {}) =>
  (await worker.internal("/allocate-key", { provider: "openai", model: "gpt-4o", ...more })).body;
const release = (held: { lease_id: string; key_id: string }, outcome?: string) =>
  worker.internal(`/leases/${held.lease_id}/release`, {
    key_id: held.key_id,
    provider: "openai",
    ...(outcome ? { outcome: { kind: outcome } } : {}),
  });

describe("one credential", () => {
  test("is created, read without its secret, brought up to date and removed", async () => {
    const body = credential("key_01", { base_url: "https://api.example.com/v1", weight: 2 });
    expect((await worker.admin("POST", "/credentials", body)).status).toBe(201);
    const { status, body: seen } = await one("key_01");
    expect([status, seen]).toEqual([
      200,
      {
        key_id: "key_01",
        provider: "openai",
        pool: "default",
        kind: "api_key",
        models: { "gpt-4o": "gpt-4o-2024-11-20" },
        base_url: "https://api.example.com/v1",
        weight: 2,
        token_expires_at: null,
        max_concurrent_uses: 1,
        fingerprint: expect.stringMatching(/^[\w-]{32}$/),
        status: "available",
        until: null,
        in_flight: 0,
        success_rate: null,
        errors_in_a_row: 0,
        last_used_at: null,
        verified_at: null,
      },
    ]);
    expect((await worker.admin("POST", "/credentials", body)).body).toEqual({
      key_id: "key_01",
      result: "unchanged",
    });
    const more = { ...body, max_concurrent_uses: 5 };
    expect((await worker.admin("POST", "/credentials", more)).body).toEqual({
      key_id: "key_01",
      result: "updated",
    });
    expect((await worker.admin("DELETE", `${PATH}/key_01`)).body).toEqual({ removed: true, leases_ended: 0 });
    expect((await worker.admin("DELETE", `${PATH}/key_01`)).status).toBe(404);
    expect((await one("key_01")).status).toBe(404);
  });

  test("is changed in part; what is not named stays, and its leases go on", async () => {
    await worker.admin("POST", "/credentials", credential("key_01", { base_url: "https://a.example.com" }));
    const held = await lease();
    const changed = await worker.admin("PATCH", `${PATH}/key_01`, { max_concurrent_uses: 3, models: ["*"] });
    expect(changed.body).toMatchObject({
      max_concurrent_uses: 3,
      models: ["*"],
      in_flight: 1,
      base_url: "https://a.example.com",
    });
    const moved = await worker.admin("PATCH", `${PATH}/key_01`, { base_url: "https://b.example.com" });
    expect([moved.status, moved.body.errors[0].field]).toEqual([400, "secret"]);
    const withSecret = { base_url: "https://b.example.com", secret: { api_key: "sk-other" } };
    expect((await worker.admin("PATCH", `${PATH}/key_01`, withSecret)).body.base_url).toBe(
      "https://b.example.com",
    );
    expect(
      (await worker.admin("PATCH", `${PATH}/key_01`, { secret: { token: "x" } })).body.errors[0].field,
    ).toBe("secret");
    expect((await worker.admin("PATCH", `${PATH}/key_01`, {})).status).toBe(400);
    expect((await worker.admin("PATCH", `${PATH}/none`, { weight: 2 })).status).toBe(404);
    expect((await release(held)).body).toEqual({ released: true });
    expect((await lease()).credential).toEqual({ api_key: "sk-other" });
  });

  test("two operators who change it at once lose nothing of each other", async () => {
    await worker.admin("POST", "/credentials", credential("key_01"));
    const changes = [{ weight: 7 }, { models: { a: "b" } }, { max_concurrent_uses: 9 }, { base_url: null }];
    const answers = await Promise.all(
      changes.map((change) => worker.admin("PATCH", `${PATH}/key_01`, change)),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect((await one("key_01")).body).toMatchObject({
      weight: 7,
      models: { a: "b" },
      max_concurrent_uses: 9,
    });
  });

  test("case B18: disabled, it grants nothing; its lease runs on, and nothing but an operator enables it", async () => {
    await worker.admin("POST", "/credentials", credential("key_01", { max_concurrent_uses: 5 }));
    const held = await lease();
    const off = await worker.admin("POST", `${PATH}/key_01/disable`);
    expect(off.body).toEqual({ key_id: "key_01", result: "disabled", leases_going_on: 1 });
    const refused = await worker.internal("/allocate-key", { provider: "openai", model: "gpt-4o" });
    expect([refused.status, refused.body.reasons]).toEqual([429, { disabled: 1 }]);
    const renewal = { key_id: "key_01", provider: "openai", lease_seconds: 60 };
    expect((await worker.internal(`/leases/${held.lease_id}/renew`, renewal)).status).toBe(200);
    expect((await release(held, "success")).body).toEqual({ released: true });
    expect((await one("key_01")).body.status).toBe("disabled");
    expect((await worker.admin("POST", `${PATH}/key_01/disable`)).body.result).toBe("unchanged");
    expect((await worker.admin("POST", `${PATH}/key_01/enable`)).body.result).toBe("enabled");
    expect((await lease()).key_id).toBe("key_01");
  });

  test("revoke: its leases are over at once, and listed until then with holder and age", async () => {
    await worker.admin("POST", "/credentials", credential("key_01", { max_concurrent_uses: 2 }));
    const held = await lease({ holder: "worker-7" });
    await worker.redis.later(5_000);
    const listed = await worker.admin("GET", `${PATH}/key_01/leases`);
    expect(listed.body).toMatchObject({
      leases: [{ lease_id: held.lease_id, holder: "worker-7", fence: held.fence, overdue: false }],
      next_cursor: null,
    });
    expect((await worker.admin("DELETE", `${PATH}/key_01/leases`)).body).toEqual({ leases_ended: 1 });
    expect((await worker.admin("GET", `${PATH}/key_01/leases`)).body.leases).toEqual([]);
    expect((await release(held)).body).toEqual({ released: false, reason: "revoked" });
    expect((await worker.admin("DELETE", `${PATH}/none/leases`)).status).toBe(404);
    expect((await worker.admin("GET", `${PATH}/none/leases`)).status).toBe(404);
  });
});

describe("kinds", () => {
  test("an OAuth credential leases its access token only, and no longer than that lives", async () => {
    const expires_at = new Date(worker.redis.now_ms + 20_000).toISOString();
    const secret = { access_token: "at-1", refresh_token: "rt-1", expires_at };
    await worker.admin("POST", "/credentials", credential("key_01", { kind: "oauth", secret }));
    const held = await lease({ lease_seconds: 600 });
    expect(held).toMatchObject({
      credential: { access_token: "at-1" },
      expires_at,
      renewable: false,
      max_expires_at: expires_at,
    });
    expect(JSON.stringify(held)).not.toContain("rt-1");
    expect((await one("key_01")).body.token_expires_at).toBe(expires_at);
    await release(held);
    await worker.redis.later(20_000);
    expect(
      (await worker.internal("/allocate-key", { provider: "openai", model: "gpt-4o" })).body.reasons,
    ).toEqual({ token_expired: 1 });
  });

  test("a session is opaque JSON, given back as it was", async () => {
    const secret = { cookies: [{ name: "sid", value: "1e5" }], note: "é北", n: 1.5, none: null };
    await worker.admin(
      "POST",
      "/credentials",
      credential("key_01", { kind: "session", secret, models: ["*"] }),
    );
    expect(await lease({ model: "anything/at all" })).toMatchObject({
      credential: secret,
      provider_model: "anything/at all",
    });
  });
});
