// The gateway under test: the bundle in workerd, the demo upstream, a tenant with a token, and the official SDKs.
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { afterAll, afterEach, beforeAll, beforeEach, expect } from "vitest";
import { startUpstream, type Upstream } from "../../dev/upstream/server.ts";
import { check } from "../checker/check.ts";
import { entriesOf, purseOf } from "../support/ledger.ts";
import { ledgerVerbsOf } from "../support/ledger-http.ts";
import { keys } from "../support/redis.ts";
import { credential, inFlight, type More, useWorker } from "../support/worker.ts";

/** In micros a token, so that a charge is easy to add up: prompt 2, cached 1, output 10. */
export const RATES = { input: 2_000_000, cached_input: 1_000_000, output: 10_000_000, per_request: 0 };
export const FUNDS = 10_000_000;
const PROVIDER = "demo";
export const MODELS = {
  "demo-chat": "demo-chat-1",
  "demo-embed": "demo-embed-1",
  "demo-claude": "demo-claude-1",
};

/** The entry of a call's end. */
interface End {
  kind: string;
  amount: string;
  hold: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into it as an operator would
  detail: any;
}

export function useGateway(vars: Record<string, string> = {}) {
  const worker = useWorker({ CATALOG_TTL_MS: "0", ...vars });
  const ledger = ledgerVerbsOf(worker);
  const { admin, redis } = worker;
  const { tenant_key, journal_key } = keys.tenant("acme");
  let upstream: Upstream;
  let origin = "";
  const gateway = {
    worker,
    ledger,
    /** What the SDKs come with. */
    token: "",
    get upstream() {
      return upstream;
    },
    get url() {
      return origin;
    },
    addKey: (key_id: string, more: More = {}) =>
      admin(
        "POST",
        "/credentials",
        credential(key_id, {
          provider: PROVIDER,
          secret: { api_key: `sk-demo-${key_id}` },
          models: MODELS,
          base_url: upstream.url,
          max_concurrent_uses: 8,
          ...more,
        }),
      ),
    price: (model: string, more: More = {}) =>
      admin("POST", "/prices", { provider: PROVIDER, model, ...RATES, max_output_tokens: 1_000, ...more }),
    openai: (more: object = {}) =>
      new OpenAI({ apiKey: gateway.token, baseURL: `${origin}/v1`, maxRetries: 0, ...more }),
    anthropic: (more: object = {}) =>
      new Anthropic({ apiKey: gateway.token, baseURL: origin, maxRetries: 0, ...more }),
    /** A call as any HTTP client makes it. */
    post: (path: string, body: unknown, headers: Record<string, string> = {}, signal?: AbortSignal) =>
      fetch(`${origin}${path}`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${gateway.token}`,
          "content-type": "application/json",
          ...headers,
        },
        body: typeof body === "string" ? body : JSON.stringify(body),
        ...(signal ? { signal } : {}),
      }),
    account: async () => purseOf(await redis.raw.hget(tenant_key, "account")),
    entries: async () => entriesOf(await redis.raw.xrange(journal_key, "-", "+")),
    /** The entries of ended calls, soon: an end comes after the reply. */
    ends: async (n: number): Promise<End[]> => {
      const ends = async () => (await gateway.entries()).filter(({ hold }) => hold);
      await expect.poll(async () => (await ends()).length, { timeout: 10_000 }).toBe(n);
      return (await ends()).map(({ kind = "", amount = "", hold = "", detail = "{}" }) => ({
        ...{ kind, amount, hold },
        detail: JSON.parse(detail),
      }));
    },
    /** Nothing is held, and nothing is in flight. */
    idle: async () => {
      await expect.poll(async () => (await gateway.account()).held, { timeout: 10_000 }).toBe(0);
      await expect.poll(async () => (await inFlight(redis, PROVIDER)).pool, { timeout: 10_000 }).toBe(0);
    },
  };
  beforeAll(async () => {
    upstream = await startUpstream();
    origin = await worker.url();
  });
  afterAll(() => upstream.stop());
  beforeEach(async () => {
    upstream.reset();
    await ledger.open(FUNDS);
    const made = await admin("POST", "/tenants/acme/sub-accounts/alice/tokens", { name: "test" });
    gateway.token = made.body.token;
    for (const model of Object.keys(MODELS)) await gateway.price(model);
    await gateway.addKey("key_01");
  });
  afterEach(async () => {
    await gateway.idle();
    expect(await check(redis.raw, "test", { now_ms: redis.now_ms })).toEqual([]);
  });
  return gateway;
}

export const HELLO = [{ role: "user" as const, content: "How many loaves?" }];
