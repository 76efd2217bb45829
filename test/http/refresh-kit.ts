// What the tests of the refresh share: an OAuth credential, a token endpoint, and a run as cron fires it.
import { afterAll, beforeAll, beforeEach, expect } from "vitest";
import { useBooks } from "../support/books.ts";
import { entriesOf } from "../support/ledger.ts";
import { PATIENT } from "../support/ledger-routes.ts";
import { aWhileAgo, fire } from "../support/overdue.ts";
import { keys } from "../support/redis.ts";
import { startTokenEndpoint } from "../support/token-endpoint.ts";
import { credential, type More, useWorker, verbsOf } from "../support/worker.ts";

export function useRefresh() {
  const worker = useWorker(PATIENT);
  const { redis, admin } = worker;
  const { lease, release } = verbsOf(worker);
  useBooks(redis);
  const { journal_key } = keys.pool("openai", "default");
  const lock_key = keys.lock("refresh", "openai", "default", "key_01");
  const HOUR_MS = 3_600_000;

  let endpoint: Awaited<ReturnType<typeof startTokenEndpoint>>;
  beforeAll(async () => {
    endpoint = await startTokenEndpoint();
  });
  afterAll(() => endpoint.stop());
  beforeEach(async () => {
    endpoint.reset();
    await aWhileAgo(worker);
  });

  const refresh = () => fire(worker, "refresh");
  const report = (more: object = {}) =>
    expect.objectContaining({ refreshed: 0, refused: 0, failed: 0, ...more });
  const inMs = (ms: number) => new Date(Date.now() + ms).toISOString();
  const secretOf = (more: More = {}) => ({
    access_token: "at-0",
    refresh_token: "rt-0",
    expires_at: inMs(5 * 60_000),
    token_url: endpoint.url,
    client_id: "client-1",
    ...more,
  });
  const add = (secret: More = {}, more: More = {}) =>
    admin("POST", "/credentials", credential("key_01", { kind: "oauth", secret: secretOf(secret), ...more }));
  const path = "/credentials/openai/default/key_01";
  const view = async () => (await admin("GET", path)).body;
  const leased = async () => {
    const held = await lease();
    await release(held);
    return held.credential;
  };
  const entries = async () =>
    entriesOf(await redis.raw.xrange(journal_key, "-", "+")).filter(({ actor }) => actor === "refresh");
  /** Begins a refresh, and goes on while the endpoint takes its time. */
  async function underWay() {
    const running = refresh();
    await expect.poll(() => endpoint.asked.length, { timeout: 5_000 }).toBe(1);
    return { running };
  }
  const slowly = (body: unknown, status = 200) => endpoint.say({ body, status, delay_ms: 500 });
  return {
    get endpoint() {
      return endpoint;
    },
    worker,
    redis,
    admin,
    lease,
    release,
    journal_key,
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
  };
}
