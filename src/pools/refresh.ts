// The refresh: OAuth tokens that end soon get a successor, once, whoever else tries at the same time.
import type { Deps } from "../deps.ts";
import { homeOf } from "../keys.ts";
import { withLock } from "../lock.ts";
import { log } from "../log.ts";
import { patch } from "../scripts/pool/patch.ts";
import { run } from "../scripts/run.ts";
import { secretFingerprint } from "../sealing.ts";
import { StoreUnavailable } from "../store.ts";
import { MINUTE_MS } from "../units.ts";
import { configText, keysOf, ofSecret } from "./credentials.ts";
import { eachOf, inTurn, lookFor } from "./look.ts";
import { type One, readOne } from "./one.ts";
import { type CredentialConfig, type CredentialName, secrets } from "./schema.ts";
import { askForToken, type OAuthSecret } from "./token-endpoint.ts";
import { baseUrlFault } from "./upstream-url.ts";
import { verifyCredential } from "./verify.ts";

/** Of a run, and of a moment. */
const MOST = 10;
const AT_ONCE = 5;
const EARLY_MS = 10 * MINUTE_MS;
/** Longer than a refresh can take: the request, and the round trips around it. */
const LOCK_MS = MINUTE_MS;
/** How long a refresh token that was refused is left alone: an authorization server need not hear it each minute. */
const REST_MS = 10 * MINUTE_MS;
const WRITES = 3;

const endsSoon = ({ refreshes, token_expires_at_ms }: CredentialConfig, now_ms: number) =>
  refreshes === true && token_expires_at_ms !== undefined && token_expires_at_ms <= now_ms + EARLY_MS;

/** undefined: another did it, or it is another credential by now. */
type Outcome = "refreshed" | "refused" | "failed" | undefined;

interface New {
  readonly secret: OAuthSecret;
  readonly fingerprint: string;
  readonly sealed: string;
}

/** One compare-and-set on the configuration and the secret that were read. Throws StoreUnavailable. */
const writeOnce = (
  deps: Deps,
  { provider, pool, key_id }: CredentialName,
  before: One,
  { secret, ...made }: New,
) =>
  run(deps.backgroundStore(), patch, keysOf(deps, { provider, pool }), {
    home: homeOf(provider, pool),
    pool_name: pool,
    credential_id: key_id,
    config_before: before.config_text,
    config: configText({ ...before.config, ...ofSecret("oauth", secret) }),
    fingerprint_before: before.fingerprint,
    capacity: "",
    ...made,
    actor: "refresh",
    note: deps.note(),
  });

type Written = Awaited<ReturnType<typeof writeOnce>>;

/**
 * Puts the new secret where the old one is. Any other secret is an operator's, and wins; a change of the configuration alone is
 * kept beside it. It is tried again at an outage, since the old refresh token may be worth nothing any more.
 */
async function write(deps: Deps, name: CredentialName, before: One, secret: OAuthSecret): Promise<Outcome> {
  const { provider, pool, key_id } = name;
  const fingerprint = secretFingerprint(secret);
  const made = { secret, fingerprint, sealed: await deps.sealing.seal(secret, [provider, pool, key_id]) };
  let one: One | undefined = before;
  for (let attempt = 1; attempt <= WRITES && one?.fingerprint === before.fingerprint; attempt++) {
    const reply: Written | undefined = await writeOnce(deps, name, one, made).catch((error: unknown) => {
      if (error instanceof StoreUnavailable && attempt < WRITES) return undefined;
      throw error;
    });
    deps.snapshots.forget(deps.keys.pool(provider, pool).pool_key);
    if (!reply) continue; // it may have happened: then the next one finds that it is stale
    if (reply.kind === "patched") return "refreshed";
    if (reply.kind === "elsewhere") return fail(name, reply.kind);
    one = reply.kind === "stale" ? await readOne(deps, name) : undefined;
  }
  if (one?.fingerprint === fingerprint) return "refreshed"; // by a write whose reply was lost
  return one?.fingerprint === before.fingerprint ? fail(name, "contended") : undefined;
}

function fail({ provider, pool, key_id }: CredentialName, why: string): "failed" {
  log("warn", "refresh_failed", { provider, pool, key_id, why });
  return "failed";
}

/** Reads it again first: whoever had the lock before may have done it, and a refresh token serves once. */
async function refreshOne(deps: Deps, name: CredentialName): Promise<Outcome> {
  const one = await readOne(deps, name);
  if (!one || one.state.status === "disabled" || !endsSoon(one.config, one.now_ms)) return undefined;
  const { provider, pool, key_id } = name;
  const opened = await deps.sealing.open(one.sealed, [provider, pool, key_id]);
  if (!opened) return fail(name, "secret_does_not_open");
  const { data: secret } = secrets.oauth.safeParse(opened);
  if (!secret?.refresh_token || !secret.token_url) return fail(name, "nothing_to_refresh_with");
  if (baseUrlFault(secret.token_url, deps.settings.ALLOW_PRIVATE_UPSTREAMS)) return fail(name, "token_url");
  const answer = await askForToken(secret, secret.token_url, one.now_ms);
  if (typeof answer === "object") return write(deps, name, one, answer.secret);
  if (answer !== "invalid_grant") return fail(name, answer);
  const reply = await verifyCredential(deps, name, one, { works: false, actor: "refresh" });
  return reply.kind === "refused" ? "refused" : undefined;
}

const refreshUnderLock = (deps: Deps, name: CredentialName) =>
  withLock(deps, ["refresh", name.provider, name.pool, name.key_id], LOCK_MS, async ({ keep }) => {
    const outcome = await refreshOne(deps, name);
    if (outcome === "refused") await keep(REST_MS);
    return outcome;
  });

/** At most 10 a run; what could not be refreshed has its turn again in the next ones. Throws StoreUnavailable. */
export async function refreshTokens(deps: Deps) {
  const { found, unreadable, now_ms } = await lookFor(
    deps,
    0,
    ({ config, state }, now) => endsSoon(config, now) && state?.status !== "disabled",
  );
  const report = { refreshed: 0, refused: 0, failed: unreadable };
  const due = inTurn(found, MOST, now_ms);
  for (const outcome of await eachOf(due, AT_ONCE, (one) => refreshUnderLock(deps, one)))
    if (outcome) report[outcome instanceof Error ? "failed" : outcome]++;
  return report;
}
