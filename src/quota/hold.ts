// A hold's record, read (lua/lib/hold.lua writes it).
import { z } from "zod";
import { HOLD_STATES } from "../scripts/types.ts";
import { iso } from "../units.ts";

const rows = z.array(z.tuple([z.string(), z.number(), z.number(), z.number()]));

const fundingOf = (sub_account: number, account: number) =>
  [
    { source: "sub_account" as const, amount: sub_account },
    { source: "account" as const, amount: account },
  ].filter(({ amount }) => amount > 0);

/** Where a hold belongs: `-`, a pool, or of a call a pool and its lease. */
export function readPlace(place: string) {
  const [provider = "", pool = "", key_id = null, fence, granted_at_ms, , , holder = ""] = place.split(":");
  if (place === "-") return { provider: null, pool: null, key_id: null };
  if (key_id === null) return { provider, pool, key_id };
  return {
    provider,
    pool,
    key_id,
    lease: { fence: Number(fence), granted_at_ms: Number(granted_at_ms), holder },
  };
}

/** What is shown of the lease in a call's record. */
export const readCallLease = (text: string) => {
  const [head = ""] = text.split("\n");
  return readPlace(head.split(" ")[18] ?? "-").lease;
};

/** The hold without its metadata, and that as the text it came as. Throws on a value that cannot be read. */
export function readHold(text: string) {
  const [head = "", items = "[]", , ...metadata] = text.split("\n");
  const words = head.split(" ");
  if (words[0] !== "1" || words.length !== 19) throw new Error("a hold's record cannot be read");
  const n = (i: number) => Number(words[i]);
  const place = readPlace(words[18] ?? "-");
  const state = z.enum(HOLD_STATES).parse(words[1]);
  const hold = {
    sub_account: words[2] ?? "",
    state,
    amount: n(7),
    items: rows.parse(JSON.parse(items)).map(([model, amount, tokens, requests]) => ({
      model,
      amount,
      tokens,
      requests,
    })),
    funding: fundingOf(n(9), n(10)),
    accrued: n(8),
    charged: n(16),
    confirmed: state === "settled" || state === "voided",
    refunded: state === "settled" ? n(16) - n(11) - n(12) : 0,
    returned: fundingOf(n(13), n(14)),
    debt: n(17),
    provider: place.provider,
    pool: place.pool,
    key_id: place.key_id,
    opened_at: iso(n(5)),
    expires_at: iso(n(6)),
  };
  return { hold, metadata: metadata.join("\n") };
}
