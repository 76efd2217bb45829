// A call of the scripts, and the same call of the model.
import type { Ledger as Verbs } from "../../support/ledger.ts";
import { keys } from "../../support/redis.ts";
import type { Call } from "./calls.ts";
import { expire, refund, settle, voidHold } from "./ends.ts";
import { extend, reserve } from "./holds.ts";
import type { Ledger } from "./model.ts";
import { addToken, adjust, put, putSub, remove, removeSub, revokeToken } from "./operators.ts";
import type { Outcome } from "./outcome.ts";

export function meant(ledger: Ledger, call: Call): Outcome {
  switch (call.verb) {
    case "reserve":
      return reserve(ledger, call);
    case "settle":
      return settle(ledger, call);
    case "void":
      return voidHold(ledger, call);
    case "expire":
      return expire(ledger, call);
    case "extend":
      return extend(ledger, call);
    case "refund":
      return refund(ledger, call);
    case "adjust":
      return adjust(ledger, call);
    case "put":
      return put(ledger, call);
    case "putSub":
      return putSub(ledger, call);
    case "remove":
      return remove(ledger, call);
    case "removeSub":
      return removeSub(ledger, call);
    case "addToken":
      return addToken(ledger, call);
    case "revokeToken":
      return revokeToken(ledger, call);
  }
}

export function made(verbs: Verbs, call: Call): Promise<{ kind: string }> {
  switch (call.verb) {
    case "reserve": {
      const { sub, hold, items, ttl_ms, token, home, metadata, print: fingerprint } = call;
      const [provider = "", name] = home.split(":");
      const pool = name ? { pool_key: keys.pool(provider, name).pool_key } : {};
      return verbs.reserve(sub, hold, 0, { items, ttl_ms, token, home, metadata, fingerprint, ...pool });
    }
    case "settle":
      return verbs.settle(call.hold, call.amount, call.used, call.print);
    case "void":
      return verbs.void(call.hold);
    case "expire":
      return verbs.expire(call.hold);
    case "extend":
      return verbs.extend(call.hold, call.ttl_ms, call.amount, call.accrued);
    case "refund":
      return verbs.refund(call.hold, call.op_id, call.amount);
    case "adjust":
      return verbs.adjust(call.sub, call.op_id, call.how, call.amount, call.print);
    case "put":
      return verbs.put(call.config, call.before, call.kind);
    case "putSub":
      return verbs.putSub(call.sub, call.terms, call.before, call.kind);
    case "remove":
      return verbs.remove();
    case "removeSub":
      return verbs.removeSub(call.sub);
    case "addToken":
      return verbs.addToken(call.sub, call.id, call.sha256, call.name);
    case "revokeToken":
      return verbs.revokeToken(call.sub, call.id);
  }
}
