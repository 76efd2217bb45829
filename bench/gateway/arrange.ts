// What the callers call: a cell with one pool, a price, a tenant with funds for all and a token.
import { ADMIN_KEY } from "../../test/support/worker.ts";

export const [PUBLIC_MODEL, UPSTREAM_MODEL] = ["demo-chat", "demo-chat-1"];
export const UPSTREAM_KEY = "sk-demo-0";
const RATES = { input: 2_000_000, cached_input: 1_000_000, output: 10_000_000, per_request: 0 };
const CREDENTIALS = 6;
const PLENTY = 10 ** 14;

/** The caller's token. */
export async function arrange(worker_url: string, upstream_url: string): Promise<string> {
  const post = async (path: string, body: unknown, headers: Record<string, string> = {}) => {
    const reply = await fetch(`${worker_url}/api/admin${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${ADMIN_KEY}`, "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
    if (!reply.ok) throw new Error(`${path}: ${reply.status} ${await reply.text()}`);
    return reply.json() as Promise<{ token: string }>;
  };
  await post("/cell", {});
  const credentials = Array.from({ length: CREDENTIALS }, (_, i) => ({
    key_id: `key_${i}`,
    provider: "demo",
    kind: "api_key",
    secret: { api_key: `sk-demo-${i}-of-usual-length-0123456789abcdef` },
    models: { [PUBLIC_MODEL]: UPSTREAM_MODEL },
    base_url: upstream_url,
    max_concurrent_uses: 5_000,
  }));
  await post("/credentials", { credentials });
  await post("/prices", { provider: "demo", model: PUBLIC_MODEL, ...RATES, max_output_tokens: 1_000 });
  await post("/tenants", { tenant: "acme" });
  await post("/tenants/acme/sub-accounts", { sub_account: "alice", max_concurrent: 100_000 });
  const grant = {
    purse: { sub_account: "alice" },
    kind: "grant",
    amount: PLENTY,
    reason: "bench",
  };
  await post("/tenants/acme/adjust", grant, { "idempotency-key": "bench" });
  return (await post("/tenants/acme/sub-accounts/alice/tokens", { name: "bench" })).token;
}
