// Faults of holds: what is planted, how, and all that the checker says of it.
import { type Fault, more, type Planter, swap } from "./plant.ts";

const ACME = "tenant:acme";
const JOURNAL = "journal:14";
const text = (name: string, change: (text: string) => string) => (p: Planter) => p.text(name, change);

export const OPEN: Fault[] = [
  [
    "an open hold that is gone",
    (p) => p.drop("hold:acme:h-open"),
    /due:14: hold acme h-open is not an open hold/,
    /account: 4600 held, and its open holds hold 300/,
    /purse:app: 200 held, and its open holds hold 0/,
    /purse:app: 1 in flight, and 0 open holds/,
    /purse:app: has borrowed 4800, and 500 by/,
    /^tenant:acme: 2 open, and 1 open holds/,
    /^tenant:acme: 10 were reserved, 1 are open and 8 have ended/,
  ],
  [
    "a due member lost",
    (p) => p.dropMember("due:14", "hold acme h-open"),
    /h-open: open, and due:14 hold acme h-open is missing/,
  ],
  [
    "a due member at another time",
    async (p) => p.raw.zadd(p.key("due:14"), 5, "hold acme h-open"),
    /due:14: hold acme h-open falls due at 5, and expires at/,
  ],
  [
    "a due member of what has ended",
    async (p) => p.raw.zadd(p.key("due:14"), 5, "hold acme h-void"),
    /due:14: hold acme h-void is not an open hold/,
  ],
  [
    "a due member in another shard",
    async (p) => p.raw.zadd(p.key("due:3"), 5, "hold acme h-open"),
    /due:3: hold acme h-open is not an open hold of this shard/,
  ],
  [
    "a due member of no kind",
    async (p) => p.raw.zadd(p.key("due:3"), 5, "lunch"),
    /due:3: lunch is not a thing that falls due/,
  ],
  [
    "an open hold that ends by itself",
    async (p) => p.raw.pexpire(p.key("hold:acme:h-open"), 999_999),
    /h-open: open, and ends by itself/,
  ],
  [
    "an open hold that was charged",
    text("hold:acme:h-open", more(16, 1)),
    /h-open: open, and already charged/,
  ],
  [
    "funding that is not what is held",
    text("hold:acme:h-open", more(7, 1)),
    /h-open: it holds 4501, and its funding is 4500/,
  ],
  [
    "less held than asked for",
    text("hold:acme:h-open", swap('"m",4000', '"m",4501')),
    /h-open: it holds less than its items ask for/,
  ],
  [
    "an end before the beginning",
    text("hold:acme:h-void", more(6, -999_999)),
    /h-void: it expires before/,
    /h-void: expires_at_ms is/,
  ],
  [
    "a hold of an earlier sub-account",
    text("hold:acme:h-old", more(3, -13)),
    /h-old: of an earlier sub-account of the name old/,
  ],
  [
    "a hold of a sub-account that is not there",
    text("hold:acme:h-old", swap(" old ", " new ")),
    /h-old: its sub-account is not there/,
    /purse:old: 50 held, and its open holds hold 0/,
    /purse:old: 1 in flight, and 0 open holds/,
    /purse:old: has borrowed 300, and 0 by/,
  ],
  [
    "a record in tatters",
    text("hold:acme:h-void", swap("1 voided", "1 vanished")),
    /h-void: a hold's record that cannot be read/,
    /h-void: its record has gone too early/,
  ],
];

export const ENDED: Fault[] = [
  [
    "an ended hold that stays for ever",
    async (p) => p.raw.persist(p.key("hold:acme:h-void")),
    /h-void: ended, and does not end by itself/,
  ],
  [
    "an ended hold that went too early",
    (p) => p.drop("hold:acme:h-void"),
    /h-void: its record has gone too early/,
  ],
  [
    "an end that no entry tells of",
    (p) => p.moveEntry(JOURNAL, ACME, 28),
    /h-void: voided, and its journal has no end of it/,
    /acme: its sequence number is 28, that of its last entry 27/,
    /: 10 were reserved, 2 are open and 7 have ended/,
  ],
  ["another charge", text("hold:acme:h-more", more(16, 1)), /h-more: charged is 501, and 500 by its journal/],
  [
    "another state",
    text("hold:acme:h-expired", swap("expired", "settled")),
    /h-expired: state is settled, and expired by its journal/,
  ],
  [
    "other funding",
    (p) => p.text("hold:acme:h-void", (one) => more(9, -1)(more(10, 1)(one))),
    /h-void: funding of sub_account is 39, and 40/,
    /h-void: funding of account is 1, and 0/,
  ],
  [
    "paid by another purse",
    (p) => p.text("hold:acme:h-more", (one) => more(11, 1)(more(12, -1)(one))),
    /h-more: paid and refunded of sub_account is 1, and 0/,
    /h-more: paid and refunded of account is 499, and 500/,
  ],
  ["less returned", text("hold:acme:h-less", more(14, -1)), /h-less: returned of account is 399, and 400/],
  [
    "a refund forgotten",
    text("hold:acme:h-less", swap(/,\["r2".*\]\]/, "]")),
    /h-less: paid and refunded of sub_account is 1800, and 2000/,
    /h-less: paid and refunded of account is 100, and 600/,
    /h-less: its refunds .* are not those of its journal/,
  ],
  [
    "another debt",
    text("hold:globex:h1", more(17, 1)),
    /hold:globex:h1: debt is 281, and 280 by its journal/,
  ],
  [
    "other metadata",
    text("hold:acme:h-less", swap(/m$/, "n")),
    /h-less: its metadata is not that of its journal/,
  ],
  [
    "other items",
    text("hold:acme:h-less", swap('"m",3000', '"m",2999')),
    /h-less: its items are not those of its journal/,
  ],
  [
    "ended and open again",
    text("hold:acme:h-void", swap("voided", "open")),
    /h-void: open, and ends by itself/,
    /h-void: open, and already charged/,
    /h-void: open, and has ended by its journal/,
    /h-void: open, and due:14 hold acme h-void is missing/,
    /purse:app: 200 held, and its open holds hold 240/,
    /purse:app: 1 in flight, and 2 open holds/,
    /^tenant:acme: 2 open, and 3 open holds/,
    /: 10 were reserved, 3 are open and 8/,
  ],
];
