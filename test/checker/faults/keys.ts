// Faults of leases, and of keys as such: what is planted, how, and all that the checker says of it.
import { type Fault, more, type Planter, swap } from "./plant.ts";

const POOL = "pool:openai:default";
const memberOf = async (p: Planter, lease: string) => {
  const members = await p.raw.zrange(p.key(`${POOL}:leases`), "0", "-1");
  return members.find((member) => member.endsWith(` ${lease}`)) ?? "";
};

export const LEASES: Fault[] = [
  [
    "a member lost",
    async (p) => p.dropMember(`${POOL}:leases`, await memberOf(p, "n3")),
    /c2: 1 in flight, and 0 leases are held/,
  ],
  ["a member without a record", (p) => p.drop("lease:n3"), /leases c2 \d+ n3: it has no record/],
  [
    "a member of what was released",
    (p) => p.text("lease:n3", swap("held", "released")),
    /n3: its record says that it was released/,
  ],
  ["a member of another grant", (p) => p.text("lease:n3", swap(" c2 ", " c1 ")), /n3: it has no record/],
  [
    "a lease that lasts too long",
    (p) => p.text("lease:n3", more(4, -3_599_000)),
    /n3: it ends later than it may/,
  ],
  [
    "a member in tatters",
    async (p) => p.raw.zadd(p.key(`${POOL}:leases`), 1, "c2 n9"),
    /leases: c2 n9 at 1 cannot be read/,
  ],
  [
    "two leases of one fence",
    async (p) => p.raw.zadd(p.key(`${POOL}:leases`), 1, (await memberOf(p, "n3")).replace("n3", "n9")),
    /default: two leases have one fence/,
    /c2: 1 in flight, and 2 leases are held/,
  ],
  [
    "a record for ever",
    async (p) => p.raw.persist(p.key("lease:n3")),
    /lease:n3: does not end by itself, and must/,
  ],
  [
    "a record that ends before its lease",
    async (p) => p.raw.pexpire(p.key("lease:n3"), 60_000),
    /lease:n3: its record ends before the lease may/,
  ],
  [
    "a record in tatters",
    (p) => p.text("lease:n0", swap("held", "lost")),
    /lease:n0: a lease's record that cannot be read/,
  ],
  [
    "a lease of no pool",
    (p) => p.text("lease:n0", swap("default", "nowhere")),
    /lease:n0: its pool is not there/,
  ],
  [
    "a record from the future",
    (p) => p.text("lease:n0", more(3, 99)),
    /lease:n0: a fence above that of its pool/,
  ],
  [
    "held leases that nobody took back",
    async (p) => {
      const [l3] = await p.raw.mget(p.key("lease:l3"));
      for (let i = 0; i < 9; i++) await p.raw.set(p.key(`lease:x${i}`), l3 ?? "", "PX", 9_999_999);
    },
    /default: \d+ held leases are not in its set, and fewer were taken back/,
  ],
  [
    "a lease that ends before it begins",
    (p) => p.text("lease:n0", more(6, 9_999_999)),
    /lease:n0: ends before it is granted/,
  ],
];

export const KEYS: Fault[] = [
  ["a key of no pattern", (p) => p.raw.set(p.key("surprise"), "1"), /^surprise: a key that no pattern knows/],
  [
    "a shard too many",
    async (p) => p.raw.zadd(p.key("due:16"), 1, "x"),
    /^due:16: a key that no pattern knows/,
  ],
  ["a key of another type", (p) => p.raw.set(p.key("due:5"), "1"), /^due:5: a string, and must be a zset/],
  [
    "a tenant that ends by itself",
    async (p) => p.raw.pexpire(p.key("tenant:gone"), 99_999),
    /^tenant:gone: ends by itself, and must not/,
  ],
  [
    "a holding of nobody",
    (p) => p.raw.set(p.key("op:nobody:g1"), "1 x 1 1 0", "PX", 99_999),
    /op:nobody:g1: its tenant is not there/,
    /op:nobody:g1: done, and no entry/,
  ],
  [
    "digits lost in a purse",
    (p) => p.field("tenant:rich", "account", swap(/ \d{16} /, " 1e+15 ")),
    /^tenant:rich: a number that has lost digits, 1e\+15/,
    /rich account: a purse that cannot be read/,
  ],
  [
    "digits lost in an entry",
    (p) => p.entry("journal:10", "tenant:rich", 5, "detail", swap('"note":{}', '"note":{"n":1.5e+15}')),
    /^journal:10: a number that has lost digits, 1\.5e\+15/,
  ],
  [
    "digits lost in a hold",
    (p) => p.text("hold:rich:h2", swap('["m",4503599627370496', '["m",4.5035996273705e+15')),
    /^hold:rich:h2: a number that has lost digits/,
    /rich:h2: it holds less than/,
  ],
  [
    "another cell's meta",
    (p) => p.raw.hset(p.key("meta"), { cell: "other", epoch: 1, format: 1, shards: 16 }),
    /meta: says other 1 16, and must say test 1 16/,
  ],
  [
    "a meta without an epoch",
    (p) => p.raw.hset(p.key("meta"), { cell: "test", format: 1, shards: 16 }),
    /meta: has no epoch/,
  ],
];
