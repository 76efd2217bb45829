// Faults of what the journal tells of holds, and of changes made once: what is planted, how, and all that the checker says of it.
import { type Fault, more, type Planter, swap } from "./plant.ts";

const ACME = "tenant:acme";
const JOURNAL = "journal:14";
const text = (name: string, change: (text: string) => string) => (p: Planter) => p.text(name, change);
const detail = (seq: number, change: (text: string) => string) => (p: Planter) =>
  p.entry(JOURNAL, ACME, seq, "detail", change);
const globex = (seq: number, change: (text: string) => string) => (p: Planter) =>
  p.entry("journal:15", "tenant:globex", seq, "detail", change);

export const STORIES: Fault[] = [
  [
    "a hold that ends twice",
    async (p) => {
      const [life] = (await p.raw.xrange(p.key(JOURNAL), "-", "+")).filter(
        ([, fields]) => fields[5] === "28",
      );
      if (!life) throw new Error("no entry 28");
      await p.raw.xadd(p.key(JOURNAL), "*", ...life[1].map((one, i) => (i === 5 ? "29" : one)));
      await p.field(ACME, "state", more(1, 1));
    },
    /^hold h-void of tenant:acme: it ends more than once, by void void/,
    /entry 29 .*h-void: 0 was returned|entry 29 .*: 40 was returned, and 0 was left over/,
    /entry 29 .*h-void: what sub_account gave is neither/,
  ],
  [
    "a settle that says it expired",
    detail(22, swap('"settled"', '"expired"')),
    /entry 22 .*h-more: settle leaves it expired/,
    /h-more: state is settled, and expired/,
  ],
  [
    "a charge that nobody paid",
    detail(22, swap('"charged":500', '"charged":501')),
    /entry 22 .*h-more: what was paid is not what was charged/,
    /h-more: charged is 500, and 501/,
  ],
  [
    "a charge that another purse paid",
    detail(22, swap('"paid":[["account"', '"paid":[["sub_account"')),
    /entry 22 .*h-more: what account gave is neither/,
    /entry 22 .*h-more: account spent 500, and 0 by its life/,
    /entry 22 .*h-more: purse:app spent 0, and 500 by its life/,
    /h-more: paid and refunded of sub_account is 0, and 500/,
    /h-more: paid and refunded of account is 500, and 0/,
  ],
  [
    "something that did not come back",
    detail(21, swap('["account",400]', '["account",399]')),
    /entry 21 .*h-less: 399 was returned, and 400 was left over/,
    /entry 21 .*h-less: what account gave is neither/,
    /h-less: returned of account is 400, and 399/,
  ],
  [
    "a void that charges",
    detail(28, swap('"charged":0', '"charged":1')),
    /entry 28 .*h-void: a void that charges/,
    /entry 28 .*h-void: what was paid/,
    /entry 28 .*h-void: 40 was returned, and 39/,
    /h-void: charged is 0, and 1/,
  ],
  [
    "funding that is not what was held",
    detail(28, swap('"held":40', '"held":41')),
    /entry 28 .*h-void: its funding is not what was held/,
    /entry 28 .*h-void: 40 was returned, and 41/,
    /h-void: held is 40, and 41/,
  ],
  [
    "a debt that nobody made",
    globex(5, swap('"debt":280', '"debt":279')),
    /entry 5 of tenant:globex, purse:poor: its debt changes by 280, not by 279/,
    /hold:globex:h1: debt is 280, and 279/,
  ],
  [
    "a refund that goes past what is owed",
    globex(8, swap('["sub_account",5]', '["account",5]')),
    /entry 8 .*h1: 5 went back to the account, and 0 should have/,
    /entry 8 .*h1: account spent 0, and -5 by the refund/,
    /entry 8 .*h1: purse:poor spent -5, and 0 by the refund/,
    /entry 8 .*purse:poor: its debt changes by -5, not by 0/,
    /hold:globex:h1: its refunds/,
  ],
  [
    "a late settle that goes past what is owed",
    globex(11, swap('["sub_account",40],["account",10]', '["sub_account",30],["account",20]')),
    /entry 11 .*h4: 20 went back to the account, and 10 should have/,
    /entry 11 .*h4: what sub_account gave is neither/,
    /entry 11 .*purse:late: its debt changes by -40, not by -30/,
    /hold:globex:h4: returned of sub_account is 40, and 30/,
    /hold:globex:h4: returned of account is 10, and 20/,
  ],
  [
    "a late settle that leaves what is owed",
    globex(11, swap('"debt":0', '"debt":40')),
    /entry 11 .*h4: it owes more than its sub-account was charged/,
    /entry 11 .*purse:late: its debt changes by -40, not by 0/,
    /hold:globex:h4: debt is 0, and 40/,
  ],
  [
    "a refund of more than was paid",
    detail(23, swap("100]", "5000]")),
    /entry 23 .*h-less: 5000 went back to the account, and 600 should have/,
    /entry 23 .*h-less: more is refunded/,
    /entry 23 .*h-less: .* can still be refunded/,
    /entry 24 .*h-less: .* can still be refunded/,
    /entry 23 .*h-less: account spent -100/,
    /entry 24 .*h-less: 500 went back to the account, and -4400 should have/,
    /entry 24 .*h-less: more is refunded/,
    /h-less: its refunds/,
  ],
  [
    "a refund done twice",
    (p) => p.entry(JOURNAL, ACME, 24, "op", swap("r2", "r1")),
    /entry 24 .*h-less: refund r1 was done twice/,
    /h-less: its refunds/,
  ],
  [
    "an end in tatters",
    detail(28, swap('"home"', '"house"')),
    /entry 28 .*h-void: its detail cannot be read/,
    /h-void: voided, and its journal has no end/,
    /reserved, 2 are open and 7/,
  ],
  [
    "a hold opened again before it ended",
    detail(20, swap(/"opened_at_ms":\d+/, '"opened_at_ms":1')),
    /^hold again of tenant:acme: opened again before it ended/,
    /hold:acme:again: voided, and its journal has no end/,
  ],
  [
    "a refund of what never ended",
    (p) => p.entry(JOURNAL, ACME, 23, "hold", swap("h-less", "h-never")),
    /entry 23 .*h-never: a refund of what never ended/,
    /entry 24 .*h-less: 500 went back to the account, and 600 should have/,
    /entry 24 .*h-less: 1800 can still be refunded, and 1900 was paid/,
    /h-less: its refunds/,
  ],
  [
    "a refund of what was voided",
    async (p) => {
      await p.entry(JOURNAL, ACME, 23, "hold", swap("h-less", "again"));
      await p.entry(JOURNAL, ACME, 23, "detail", swap(/"returned":.*"left":2500/, '"returned":[],"left":0'));
    },
    /entry 23 .*again: a refund of what was not settled/,
    /entry 23 .*again: account spent -100, and 0 by the refund/,
    /entry 24 .*h-less: 500 went back to the account, and 600 should have/,
    /entry 24 .*h-less: 1800 can still be refunded, and 1900 was paid/,
    /hold:acme:again: its refunds/,
    /h-less: its refunds/,
  ],
];

export const OPS: Fault[] = [
  [
    "an answer for ever",
    async (p) => p.raw.persist(p.key("op:acme:g5")),
    /op:acme:g5: does not end by itself, and must/,
  ],
  ["an answer that went too early", (p) => p.drop("op:acme:g5"), /op:acme:g5: its answer has gone too early/],
  [
    "an answer that is not the entry's",
    text("op:acme:g5", more(3, 1)),
    /op:acme:g5: answered 1900 2001 0, and entry 19 of tenant:acme says otherwise/,
  ],
  ["an answer in tatters", text("op:acme:g5", swap("1 ", "2 ")), /op:acme:g5: an answer that cannot be read/],
  [
    "an answer to nothing",
    (p) => p.raw.set(p.key("op:acme:g9"), "1 x 1 1 0", "PX", 99_999),
    /op:acme:g9: done, and no entry says so/,
  ],
  [
    "a change made twice",
    (p) => p.entry(JOURNAL, ACME, 19, "op", swap("g5", "g4")),
    /op:acme:g4: done twice, entry 18 .* and entry 19/,
    /op:acme:g4: answered 50 50 0, and entry 19/,
    /op:acme:g5: done, and no entry/,
  ],
];
