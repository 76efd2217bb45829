// Faults of purses and tenants: what is planted, how, and all that the checker says of it.
import { type Fault, more, type Planter, swap } from "./plant.ts";

const ACME = "tenant:acme";
const field = (name: string, change: (text: string) => string) => (p: Planter) => p.field(ACME, name, change);
const SHA = "a".repeat(64);

export const PURSES: Fault[] = [
  [
    "an amount out of nothing",
    field("account", more(1, 1)),
    /^tenant:acme account: available \+ .* is 1000001, and 1000000 was funded/,
  ],
  [
    "an amount below 0",
    async (p) => {
      await p.field(ACME, "purse:dept", more(1, -7));
      await p.field(ACME, "purse:dept", more(4, 7));
    },
    /purse:dept: available is -7, not within 0 and 2\^53-1/,
    /purse:dept: lapsed is 7, and 0 by its journal/,
  ],
  [
    "an amount above 2^53-1",
    async (p) => {
      await p.field(ACME, "account", more(4, 2n ** 53n));
      await p.field(ACME, "account", more(6, 2n ** 53n));
    },
    /account: lapsed is 9007199254740992, not within/,
    /account: funded is \d+, not within/,
    /account: lapsed is \d+, and 0 by its journal/,
    /account: funded is \d+, and 1000000 by its journal/,
  ],
  [
    "something available beside a debt",
    async (p) => {
      await p.field("tenant:globex", "purse:poor", more(1, 3));
      await p.field("tenant:globex", "purse:poor", more(5, 3));
    },
    /globex purse:poor: has something available, and a debt/,
    /globex purse:poor: debt is 198, and 195 by its journal/,
  ],
  [
    "a debt of the account",
    async (p) => {
      await p.field("tenant:rich", "account", more(3, 1));
      await p.field("tenant:rich", "account", more(5, 1));
    },
    /rich account: an account has no debt/,
    /rich account: has something available, and a debt/,
    /rich account: spent is \d+, and 999999999999999 by its journal/,
    /rich account: debt is 1, and 0 by its journal/,
  ],
  [
    "more held than the open holds hold",
    async (p) => {
      await p.field(ACME, "account", more(1, -5));
      await p.field(ACME, "account", more(2, 5));
    },
    /account: 4605 held, and its open holds hold 4600/,
  ],
  [
    "spent without an entry",
    async (p) => {
      await p.field(ACME, "account", more(1, -5));
      await p.field(ACME, "account", more(3, 5));
    },
    /account: spent is 635, and 630 by its journal/,
  ],
  ["in flight without a hold", field("purse:app", more(8, 1)), /purse:app: 2 in flight, and 1 open holds/],
  [
    "borrowed and not drawn",
    field("purse:dept", more(7, 1)),
    /purse:dept: has borrowed 131, and 130 by its journal and its holds/,
  ],
  [
    "made in the future",
    field("purse:dept", more(9, 99)),
    /dept: made by a change that has not been/,
    /dept: has b/,
  ],
  ["a purse in tatters", field("purse:dept", swap("1 0", "1 x")), /purse:dept: a purse that cannot be read/],
  ["a purse that is gone", (p) => p.drop(ACME, "purse:dept"), /^tenant:acme: dept has no purse/],
];

export const TENANTS: Fault[] = [
  ["open counts one more", field("state", more(3, 1)), /^tenant:acme: 3 open, and 2 open holds/],
  ["subs counts one less", field("state", more(2, -1)), /^tenant:acme: has 2 sub-accounts, and 3 are listed/],
  ["reserved counts one more", field("state", more(4, 1)), /: 11 were reserved, 2 are open and 8 have ended/],
  ["a state in tatters", field("state", swap("1 ", "2 ")), /^tenant:acme: no state that can be read/],
  [
    "a sub-account not listed",
    (p) => p.dropMember(`${ACME}:subs`, "dept"),
    /dept is not in the list/,
    /2 are listed/,
  ],
  ["a sub-account without terms", (p) => p.drop(ACME, "sub:dept"), /^tenant:acme: dept has no terms/],
  ["terms in tatters", field("sub:dept", swap("{", "")), /sub:dept: has no status/],
  [
    "a field of no kind",
    (p) => p.raw.hset(p.key(ACME), "limit:x", "1"),
    /limit:x: a field that is not known/,
  ],
  [
    "a token that opens nothing",
    (p) => p.drop(ACME, `token:${SHA}`),
    /token t1 is of app, and opens nothing/,
  ],
  [
    "a token that opens another",
    field(`token:${SHA}`, swap("app", "dept")),
    /token t1 is of app, and opens dept/,
  ],
  [
    "a token that is in no list",
    field("tokens:app", swap(/\nt1 .*/, "")),
    /a token opens app, and is in no list/,
  ],
  ["two tokens of one name", field("tokens:app", swap(/ t4$/, " t1")), /two tokens of app have one name/],
  [
    "a removed tenant that keeps a purse",
    (p) => p.raw.hset(p.key("tenant:gone"), "account", "1 0 0 0 0 0 0 0 0 1"),
    /tenant:gone: no config, and more than its state/,
  ],
  [
    "a tenant that is not listed",
    (p) => p.dropMember("index:tenants", "acme"),
    /index:tenants: acme is not listed/,
  ],
  [
    "a tenant that is only listed",
    (p) => p.raw.zadd(p.key("index:tenants"), 0, "gone"),
    /gone is listed, and not there/,
  ],
  [
    "a tenant that is gone without a trace",
    (p) => p.drop("tenant:gone"),
    /^hold:gone:h: its tenant is not there/,
    /^op:gone:g1: its tenant is not there/,
    /^op:gone:g2: its tenant is not there/,
    /^tenant:gone: has entries, and is not there/,
  ],
  [
    "a tenant listed elsewhere",
    (p) => p.raw.zadd(p.key("index:tenants"), 3, "acme"),
    /index:tenants: acme is listed with 3/,
  ],
  [
    "a sub-account listed elsewhere",
    (p) => p.raw.zadd(p.key(`${ACME}:subs`), 3, "app"),
    /^tenant:acme: app is listed with 3/,
  ],
  ["a list of tokens in tatters", field("tokens:app", swap("1", "2")), /tokens:app: cannot be read/],
  ["a token in tatters", field("tokens:app", (text) => `${text}\nt9`), /tokens:app: a line that is no token/],
  ["two tokens of one id", field("tokens:app", swap("t4 d", "t1 d")), /two tokens of app have one id/],
  [
    "tokens of no sub-account",
    (p) => p.raw.hset(p.key(ACME), "tokens:x", "1"),
    /tokens of x, which is no sub-account/,
  ],
  ["a tenant without an account", (p) => p.drop("tenant:phoenix", "account"), /tenant:phoenix: no account/],
];
