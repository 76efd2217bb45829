// A cell for the gateway under `workerd serve`: one pool, two models with a price, a tenant with funds and a token.
import { ADMIN_KEY } from "./worker.ts";

const RATES = { input: 2_000_000, cached_input: 1_000_000, output: 10_000_000, per_request: 0 };
const CREDENTIALS = 6;

export async function arrange(worker_url: string, upstream_url: string): Promise<{ token: string }> {
  type Headers = Record<string, string>;
  const post = async (path: string, body: unknown, method = "POST", headers: Headers = {}) => {
    const reply = await fetch(`${worker_url}/api/admin${path}`, {
      method,
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
    secret: { api_key: `sk-demo-${i}` },
    models: { "demo-chat": "demo-chat-1", "demo-claude": "demo-claude-1" },
    base_url: upstream_url,
    max_concurrent_uses: 20,
  }));
  await post("/credentials", { credentials });
  // An open breaker would answer nearly all calls by itself.
  const closed = {
    breaker: { mode: "closed" },
    cooldowns: { errors_from: 1000, error_ms: 50, error_max_ms: 200, rate_limit_min_ms: 50 },
  };
  await post("/pools/demo/default", closed, "PATCH");
  for (const model of ["demo-chat", "demo-claude"])
    await post("/prices", { provider: "demo", model, ...RATES, max_output_tokens: 1_000 });
  await post("/tenants", { tenant: "acme" });
  await post("/tenants/acme/sub-accounts", { sub_account: "alice", max_concurrent: 60 });
  const grant = { purse: "account", kind: "grant", amount: 10 ** 12, reason: "to try" };
  await post("/tenants/acme/adjust", grant, "POST", { "idempotency-key": "funds" });
  return post("/tenants/acme/sub-accounts/alice/tokens", { name: "test" });
}
