// Every route of the ledger, each with a request that is fine but for what a test makes wrong.
import { ADMIN_KEY, type Answer, INTERNAL_KEY, type More, type useWorker } from "./worker.ts";

/** A busy machine may take its time: what counts is what is answered. */
export const PATIENT = { REDIS_TIMEOUT_MS: "15000", REQUEST_DEADLINE_MS: "20000" };

export interface Route {
  readonly method: string;
  readonly path: string;
  readonly body?: More;
  readonly headers?: Record<string, string>;
}

const ACME = "/api/admin/tenants/acme";
const ALICE = `${ACME}/sub-accounts/alice`;
const HOLD = "/api/internal/holds/h1";
const tenant = "acme";

/** Those that make a tenant, or list them. */
export const TENANT_ROUTES: Route[] = [
  { method: "POST", path: "/api/admin/tenants", body: { tenant } },
  { method: "GET", path: "/api/admin/tenants" },
];
/** Those of tenant `acme`, its sub-account `alice`, its hold `h1`. */
export const ROUTES_OF_ACME: Route[] = [
  { method: "GET", path: ACME },
  { method: "PATCH", path: ACME, body: { status: "active" } },
  { method: "POST", path: `${ACME}/sub-accounts`, body: { sub_account: "alice" } },
  { method: "GET", path: `${ACME}/sub-accounts` },
  { method: "GET", path: ALICE },
  { method: "PATCH", path: ALICE, body: { status: "active" } },
  { method: "POST", path: `${ALICE}/tokens`, body: { name: "laptop" } },
  { method: "GET", path: `${ALICE}/tokens` },
  { method: "DELETE", path: `${ALICE}/tokens/tok_1` },
  { method: "DELETE", path: ALICE },
  {
    method: "POST",
    path: `${ACME}/adjust`,
    body: { purse: "account", kind: "grant", amount: 1, reason: "test" },
    headers: { "idempotency-key": "op-1" },
  },
  { method: "DELETE", path: ACME },
  {
    method: "POST",
    path: "/api/internal/holds",
    body: { hold_id: "h1", tenant, sub_account: "alice", amount: 1 },
  },
  { method: "GET", path: `${HOLD}?tenant=acme` },
  { method: "POST", path: `${HOLD}/settle`, body: { tenant, amount: 1 } },
  { method: "POST", path: `${HOLD}/void`, body: { tenant } },
  { method: "POST", path: `${HOLD}/extend`, body: { tenant, ttl_seconds: 60 } },
  { method: "POST", path: "/api/internal/refunds", body: { op_id: "r1", tenant, hold_id: "h1", amount: 1 } },
  { method: "GET", path: "/api/internal/tenants/acme/balances" },
];
export const LEDGER_ROUTES = [...TENANT_ROUTES, ...ROUTES_OF_ACME];

const isAdmin = ({ path }: Route) => path.startsWith("/api/admin/");

/** The key that opens a route, or the one of the other surface. */
export const keyOf = (route: Route, other = false): Record<string, string> =>
  isAdmin(route) === other ? { "x-internal-key": INTERNAL_KEY } : { authorization: `Bearer ${ADMIN_KEY}` };

/** Sends it, with other headers or another body if a test says so. */
export const send = (
  { call }: Pick<ReturnType<typeof useWorker>, "call">,
  route: Route,
  { body = route.body, headers = {} }: { body?: unknown; headers?: Record<string, string> } = {},
): Promise<Answer> => call(route.method, route.path, { ...keyOf(route), ...route.headers, ...headers }, body);
