// Data to try the local stack with, put in by the admin API as an operator would; and lines to paste.

export interface Api {
  url: string;
  adminKey: string;
  internalKey: string;
  metricsKey: string;
}

/** Marks the requests of the start, whose log lines would only bury the ready line. */
export const START_REQUEST = "local-stack-start";

type Headers = Record<string, string>;

async function post({ url, adminKey }: Api, path: string, body: object, headers: Headers = {}) {
  const response = await fetch(`${url}/api/admin${path}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${adminKey}`,
      "content-type": "application/json",
      "x-request-id": START_REQUEST,
      ...headers,
    },
    body: JSON.stringify(body),
  });
  return { status: response.status, text: await response.text() };
}

/** Makes the empty database a cell. One that is a cell already stays as it is. */
export async function makeCell(api: Api) {
  const { status, text } = await post(api, "/cell", {});
  if (status !== 201 && status !== 409) throw new Error(`the cell could not be made: ${status} ${text}`);
}

/** Public name to the demo upstream's. */
const MODELS = { "demo-chat": "demo-chat-1", "demo-claude": "demo-claude-1", "demo-embed": "demo-embed-1" };
/** In micros of a million tokens: 2.50 and 10 units of value. */
const PRICE = { input: 2_500_000, cached_input: 1_250_000, output: 10_000_000, per_request: 0 };

const credential = (key_id: string, pool: string, base_url: string) => ({
  key_id,
  provider: "demo",
  pool,
  kind: "api_key",
  secret: { api_key: `sk-demo-${key_id}` },
  max_concurrent_uses: 2,
  models: MODELS,
  base_url,
});

/** The same on every start: what is there already stays as it is. */
export async function loadDemo(api: Api, upstreamUrl: string) {
  const credentials = [
    credential("key_01", "default", upstreamUrl),
    credential("key_02", "default", upstreamUrl),
    credential("vip_01", "vip", upstreamUrl),
  ];
  const { status, text } = await post(api, "/credentials", { credentials });
  const results: { result: string }[] = status === 200 ? JSON.parse(text).results : [];
  if (results.length !== credentials.length || results.some(({ result }) => result === "refused")) {
    throw new Error(
      `the demo credentials could not be stored (npm run dev -- --fresh starts anew): ${status} ${text}`,
    );
  }
}

/** What the models of the demo cost, so that the gateway can charge for them. */
export async function loadPrices(api: Api) {
  for (const model of Object.keys(MODELS)) {
    const price = { provider: "demo", model, ...PRICE, max_output_tokens: 4_096 };
    const { status, text } = await post(api, "/prices", price);
    if (status >= 300) throw new Error(`the demo prices could not be stored: ${status} ${text}`);
  }
}

const TENANT = "acme";
const SUB_ACCOUNT = "alice";
/** 100 units of value, in micros. */
const FUNDS = 100_000_000;

/** The tenant of the demo, with a sub-account and funds; what is there already stays as it is. Returns a token of it. */
export async function loadTenant(api: Api, known: string | undefined): Promise<string> {
  const must = async (asked: ReturnType<typeof post>, ...statuses: number[]) => {
    const { status, text } = await asked;
    if (!statuses.includes(status)) throw new Error(`the demo tenant could not be stored: ${status} ${text}`);
    return { status, body: JSON.parse(text) };
  };
  const path = `/tenants/${TENANT}`;
  const { status } = await must(post(api, "/tenants", { tenant: TENANT }), 200, 201, 409);
  await must(post(api, `${path}/sub-accounts`, { sub_account: SUB_ACCOUNT }), 200, 201, 409);
  const grant = { purse: "account", kind: "grant", amount: FUNDS, reason: "to try it with" };
  if (status === 201) await must(post(api, `${path}/adjust`, grant, { "idempotency-key": "demo" }), 200);
  if (known) return known;
  const tokens = `${path}/sub-accounts/${SUB_ACCOUNT}/tokens`;
  return (await must(post(api, tokens, { name: `demo ${new Date().toISOString()}` }), 201)).body.token;
}

/** Hold an amount for a call, charge what it used, see what is left. */
export function holdLinesToTry({ url, internalKey }: Api): string[] {
  const internal = `-H 'x-internal-key: ${internalKey}' -H 'content-type: application/json'`;
  const hold = `{\\"hold_id\\":\\"$hold\\",\\"tenant\\":\\"${TENANT}\\",\\"sub_account\\":\\"${SUB_ACCOUNT}\\",\\"amount\\":1000}`;
  return [
    `hold=demo-$(date +%s); curl -s ${url}/api/internal/holds ${internal} -d "${hold}"; echo`,
    `curl -s ${url}/api/internal/holds/$hold/settle ${internal} -d '{"tenant":"${TENANT}","amount":700}'; echo`,
    `curl -s ${url}/api/internal/tenants/${TENANT}/balances ${internal}; echo`,
  ];
}

/** A call through the gateway, as an SDK makes it. */
export function gatewayLinesToTry({ url }: Api, token: string): string[] {
  const body = JSON.stringify({
    model: "demo-chat",
    messages: [{ role: "user", content: "How many loaves?" }],
  });
  const headers = `-H 'authorization: Bearer ${token}' -H 'content-type: application/json'`;
  return [`curl -s ${url}/v1/chat/completions ${headers} -d '${body}'; echo`];
}

/** Lease a credential, call the demo upstream with it, give it back. For any POSIX shell, in this order. */
export function linesToTry({ url, internalKey }: Api): string[] {
  const json = "-H 'content-type: application/json'";
  const internal = `-H 'x-internal-key: ${internalKey}' ${json}`;
  const ask = '{"provider":"demo","model":"demo-chat","lease_seconds":120}';
  const field = `field() { printf %s "$lease" | sed -n "s/.*\\"$1\\":\\"\\([^\\"]*\\)\\".*/\\1/p"; }`;
  const quoted = (body: object) => JSON.stringify(JSON.stringify(body));
  const messages = [{ role: "user", content: "How many loaves?" }];
  const call = quoted({ model: "$(field provider_model)", messages });
  const end = quoted({
    key_id: "$(field key_id)",
    provider: "$(field provider)",
    pool: "$(field pool)",
    outcome: { kind: "success", http_status: 200 },
  });
  return [
    `lease=$(curl -s ${url}/api/internal/allocate-key ${internal} -d '${ask}'); echo "$lease"; ${field}`,
    `curl -s "$(field base_url)/v1/chat/completions" -H "authorization: Bearer $(field api_key)" ${json} -d ${call}; echo`,
    `curl -s "${url}/api/internal/leases/$(field lease_id)/release" ${internal} -d ${end}; echo`,
  ];
}
