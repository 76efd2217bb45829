// The probe, as cron fires it: a credential that works again would stay out of service, or a dead one in it, if these failed.
import { describe, expect, test } from "vitest";
import { useProbe } from "./probe-kit.ts";

const kit = useProbe();
const {
  redis,
  admin,
  verbs,
  lease,
  release,
  allocate,
  probe,
  report,
  add,
  state,
  seq,
  probes,
  settings,
  benched,
} = kit;

describe("restores", () => {
  test("a pending one: it serves from now on; the next run leaves it alone for a day", async () => {
    await add("key_01", { status: "pending" });
    expect((await allocate()).body.reasons).toEqual({ pending: 1 });
    expect(await probe()).toEqual(report({ probed: 1, restored: 1 }));
    expect(await state()).toMatchObject({ status: "available", verified_at_ms: redis.now_ms });
    expect((await lease()).credential).toEqual({ api_key: "sk-demo-key_01" });
    expect(await probes()).toMatchObject([{ kind: "status", actor: "probe", seq: "2" }]);
    expect(JSON.parse((await probes())[0]?.detail ?? "")).toMatchObject({
      change: "available",
      was: "pending",
      key_id: "key_01",
    });
    expect(await probe()).toEqual(report());
    const [call] = kit.upstream.calls;
    expect(kit.upstream.calls).toHaveLength(1);
    expect([call?.method, call?.path]).toEqual(["GET", "/v1/models"]);
    expect(call?.headers.authorization).toBe("Bearer sk-demo-key_01");
  });

  test("an auth_failed one, once upstream takes it again", async () => {
    await benched("auth_failed");
    kit.upstream.behave({ kind: "auth_failed", times: 1 });
    expect(await probe()).toEqual(report({ probed: 1, refused: 1 }));
    expect([(await state()).status, await probes()]).toEqual(["auth_failed", []]); // it was so already
    expect(await probe()).toEqual(report({ probed: 1, restored: 1 }));
    await lease();
  });

  test("in a pool whose recovery is probe: a bench that has passed, and none before", async () => {
    await benched("rate_limited", { retry_after: "5" });
    await settings({ recovery: "probe" });
    await redis.later(5_000);
    expect((await allocate()).body.reasons).toEqual({ rate_limited: 1 });
    expect(await probe()).toEqual(report({ probed: 1, restored: 1 }));
    expect(await state()).toMatchObject({ status: "available", until_ms: 0, errors: 0 });
    await release(await lease(), { outcome: { kind: "rate_limited", retry_after: "1800" } });
    expect(await probe()).toEqual(report());
    expect((await state()).status).toBe("rate_limited");
  });

  test("in another pool no bench: it ends by itself", async () => {
    await benched("rate_limited", { retry_after: "5" });
    await redis.later(5_000);
    expect(await probe()).toEqual(report());
    expect(kit.upstream.calls).toHaveLength(0);
  });

  test("in Anthropic's dialect where the provider speaks it", async () => {
    await add("key_01", { provider: "anthropic", status: "pending" });
    expect(await probe()).toEqual(report({ probed: 1, restored: 1 }));
    expect(kit.upstream.calls[0]?.headers).toMatchObject({
      "x-api-key": "sk-demo-key_01",
      "anthropic-version": "2023-06-01",
    });
  });
});

describe("one that serves, and that nobody has seen working for a day", () => {
  test("is seen to work: no entry, and the pool has not changed", async () => {
    await add("key_01");
    const before = await seq();
    expect(await probe()).toEqual(report({ probed: 1 }));
    expect((await state()).verified_at_ms).toBe(redis.now_ms);
    expect((await admin("GET", "/credentials/openai/default/key_01")).body.verified_at).toBe(
      new Date(redis.now_ms).toISOString(),
    );
    expect([await seq(), await probes()]).toEqual([before, []]);
  });

  test("is refused: out of service, with an entry, and the pool has changed", async () => {
    await add("key_01", { secret: { api_key: "sk-dead" } });
    const before = (await seq()) ?? 0;
    const held = await lease({ lease_seconds: 600 });
    expect(await probe()).toEqual(report({ probed: 1, refused: 1 }));
    expect(await state()).toMatchObject({ status: "auth_failed", until_ms: 0, in_flight: 1 });
    expect([await seq(), (await probes()).length]).toEqual([before + 1, 1]);
    expect((await allocate()).body.reasons).toEqual({ auth_failed: 1 });
    expect((await verbs.renew(held)).status).toBe(200);
  });
});
