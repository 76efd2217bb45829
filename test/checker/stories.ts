// What the journal tells of each hold: how it ended, once, and what was given back later.
import { z } from "zod";
import { checkDebt } from "./balances.ts";
import type { Entry } from "./entries.ts";
import { amount, groupBy, least, type Report } from "./words.ts";

export interface Funding {
  sub_account: bigint;
  account: bigint;
}
export const SOURCES = ["sub_account", "account"] as const;
export const totalOf = (funding: Funding) => funding.sub_account + funding.account;

/** `[["sub_account",600],["account",400]]`, in this order, without what is 0. */
const funding = z.array(z.tuple([z.enum(SOURCES), amount])).transform((rows, context): Funding => {
  const names = rows.map(([name]) => name).join(" ");
  if (
    !["", "sub_account", "account", "sub_account account"].includes(names) ||
    rows.some(([, n]) => n === 0n)
  )
    context.addIssue("no funding");
  return { sub_account: 0n, account: 0n, ...Object.fromEntries(rows) };
});
const life = z.object({
  state: z.enum(["settled", "voided", "expired"]),
  held: amount,
  funding,
  charged: amount,
  paid: funding,
  returned: funding,
  debt: amount,
  accrued: amount,
  opened_at_ms: amount,
  expires_at_ms: amount,
  home: z.string(),
  key_id: z.string().optional(),
  fence: amount.optional(),
  items: z.array(z.array(z.unknown())),
  note: z.unknown(),
});
const giving = z.object({ returned: funding, left: amount, home: z.string(), note: z.unknown() });

export type Life = z.output<typeof life>;
export interface End {
  entry: Entry;
  life: Life;
}
export interface Refund {
  entry: Entry;
  returned: Funding;
  left: bigint;
}
/** One life of a hold: an id comes again when the record of its last one is gone. */
export interface Story {
  hold: string;
  opened_at_ms: bigint;
  ends: End[];
  refunds: Refund[];
}

const STATE_OF: Record<string, string> = { settle: "settled", void: "voided", expire: "expired" };
const ENDS = ["settle", "void", "expire", "expire settle"];

/** The account's part of what goes back: what was owed was drawn after it, and the sub-account's own before it. */
const accountsPart = (back: bigint, from: Funding, owed: bigint) =>
  least(from.account, back - least(back, owed));

/** The sums of one end: what was held went somewhere, and what was charged was paid by the purses that the entry changed. */
function checkEnd({ entry, life }: End, before: Life | undefined, report: Report) {
  const fail = (what: string) => report(`${entry.name}, hold ${entry.hold}: ${what}`);
  if (life.state !== STATE_OF[entry.kind]) fail(`${entry.kind} leaves it ${life.state}`);
  if (totalOf(life.funding) !== life.held) fail("its funding is not what was held");
  if (totalOf(life.paid) !== life.charged) fail("what was paid is not what was charged");
  const had = before ? before.charged : life.held;
  const back = had > life.charged ? had - life.charged : 0n;
  if (totalOf(life.returned) !== back)
    fail(`${totalOf(life.returned)} was returned, and ${back} was left over`);
  if (entry.kind === "void" && life.charged !== 0n) fail("a void that charges");
  const start = before ? before.paid : life.funding;
  const owed = before?.debt ?? 0n;
  const lent = accountsPart(totalOf(life.returned), start, owed);
  if (life.returned.account !== lent)
    fail(`${life.returned.account} went back to the account, and ${lent} should have`);
  if (life.debt > life.paid.sub_account) fail("it owes more than its sub-account was charged");
  for (const source of SOURCES) {
    const kept = start[source] - life.returned[source];
    if (kept < 0n || life.paid[source] < kept) fail(`what ${source} gave is neither paid nor returned`);
    const purse = source === "account" ? "account" : `purse:${entry.sub_account}`;
    const moved = entry.changes.find((change) => change.purse === purse)?.by.spent ?? 0n;
    const by = life.paid[source] - (before?.paid[source] ?? 0n);
    if (moved !== by) fail(`${purse} spent ${moved}, and ${by} by its life`);
    const made = source === "account" ? 0n : life.debt - (owed - least(owed, back));
    checkDebt(entry, purse, life.returned[source], made, report);
  }
}

function checkRefunds({ hold, ends, refunds }: Story, report: Report) {
  const last = ends.at(-1)?.life;
  const paid: Funding = { sub_account: 0n, account: 0n, ...last?.paid };
  let owed = last?.debt ?? 0n;
  const ops = new Set<string>();
  for (const { entry, returned, left } of refunds) {
    const fail = (what: string) => report(`${entry.name}, hold ${hold}: ${what}`);
    if (last?.state !== "settled") fail("a refund of what was not settled");
    if (ops.has(entry.op)) fail(`refund ${entry.op} was done twice`);
    ops.add(entry.op);
    const back = totalOf(returned);
    const lent = accountsPart(back, paid, owed);
    if (returned.account !== lent)
      fail(`${returned.account} went back to the account, and ${lent} should have`);
    owed -= least(owed, back);
    for (const source of SOURCES) {
      paid[source] -= returned[source];
      if (paid[source] < 0n) fail(`more is refunded than ${source} paid`);
      const purse = source === "account" ? "account" : `purse:${entry.sub_account}`;
      const moved = entry.changes.find((change) => change.purse === purse)?.by.spent ?? 0n;
      if (-moved !== returned[source])
        fail(`${purse} spent ${moved}, and ${-returned[source]} by the refund`);
      checkDebt(entry, purse, returned[source], 0n, report);
    }
    if (left !== totalOf(paid)) fail(`${left} can still be refunded, and ${totalOf(paid)} was paid`);
  }
}

function checkStory(tenant: string, story: Story, before: Story | undefined, report: Report) {
  const where = `hold ${story.hold} of ${tenant}`;
  const kinds = story.ends.map(({ entry }) => entry.kind).join(" ");
  if (!ENDS.includes(kinds)) report(`${where}: it ends more than once, by ${kinds}`);
  story.ends.forEach((end, i) => {
    checkEnd(end, i > 0 ? story.ends[i - 1]?.life : undefined, report);
  });
  checkRefunds(story, report);
  const end = before?.ends.at(-1);
  if (end && story.opened_at_ms < end.entry.at) report(`${where}: opened again before it ended`);
}

/** One hold's entries, in their order, as lives; a refund is of the last one before it. */
function livesOf(entries: Entry[], report: Report): Story[] {
  const stories: Story[] = [];
  for (const entry of entries) {
    const unreadable = () => report(`${entry.name}, hold ${entry.hold}: its detail cannot be read`);
    const story = stories.at(-1);
    if (entry.kind === "refund") {
      const read = giving.safeParse(entry.detail);
      if (!read.success) unreadable();
      else if (!story) report(`${entry.name}, hold ${entry.hold}: a refund of what never ended`);
      else story.refunds.push({ entry, ...read.data });
      continue;
    }
    const { data } = life.safeParse(entry.detail);
    if (!data) unreadable();
    else if (story?.opened_at_ms === data.opened_at_ms) story.ends.push({ entry, life: data });
    else {
      const { hold } = entry;
      stories.push({ hold, opened_at_ms: data.opened_at_ms, ends: [{ entry, life: data }], refunds: [] });
    }
  }
  return stories;
}

/** The ended lives of a tenant's holds, by hold, the latest last. */
export function storiesOf(tenant: string, entries: Entry[], report: Report): Map<string, Story[]> {
  const ends = entries.filter(({ kind }) => kind === "refund" || STATE_OF[kind]);
  const stories = new Map<string, Story[]>();
  for (const [hold, own] of groupBy(ends, (entry) => entry.hold)) {
    const lives = livesOf(own, report);
    lives.forEach((story, i) => {
      checkStory(tenant, story, lives[i - 1], report);
    });
    stories.set(hold, lives);
  }
  return stories;
}
