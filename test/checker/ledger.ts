// A tenant's books: what its purses have is what its journal and its open holds say.
import { checkBalance, followBalances } from "./balances.ts";
import { checkLast, type Entry } from "./entries.ts";
import { checkEnded, checkHold, checkOpen, type Hold } from "./holds.ts";
import { type Story, storiesOf } from "./stories.ts";
import { checkPurse, type Purse, type Tenant } from "./tenants.ts";
import { type Report, sum } from "./words.ts";

export interface Times {
  now_ms: bigint | undefined;
  /** For how long the record of an ended hold is kept, at least. */
  hold_keep_ms: bigint;
  /** True: the sweeper has just been, so no hold is open past its deadline. */
  swept: boolean;
}

const accountSpent = ({ changes }: Entry) =>
  sum(changes.filter(({ purse }) => purse === "account").map(({ by }) => by.spent));

/** What a sub-account drew on the account since it was made and has not come back. */
function borrowedBy(sub: string, made: bigint, entries: Entry[], open: Hold[]): bigint {
  const ends = ["settle", "expire", "refund", "void"];
  const drawn = entries.filter(
    ({ seq, sub_account, kind }) => seq >= made && sub_account === sub && ends.includes(kind),
  );
  return sum(drawn.map(accountSpent)) + sum(open.map(({ funding }) => funding.account));
}

function checkSubPurse(
  where: string,
  sub: string,
  purse: Purse,
  entries: Entry[],
  open: Hold[],
  report: Report,
) {
  const own = open.filter(({ sub_account }) => sub_account === sub);
  const holds = BigInt(own.length);
  if (purse.in_flight !== holds) report(`${where}: ${purse.in_flight} in flight, and ${holds} open holds`);
  const borrowed = borrowedBy(sub, purse.made, entries, own);
  if (purse.borrowed !== borrowed)
    report(`${where}: has borrowed ${purse.borrowed}, and ${borrowed} by its journal and its holds`);
  const other = own.find(({ made }) => made !== purse.made);
  if (other) report(`${other.name}: of an earlier sub-account of the name ${sub}`);
}

function checkPurses(tenant: Tenant, entries: Entry[], open: Hold[], report: Report) {
  const balances = followBalances(entries, report);
  for (const [field, purse] of tenant.purses) {
    if (!purse) continue;
    const where = `tenant:${tenant.name} ${field}`;
    const [, sub] = field.split(":");
    checkPurse(where, purse, report);
    checkBalance(where, balances.get(field), purse, report);
    if (tenant.state && purse.made > tenant.state.seq) report(`${where}: made by a change that has not been`);
    const gave = open
      .filter((hold) => sub === undefined || hold.sub_account === sub)
      .map(({ funding }) => (sub === undefined ? funding.account : funding.sub_account));
    if (purse.held !== sum(gave))
      report(`${where}: ${purse.held} held, and its open holds hold ${sum(gave)}`);
    if (sub !== undefined) checkSubPurse(where, sub, purse, entries, open, report);
  }
  const nothing = { spent: 0n, lapsed: 0n, debt: 0n, funded: 0n };
  for (const [field, balance] of balances)
    if (!tenant.purses.has(field))
      checkBalance(`tenant:${tenant.name} ${field}, gone`, balance, nothing, report);
}

/** Every hold that was ever opened is open, or has ended in the journal. */
function checkCounts(tenant: Tenant, open: Hold[], stories: Map<string, Story[]>, report: Report) {
  if (!tenant.state) return;
  const where = `tenant:${tenant.name}`;
  const holds = BigInt(open.length);
  if (tenant.state.open !== holds) report(`${where}: ${tenant.state.open} open, and ${holds} open holds`);
  const ended = sum([...stories.values()].map((lives) => BigInt(lives.length)));
  if (tenant.state.reserved !== holds + ended)
    report(`${where}: ${tenant.state.reserved} were reserved, ${holds} are open and ${ended} have ended`);
}

function checkRecords(
  tenant: Tenant,
  holds: Hold[],
  stories: Map<string, Story[]>,
  times: Times,
  report: Report,
) {
  for (const hold of holds) {
    const lives = stories.get(hold.hold) ?? [];
    checkHold(hold, report);
    if (hold.state !== "open") checkEnded(hold, lives, report);
    else {
      checkOpen(hold, lives, report);
      if (!tenant.purses.has(`purse:${hold.sub_account}`))
        report(`${hold.name}: its sub-account is not there`);
      if (times.swept && times.now_ms !== undefined && hold.expires_at_ms <= times.now_ms)
        report(`${hold.name}: overdue, it should have expired`);
    }
  }
  const known = new Set(holds.map(({ hold, opened_at_ms }) => `${hold} ${opened_at_ms}`));
  for (const [hold, lives] of stories) {
    const last = lives.at(-1);
    const ended_at_ms = last?.ends.at(-1)?.entry.at;
    if (!last || ended_at_ms === undefined || times.now_ms === undefined) continue;
    const keeps = ended_at_ms + times.hold_keep_ms > times.now_ms;
    if (keeps && !known.has(`${hold} ${last.opened_at_ms}`))
      report(`hold:${tenant.name}:${hold}: its record has gone too early`);
  }
}

export function checkLedger(tenant: Tenant, holds: Hold[], entries: Entry[], times: Times, report: Report) {
  const open = holds.filter(({ state }) => state === "open");
  if (tenant.state) checkLast(`tenant:${tenant.name}`, tenant.state.seq, entries, report);
  checkPurses(tenant, entries, open, report);
  const stories = storiesOf(`tenant:${tenant.name}`, entries, report);
  checkCounts(tenant, open, stories, report);
  checkRecords(tenant, holds, stories, times, report);
}
