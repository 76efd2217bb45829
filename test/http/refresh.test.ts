// The refresh of OAuth tokens, as cron fires it: a credential that dies at the end of its first token, or whose refresh token is
// used twice and revoked, if these failed.
import { describe, expect, test } from "vitest";
import { patch } from "../../src/scripts/pool/patch.ts";
import { credential, many } from "../support/worker.ts";
import { useRefresh } from "./refresh-kit.ts";

const kit = useRefresh();
const {
  redis,
  admin,
  lease,
  release,
  lock_key,
  HOUR_MS,
  refresh,
  report,
  inMs,
  secretOf,
  add,
  path,
  view,
  leased,
  entries,
  underWay,
  slowly,
} = kit;

describe("a token that ends within ten minutes", () => {
  test("is refreshed: the next lease has the new one, which lives from now on", async () => {
    await add({ client_secret: "cs & u" });
    expect(await leased()).toEqual({ access_token: "at-0" });
    const before = Date.now();
    expect(await refresh()).toEqual(report({ refreshed: 1 }));
    const { method, headers, form } = kit.endpoint.asked[0] ?? { form: {} };
    expect([method, headers?.["content-type"]]).toEqual(["POST", "application/x-www-form-urlencoded"]);
    expect(form).toEqual({
      ...{ grant_type: "refresh_token", refresh_token: "rt-0" },
      ...{ client_id: "client-1", client_secret: "cs & u" },
    });
    expect(await leased()).toEqual({ access_token: "at-1" });
    const ends_ms = Date.parse((await view()).token_expires_at) - HOUR_MS;
    expect(ends_ms).toBeGreaterThanOrEqual(before - 1000);
    expect(ends_ms).toBeLessThanOrEqual(Date.now() + 1000);
    expect(await entries()).toMatchObject([{ kind: "config", actor: "refresh", seq: "2" }]);
    expect(await redis.raw.exists(lock_key)).toBe(0);
    expect(await refresh()).toEqual(report());
  });

  test("is refreshed with the refresh token that came last, and with the same one where none came", async () => {
    await add();
    kit.endpoint.say((n) => ({
      body: { access_token: `at-${n}`, expires_in: 60, ...(n === 1 ? { refresh_token: "rt-1" } : {}) },
    }));
    for (let n = 0; n < 3; n++) expect(await refresh()).toEqual(report({ refreshed: 1 }));
    expect(kit.endpoint.asked.map(({ form }) => form.refresh_token)).toEqual(["rt-0", "rt-1", "rt-1"]);
    expect(kit.endpoint.asked[2]?.form.client_id).toBe("client-1");
    expect(await leased()).toEqual({ access_token: "at-3" });
  });

  test("serves again when it had been refused, or was over; a spent quota stays spent", async () => {
    await add();
    await release(await lease(), { outcome: { kind: "auth_failed" } });
    expect(await refresh()).toEqual(report({ refreshed: 1 }));
    expect((await view()).status).toBe("available");
    kit.endpoint.say({ body: { access_token: "at-2", expires_in: 60 } });
    await admin("PATCH", path, { secret: secretOf({ expires_at: inMs(-1000) }) });
    expect(await refresh()).toEqual(report({ refreshed: 1 }));
    await release(await lease(), { outcome: { kind: "exhausted" } });
    expect(await refresh()).toEqual(report({ refreshed: 1 }));
    expect((await view()).status).toBe("exhausted");
  });

  test("without expires_in it is taken to live an hour; a number as text is one", async () => {
    for (const expires_in of [undefined, "3600"]) {
      await add({ access_token: `at-${expires_in}` });
      kit.endpoint.say({ body: { access_token: "at-9", expires_in } });
      expect(await refresh()).toEqual(report({ refreshed: 1 }));
      const lives_ms = Date.parse((await view()).token_expires_at) - Date.now();
      expect(Math.abs(lives_ms - HOUR_MS)).toBeLessThan(5_000);
    }
  });

  test("is left alone when it ends later, has nothing to be refreshed with, or is disabled", async () => {
    await add({ expires_at: inMs(11 * 60_000) });
    expect(await refresh()).toEqual(report());
    await add({ token_url: undefined, client_id: undefined });
    expect(await refresh()).toEqual(report());
    await add();
    await admin("POST", `${path}/disable`);
    expect(await refresh()).toEqual(report());
    expect(kit.endpoint.asked).toHaveLength(0);
    await admin("POST", `${path}/enable`);
    expect(await refresh()).toEqual(report({ refreshed: 1 }));
  });

  test("of more than ten, ten a run", async () => {
    const one = (i: number) =>
      credential(`key_${i}`, { kind: "oauth", secret: secretOf({ access_token: `t-${i}` }) });
    await admin("POST", "/credentials", { credentials: Array.from({ length: 12 }, (_, i) => one(i)) });
    expect(await refresh()).toEqual(report({ refreshed: 10 }));
    expect(await refresh()).toEqual(report({ refreshed: 2 }));
  });
});

describe("at the same time", () => {
  test("two runs refresh once", async () => {
    await add();
    slowly({ access_token: "at-1", refresh_token: "rt-1", expires_in: 3600 });
    await many(2, refresh);
    expect(kit.endpoint.asked).toHaveLength(1);
    expect([await leased(), (await entries()).length]).toEqual([{ access_token: "at-1" }, 1]);
  });

  test.each([
    ["granted", { access_token: "at-1", expires_in: 3600 }, 200],
    ["invalid_grant", { error: "invalid_grant" }, 400],
  ])(
    "an operator's new secret wins over what was asked for with the old one: %s",
    async (_, body, status) => {
      const expires_at = inMs(5 * 60_000); // the configuration stays the same, to the letter
      await add({ expires_at });
      slowly(body, status);
      const { running } = await underWay();
      await admin("PATCH", path, { secret: secretOf({ access_token: "operators", expires_at }) });
      expect(await running).toEqual(report());
      expect(await leased()).toEqual({ access_token: "operators" });
      expect(await entries()).toEqual([]);
    },
  );

  test("an operator's change of something else is kept beside the new token", async () => {
    await add();
    slowly({ access_token: "at-1", refresh_token: "rt-1", expires_in: 3600 });
    const { running } = await underWay();
    await admin("PATCH", path, { weight: 7 });
    expect(await running).toEqual(report({ refreshed: 1 }));
    expect(await view()).toMatchObject({ weight: 7, status: "available" });
    expect(await leased()).toEqual({ access_token: "at-1" });
  });

  test("a credential that is removed stays removed", async () => {
    await add();
    slowly({ access_token: "at-1", expires_in: 3600 });
    const { running } = await underWay();
    await admin("DELETE", path);
    expect(await running).toEqual(report());
    expect((await admin("GET", path)).status).toBe(404);
  });

  test.each(["drop_before", "drop_after"] as const)(
    "a write that meets an outage (%s) is made once, since the old refresh token may be spent",
    async (kind) => {
      await add();
      await redis.raw.script("LOAD", patch.text.upstash.source.replace(/^#!.*\n/, ""));
      slowly({ access_token: "at-1", refresh_token: "rt-1", expires_in: 3600 });
      const { running } = await underWay();
      redis.double.fault({ kind, match: ([, what]) => what === patch.text.upstash.sha });
      expect(await running).toEqual(report({ refreshed: 1 }));
      expect([await leased(), (await entries()).length]).toEqual([{ access_token: "at-1" }, 1]);
    },
  );
});
