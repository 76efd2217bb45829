// The records of holds: an open one is due, an ended one is what the journal says of its end.
import { z } from "zod";
import type { Key } from "./keys.ts";
import { type Funding, SOURCES, type Story, totalOf } from "./stories.ts";
import { amount, jsonOf, numbersOf, type Report, sum } from "./words.ts";

const NUMBERS = [
  "made",
  "opened_at_ms",
  "expires_at_ms",
  "amount",
  "accrued",
  "funding_sub",
  "funding_account",
  "paid_sub",
  "paid_account",
  "returned_sub",
  "returned_account",
  "charged",
  "debt",
] as const;
const LEASE = ["fence", "granted_at_ms", "expires_at_ms", "max_expires_at_ms"] as const;
const LINES =
  /^1 (open|settled|voided|expired) (\S+) (\d+) \S+ ((?:-?\d+ ){9}-?\d+) (\S+) (\d+ \d+) (\S+)\n([^\n]*)\n([^\n]*)\n([\s\S]*)$/;

const items = z.array(z.tuple([z.string(), amount, amount, amount]));
const refunds = z.array(z.tuple([z.string(), amount, amount, amount, amount]));

/** The lease of a call, which its record keeps. */
export interface CallLease {
  credential: string;
  fence: bigint;
  granted_at_ms: bigint;
  expires_at_ms: bigint;
  max_expires_at_ms: bigint;
}

/** `-`, a pool, or a pool and the lease of a call. */
function placeOf(place: string): { home: string; lease: CallLease | undefined } | undefined {
  const [provider, pool, credential, ...numbers] = place.split(":");
  if (credential === undefined) return place === "-" || pool ? { home: place, lease: undefined } : undefined;
  const n = numbersOf(`1 ${numbers.slice(0, -1).join(" ")}`, LEASE); // the last is the holder
  return n && { home: `${provider}:${pool}`, lease: { credential, ...n } };
}

export type Hold = NonNullable<ReturnType<typeof holdOf>>;

export function holdOf(key: Key<"string">, report: Report) {
  const [tenant = "", hold = ""] = key.ids;
  const match = LINES.exec(key.value);
  const [, state = "", sub_account = "", made, middle, end_print = "", last, place = ""] = match ?? [];
  const n = numbersOf(`1 ${made} ${middle} ${last}`, NUMBERS);
  const read = { items: jsonOf(match?.[8], items), refunds: jsonOf(match?.[9], refunds) };
  const where = placeOf(place);
  if (!n || !read.items || !read.refunds || !where) {
    report(`${key.name}: a hold's record that cannot be read`);
    return undefined;
  }
  const by = (sub: bigint, account: bigint): Funding => ({ sub_account: sub, account });
  return {
    ...{
      name: key.name,
      end_ms: key.end_ms,
      tenant,
      hold,
      state,
      sub_account,
      made: n.made,
      end_print,
      ...where,
    },
    ...{ opened_at_ms: n.opened_at_ms, expires_at_ms: n.expires_at_ms, held: n.amount, accrued: n.accrued },
    ...{ charged: n.charged, debt: n.debt, metadata: match?.[10] ?? "" },
    funding: by(n.funding_sub, n.funding_account),
    paid: by(n.paid_sub, n.paid_account),
    returned: by(n.returned_sub, n.returned_account),
    items: read.items,
    items_text: match?.[8] ?? "",
    refunds: read.refunds,
  };
}

export function checkOpen(hold: Hold, stories: Story[], report: Report) {
  const fail = (what: string) => report(`${hold.name}: ${what}`);
  if (hold.end_ms !== -1) fail("open, and ends by itself");
  const ended = totalOf(hold.paid) + totalOf(hold.returned) + hold.charged + hold.debt;
  if (ended !== 0n || hold.end_print !== "-" || hold.refunds.length > 0) fail("open, and already charged");
  if (stories.some((story) => story.opened_at_ms === hold.opened_at_ms))
    fail("open, and has ended by its journal");
}

/** What the record's refunds and the journal's are: the same, one by one. */
function checkRefunds(hold: Hold, story: Story, report: Report) {
  const own = hold.refunds.map(([op, by, sub, account, left]) => `${op} ${by} ${sub} ${account} ${left}`);
  const told = story.refunds.map(({ entry, returned, left }) => {
    const by = totalOf(returned);
    return `${entry.op} ${by} ${returned.sub_account} ${returned.account} ${left}`;
  });
  if (own.join("|") !== told.join("|"))
    report(`${hold.name}: its refunds (${own}) are not those of its journal (${told})`);
}

export function checkEnded(hold: Hold, stories: Story[], report: Report) {
  const fail = (what: string) => report(`${hold.name}: ${what}`);
  if (hold.end_ms === -1) fail("ended, and does not end by itself");
  const story = stories.find(({ opened_at_ms }) => opened_at_ms === hold.opened_at_ms);
  const end = story?.ends.at(-1);
  if (!story || !end) return fail(`${hold.state}, and its journal has no end of it`);
  const { life, entry } = end;
  for (const name of ["state", "held", "charged", "debt", "accrued", "expires_at_ms", "home"] as const)
    if (hold[name] !== life[name]) fail(`${name} is ${hold[name]}, and ${life[name]} by its journal`);
  if (hold.lease?.credential !== life.key_id || hold.lease?.fence !== life.fence)
    fail("its credential is not that of its journal");
  const refunded: Funding = {
    sub_account: sum(hold.refunds.map(([, , sub]) => sub)),
    account: sum(hold.refunds.map(([, , , account]) => account)),
  };
  for (const source of SOURCES) {
    const rows = [
      ["funding", hold.funding[source], life.funding[source]],
      ["returned", hold.returned[source], life.returned[source]],
      ["paid and refunded", hold.paid[source] + refunded[source], life.paid[source]],
    ];
    for (const [what, is, told] of rows)
      if (is !== told) fail(`${what} of ${source} is ${is}, and ${told} by its journal`);
  }
  if (entry.sub_account !== hold.sub_account)
    fail(`of ${hold.sub_account}, and ${entry.sub_account} by its journal`);
  if (entry.metadata !== hold.metadata) fail("its metadata is not that of its journal");
  if (JSON.stringify(life.items) !== JSON.stringify(JSON.parse(hold.items_text)))
    fail("its items are not those of its journal");
  checkRefunds(hold, story, report);
}

/** What is true of any record. */
export function checkHold(hold: Hold, report: Report) {
  const fail = (what: string) => report(`${hold.name}: ${what}`);
  if (totalOf(hold.funding) !== hold.held)
    fail(`it holds ${hold.held}, and its funding is ${totalOf(hold.funding)}`);
  if (sum(hold.items.map(([, by]) => by)) > hold.held) fail("it holds less than its items ask for");
  if (hold.expires_at_ms < hold.opened_at_ms) fail("it expires before it is opened");
}
