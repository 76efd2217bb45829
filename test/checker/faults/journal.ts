// Faults of the journal: what is planted, how, and all that the checker says of it.
import { type Fault, more, type Planter, swap } from "./plant.ts";

const ACME = "tenant:acme";
const JOURNAL = "journal:14";
const entry = (seq: number, field: string, change: (text: string) => string) => (p: Planter) =>
  p.entry(JOURNAL, ACME, seq, field, change);
const field = (name: string, change: (text: string) => string) => (p: Planter) => p.field(ACME, name, change);

export const JOURNALS: Fault[] = [
  ["an entry lost", (p) => p.moveEntry(JOURNAL, ACME, 12), /^tenant:acme: entry 12 is missing/],
  [
    "the last entry lost",
    (p) => p.moveEntry("journal:15", "tenant:globex", 12),
    /globex: its sequence number is 12, that of its last entry 11/,
  ],
  [
    "an entry twice",
    (p) => p.moveEntry(JOURNAL, ACME, 12, JOURNAL, true),
    /^entry 12 of tenant:acme: there twice/,
  ],
  [
    "an entry in another shard",
    (p) => p.moveEntry(JOURNAL, ACME, 28, "journal:3"),
    /28 of tenant:acme: in journal:3, not in journal:14/,
  ],
  [
    "a change beside the journal",
    field("state", more(1, 1)),
    /acme: its sequence number is 29, that of its last entry 28/,
  ],
  [
    "an entry without a field",
    async (p) => p.raw.xadd(p.key(JOURNAL), "*", "kind", "adjust"),
    /its fields are not those of an entry/,
  ],
  [
    "an entry of no kind",
    entry(12, "kind", swap("token", "gift")),
    /gift is no kind of entry of tenant:acme/,
  ],
  [
    "an entry in tatters",
    entry(12, "purses", swap("[]", "[")),
    /its purses cannot be read/,
    /entry 12 is missing/,
  ],
  [
    "what an entry leaves is not what it changes",
    entry(19, "purses", swap(",1900,2000,", ",1900,2001,")),
    /entry 19 of tenant:acme, purse:app: its amounts do not balance/,
    /op:acme:g5: answered 1900 2000 0, and entry 19/,
  ],
  [
    "an entry that does not go on from the last",
    entry(22, "purses", swap("500,0,0,0,998600,300,1100", "500,0,0,0,998599,300,1101")),
    /entry 22 .*account: spent is 1101, and 600 before and a change make 1100/,
    /entry 23 .*account: spent is 1000, and 1101 before and a change make 1001/,
  ],
  [
    "an amount that did not move",
    entry(22, "amount", more(0, 1)),
    /entry 22 .*: its amount is 501, and what moved is 500/,
  ],
  [
    "an adjust of another amount",
    entry(19, "amount", more(0, 1)),
    /entry 19 .*: its amount is 1901, and what moved is 1900/,
    /op:acme:g5: answered 1900 2000 0, and entry 19/,
  ],
  [
    "a void with an amount",
    entry(28, "amount", more(0, 1)),
    /entry 28 .*: its amount is 1, and/,
    /entry 28 .*: a void that charges/,
  ],
  [
    "a change of another's purse",
    entry(28, "purses", swap("purse:app", "purse:dept")),
    /entry 28 .*: purse:dept is not its to change/,
    /entry 28 of tenant:acme, purse:dept: spent is 6700, and 0 before/,
    /entry 28 of tenant:acme, purse:dept: funded is 6900, and 0 before/,
    /acme purse:dept: spent is 0, and 6700 by its journal/,
    /acme purse:dept: funded is 0, and 6900 by its journal/,
  ],
  [
    "a purse removed that is not empty",
    entry(16, "purses", swap("-450,0,0,-700,0,0,0,0,0,0", "-450,0,0,-699,1,0,0,0,0,1")),
    /entry 16 .*purse:old: removed, and not empty/,
    /entry 18 .*purse:old: funded is 50, and 1 before/,
  ],
  [
    "a token that costs",
    entry(12, "purses", swap("[]", '[["account",1,0,0,0,999499,0,501,0,0,1000000]]')),
    /entry 12 .*account: token does not change what is spent/,
    /entry 12 .*account: spent/,
    /entry 1[34] .*account: spent/,
  ],
  [
    "a purse twice in an entry",
    entry(28, "purses", swap(/\[(.*)\]/, "[$1,$1]")),
    /entry 28 .*: a purse twice/,
  ],
  [
    "an adjust of two purses",
    entry(19, "purses", swap("[[", '[["account",0,0,0,0,1000000,0,0,0,0,1000000],[')),
    /entry 19 .*: adjusts more than one purse/,
    /op:acme:g5: answered/,
  ],
  [
    "two entries lost",
    async (p) => {
      await p.moveEntry(JOURNAL, ACME, 11);
      await p.moveEntry(JOURNAL, ACME, 12);
    },
    /^tenant:acme: entries 11 to 12 are missing/,
  ],
];
