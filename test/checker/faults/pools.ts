// Faults of pools and their credentials: what is planted, how, and all that the checker says of it.
import { type Fault, more, type Planter, swap } from "./plant.ts";

const POOL = "pool:openai:default";
const VIP = "pool:openai:vip";
const field = (name: string, id: string, change: (text: string) => string) => (p: Planter) =>
  p.field(name, id, change);
const put = (name: string, id: string, text: string) => (p: Planter) => p.raw.hset(p.key(name), id, text);

export const POOLS: Fault[] = [
  [
    "a unit too many",
    field(POOL, "@pool", more(5, 1)),
    /default: in_flight is 2, and 1 by its credentials/,
    /13 were granted, and 14 are held/,
  ],
  [
    "a credential with a unit too many",
    field(POOL, "c1", more(4, 1)),
    /default c1: 1 in flight, and 0 leases are held/,
    /in_flight is 1, and 2 by/,
  ],
  [
    "capacity out of nothing",
    field(POOL, "@pool", more(4, 1)),
    /default: capacity is 8, and 7 by its credentials/,
  ],
  ["a member too many", field(POOL, "@pool", more(3, 1)), /default: members is 5, and 4 by its credentials/],
  [
    "a grant that is not counted",
    field(POOL, "@pool", more(6, -1)),
    /12 were granted, and 13 are held or have ended/,
  ],
  ["a counter below 0", field(POOL, "@pool", more(9, -1)), /default: blocked is below 0/],
  [
    "a change beside the journal",
    field(POOL, "@pool", more(2, 1)),
    /default: its sequence number is 12, that of its last entry 11/,
  ],
  ["an entry lost", (p) => p.moveEntry("journal:11", POOL, 3), /^pool:openai:default: entry 3 is missing/],
  [
    "a revoked fence from the future",
    field(POOL, "c3", more(5, 99)),
    /default c3: a fence above that of its pool/,
  ],
  ["a fence that was not granted", field(VIP, "@pool", more(1, -1)), /vip: a lease has a fence above/],
  [
    "a probe that never comes back",
    field(VIP, "@breaker", more(4, 1)),
    /vip: 2 probes are out, and 1 leases are probes/,
  ],
  [
    "a state in tatters",
    field(POOL, "c3", swap("disabled", "asleep")),
    /default c3: a state that cannot be read/,
    /capacity is 7, and 6/,
  ],
  ["a number that cannot be", field(POOL, "c3", more(6, -1)), /c3: a number that cannot be/],
  ["limits in tatters", field(POOL, "@limits", swap("auto", "never")), /default: @limits cannot be read/],
  ["a field of no kind", put(POOL, "@mood", "1"), /default @mood: a field that is not known/],
  [
    "a pool that is not listed",
    (p) => p.drop("index:pools", "openai:vip"),
    /index:pools: openai:vip is not listed/,
  ],
  ["a pool that is only listed", put("index:pools", "x:y", "1"), /index:pools: x:y is listed, and not there/],
  [
    "a pool made at another time",
    field("index:pools", "openai:vip", more(0, 1)),
    /index:pools: openai:vip was made at \d+, or at/,
  ],
  ["a pool in tatters", field(POOL, "@pool", swap("1 ", "2 ")), /default: @pool cannot be read/],
  ["a breaker in tatters", field(VIP, "@breaker", swap("1 ", "2 ")), /vip: @breaker cannot be read/],
  [
    "a breaker from the future",
    field(VIP, "@breaker", more(3, 99)),
    /vip: @breaker has a fence above/,
    /vip: 1 probes are out, and 0/,
  ],
  ["health in tatters", field(POOL, "@health", swap("{", "")), /default: @health cannot be read/],
];

export const CREDENTIALS: Fault[] = [
  [
    "a credential without a configuration",
    (p) => p.drop(`${POOL}:config`, "c1"),
    /default:config: nothing of c1/,
  ],
  [
    "a credential without a secret",
    (p) => p.drop(`${POOL}:secrets`, "c1"),
    /default:secrets: nothing of c1/,
    /fp:print-of-c1: says default 1, and must say nothing/,
  ],
  [
    "a secret of nobody",
    put(`${POOL}:secrets`, "c9", "p k1.x"),
    /secrets: c9 is not a credential of its pool/,
  ],
  [
    "a secret in the clear",
    field(`${POOL}:secrets`, "c1", swap("k1.c1", "sk-123")),
    /secrets: what it has of c1 cannot be read/,
  ],
  [
    "a configuration in tatters",
    field(`${POOL}:config`, "c1", swap("{", "")),
    /config: what it has of c1 cannot be read/,
  ],
  [
    "a credential in another pool too",
    field("provider:openai", "id:c1", swap("default", "vip")),
    /id:c1: says vip, and must say default/,
  ],
  [
    "a secret that is used once more",
    field("provider:openai", "fp:print-of-c2", swap("2", "3")),
    /fp:print-of-c2: says default 3, and must say default 2/,
  ],
  [
    "a registry that forgets",
    (p) => p.drop("provider:openai", "id:v1"),
    /id:v1: says nothing, and must say vip/,
  ],
  [
    "parts of a pool that is not there",
    put("pool:x:y:config", "c", "{}"),
    /pool:x:y:config: its pool is not there/,
  ],
];
