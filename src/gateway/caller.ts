// Who calls the gateway: a token that says whose it is. The script has the last word on it; here it only finds its settings.
import { createHash } from "node:crypto";
import { z } from "zod";
import { requireCell } from "../cell/meta.ts";
import type { Settings } from "../env.ts";
import type { Keys } from "../keys.ts";
import type { Store } from "../store.ts";
import { subConfig, tenantConfig } from "../tenants/schema.ts";

export interface Caller {
  readonly tenant: string;
  readonly sub_account: string;
  /** SHA-256 of the token. */
  readonly token: string;
  /** The pool that its calls ask first. */
  readonly pool: string;
  readonly stream_hold: "full" | "growing";
  /** Refusals of its funds and its concurrency are recorded, and let pass. */
  readonly shadow: boolean;
}

const ID = "([A-Za-z0-9][A-Za-z0-9._-]{0,63})";
const TOKEN = new RegExp(`^qm_${ID}~${ID}~[A-Za-z0-9_-]{43}$`);

/** Of either dialect: `Authorization: Bearer`, or `x-api-key`. */
export function tokenOf(headers: Headers): string | undefined {
  const bearer = /^Bearer +(\S+)$/i.exec(headers.get("authorization") ?? "")?.[1];
  return [bearer, headers.get("x-api-key") ?? undefined].find((text) => text?.startsWith("qm_"));
}

const MOST_CALLERS = 10_000;
const texts = z.array(z.string().nullable());

interface Reader {
  readonly store: Store;
  readonly keys: Keys;
  readonly settings: Settings;
}

/** Settings of callers as an isolate knows them: a revoked token is refused by the script, whatever is known here. */
export class Callers {
  private readonly known = new Map<string, { caller: Caller; read_at_ms: number }>();
  private readonly ttl_ms: number;

  constructor(ttl_ms: number) {
    this.ttl_ms = ttl_ms;
  }

  /** undefined: nobody. `fresh` where no script will look at the token. Throws StoreUnavailable. */
  async get(deps: Reader, token: string | undefined, fresh = false): Promise<Caller | undefined> {
    const [, tenant, sub_account] = TOKEN.exec(token ?? "") ?? [];
    if (!token || !tenant || !sub_account) return undefined;
    const sha256 = createHash("sha256").update(token).digest("hex");
    const found = this.known.get(sha256);
    if (!fresh && found && Date.now() - found.read_at_ms < this.ttl_ms) return found.caller;
    const caller = await this.read(deps, tenant, sub_account, sha256);
    this.known.delete(sha256);
    if (caller) this.known.set(sha256, { caller, read_at_ms: Date.now() });
    const [oldest] = this.known.keys();
    if (this.known.size > MOST_CALLERS && oldest !== undefined) this.known.delete(oldest);
    return caller;
  }

  private async read(deps: Reader, tenant: string, sub_account: string, token: string) {
    const { tenant_key } = deps.keys.tenant(tenant);
    const fields = ["config", `sub:${sub_account}`, `token:${token}`] as const;
    const [answer] = await deps.store.read((p) => p.hmget(tenant_key, ...fields));
    const [config, sub, owner] = texts.parse(answer);
    if (!config || !sub || owner !== sub_account) {
      if (!config) await requireCell(deps);
      return undefined;
    }
    const { stream_hold, shadow } = tenantConfig.parse(JSON.parse(config));
    return { tenant, sub_account, token, stream_hold, shadow, pool: subConfig.parse(JSON.parse(sub)).pool };
  }
}
