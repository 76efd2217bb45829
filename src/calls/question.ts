// A call as pools are asked for it: its hold and its lease are decided in one script.
import type { Deps } from "../deps.ts";
import { fingerprintOf } from "../ids.ts";
import { homeOf } from "../keys.ts";
import type { Answer, Question } from "../leases/question.ts";
import { askedTwice } from "../quota/reserve.ts";
import type { Item } from "../quota/schema.ts";
import { admit } from "../scripts/call/admit.ts";
import { undoCall } from "../scripts/call/undo.ts";
import type { ReplyOf } from "../scripts/define.ts";
import { run } from "../scripts/run.ts";
import { MINUTE_MS } from "../units.ts";

/** Who calls, which model, and what it may cost. */
export interface Call {
  readonly call_id: string;
  /** Whether the caller chose the id, and may have sent it before. */
  readonly repeatable: boolean;
  readonly tenant: string;
  readonly sub_account: string;
  /** SHA-256 of the token that the caller came with, or empty. */
  readonly token: string;
  readonly provider: string;
  /** The name by which the provider's credentials know the model. */
  readonly model: string;
  readonly pool: string;
  readonly items: Item[];
  readonly ttl_seconds: number;
  /** The pool's unless said. */
  readonly lease_seconds?: number | undefined;
  readonly holder?: string | undefined;
  readonly affinity_key?: string | undefined;
  /** JSON text as it came, or empty. */
  readonly metadata: string;
  /** Credentials that this call has tried already. */
  readonly avoid?: ReadonlySet<string>;
}

type Reply = ReplyOf<typeof admit.replies>;
type PoolKind = "no_capacity" | "breaker_open" | "reclaim_due" | "lease_lost" | "conflict" | "elsewhere";
/** What no other pool can mend: it is the tenant's, or the call's own. */
export type CallRefusal = Exclude<Reply, { kind: "admitted" | "no_pool" | PoolKind }>;

const POOL_KINDS = new Set<string>([
  "no_capacity",
  "breaker_open",
  "reclaim_due",
  "lease_lost",
  "conflict",
  "elsewhere",
]);
const isPools = (reply: Reply): reply is Extract<Reply, { kind: PoolKind }> => POOL_KINDS.has(reply.kind);

/** A reply as an answer to the question for a pool. */
function answerOf(reply: Reply): Answer<CallRefusal> {
  if (isPools(reply)) return reply;
  if (reply.kind === "no_pool") return { kind: "absent" };
  if (reply.kind !== "admitted") return { kind: "refused", refusal: reply };
  const { amount, funding, sub_available, account_available, hold_expires_at_ms, ...lease } = reply;
  const hold = { amount, funding, sub_available, account_available, expires_at_ms: hold_expires_at_ms };
  return { ...lease, kind: "granted", hold };
}

export function callQuestion(deps: Deps, call: Call): Question<CallRefusal> {
  const { call_id, tenant, sub_account, token, provider, model, pool, items, metadata, ...more } = call;
  const { ttl_seconds, lease_seconds, holder = "", affinity_key } = more;
  const { tenant_key, due_key, journal_key } = deps.keys.tenant(tenant);
  const keysOf = (asked: string) => ({
    ...deps.keys.pool(provider, asked), // its journal is not the call's
    tenant_key,
    due_key,
    journal_key,
    hold_key: deps.keys.hold(tenant, call_id),
  });
  const keep_ms = deps.settings.HOLD_KEEP_MINUTES * MINUTE_MS;
  const terms = [ttl_seconds, lease_seconds ?? "", affinity_key ?? "", holder].join(" ");
  const fingerprint = fingerprintOf([
    sub_account,
    provider,
    pool,
    model,
    JSON.stringify(items),
    terms,
    metadata,
  ]);
  return {
    provider,
    model,
    pool,
    affinity_key,
    id: call_id,
    repeatable: call.repeatable,
    ...(call.avoid ? { avoid: call.avoid } : {}),
    async ask(asked, { candidates, ends, borrowed, lease_seconds: usual }) {
      const args = {
        tenant,
        sub_account,
        call_id,
        fingerprint,
        token,
        home: homeOf(provider, asked),
        ttl_ms: ttl_seconds * 1000,
        lease_ms: (lease_seconds ?? usual) * 1000,
        items,
        metadata,
        candidates,
        ends,
        borrowed,
        holder,
      };
      return answerOf(
        await askedTwice(deps, { tenant, hold_id: call_id }, () =>
          run(deps.store, admit, keysOf(asked), args),
        ),
      );
    },
    async undo(store, asked, how) {
      const { outcome = "" as const, retry_after_ms = "" as const } = how;
      const args = {
        tenant,
        call_id,
        home: homeOf(provider, asked),
        outcome,
        retry_after_ms,
        note: deps.note(),
        keep_ms,
      };
      return (await run(store, undoCall, keysOf(asked), args)).kind === "undone";
    },
  };
}
