// The records of leases and the members of their pools' sets: each held lease has both, and they agree.
import type { Hold } from "./holds.ts";
import type { Key } from "./keys.ts";
import type { Member, Pool } from "./pools.ts";
import type { Report } from "./words.ts";

interface Lease {
  name: string;
  id: string;
  home: string;
  credential: string;
  fence: bigint;
  max_expires_at_ms: bigint;
  held: boolean;
  granted_at_ms: bigint;
  /** Of a call. */
  expires_at_ms?: bigint;
}

function leaseOf({ name, ids: [id = ""], end_ms, value }: Key<"string">, report: Report): Lease | undefined {
  const match = /^1 (\S+:\S+) (\S+) (\d+) (\d+) (held|released) (\d+) \S+ \S*$/.exec(value);
  if (!match) {
    report(`${name}: a lease's record that cannot be read`);
    return undefined;
  }
  const [, home = "", credential = "", fence = "", max = "", state, granted = ""] = match;
  const held = state === "held";
  if (held && end_ms !== -1 && BigInt(end_ms) < BigInt(max))
    report(`${name}: its record ends before the lease may`);
  const [max_expires_at_ms, granted_at_ms] = [BigInt(max), BigInt(granted)];
  if (max_expires_at_ms < granted_at_ms) report(`${name}: ends before it is granted`);
  return { name, id, home, credential, fence: BigInt(fence), max_expires_at_ms, held, granted_at_ms };
}

/** A call's lease is in the record of its hold: held while that is open, and nobody's any more once it has ended. */
const callsOf = (holds: Hold[]): Lease[] =>
  holds.flatMap(({ name, tenant, hold, home, lease, state }) =>
    lease ? [{ name, id: `${tenant}~${hold}`, home, ...lease, held: state === "open" }] : [],
  );

const memberOf = ({ credential, fence, lease }: Member) => `${credential} ${fence} ${lease}`;

/** A member outlives its record only when it is long overdue and was not yet reclaimed. */
function checkMember(
  pool: Pool,
  member: Member,
  lease: Lease | undefined,
  now_ms: bigint | undefined,
  report: Report,
) {
  const fail = (what: string) => report(`pool:${pool.home}:leases ${memberOf(member)}: ${what}`);
  const { credential, fence, expires_at_ms } = member;
  if (lease && lease.home === pool.home && lease.credential === credential && lease.fence === fence) {
    if (!lease.held) fail("its record says that it was released");
    if (expires_at_ms > lease.max_expires_at_ms) fail("it ends later than it may");
    return;
  }
  const gone_at_ms = lease?.granted_at_ms ?? now_ms;
  if (gone_at_ms !== undefined && expires_at_ms > gone_at_ms) fail("it has no record");
}

/** The record and the member of a call's lease end together. An ended call may have left a member whose term goes on. */
function checkCall(pool: Pool, member: Member, call: Lease, report: Report) {
  const fail = (what: string) => report(`pool:${pool.home}:leases ${memberOf(member)}: ${what}`);
  if (member.expires_at_ms !== call.expires_at_ms)
    fail(`it ends at ${member.expires_at_ms}, and at ${call.expires_at_ms} by its call`);
  if (member.expires_at_ms > call.max_expires_at_ms) fail("it ends later than it may");
}

/** A held lease whose member is gone was reclaimed, and its unit was counted then or when it was revoked. */
function checkReclaimed(pool: Pool, leases: Lease[], report: Report) {
  const present = new Set(pool.members.map(memberOf));
  const held = leases.filter(({ held }) => held);
  const missing = held.filter(
    ({ id, ...lease }) => !present.has(memberOf({ ...lease, lease: id, expires_at_ms: 0n })),
  );
  const { reclaimed = 0n, revoked = 0n } = pool.own ?? {};
  if (pool.own && BigInt(missing.length) > reclaimed + revoked)
    report(`pool:${pool.home}: ${missing.length} held leases are not in its set, and fewer were taken back`);
  for (const { name, fence } of leases)
    if (pool.own && fence > pool.own.fence) report(`${name}: a fence above that of its pool`);
}

export function checkLeases(
  keys: Key<"string">[],
  holds: Hold[],
  pools: Map<string, Pool>,
  now_ms: bigint | undefined,
  report: Report,
) {
  const leases = new Map<string, Lease>();
  for (const key of keys) {
    const lease = leaseOf(key, report);
    if (!lease) continue;
    leases.set(lease.id, lease);
    if (lease.held && !pools.has(lease.home)) report(`${lease.name}: its pool is not there`);
  }
  const calls = callsOf(holds);
  const byMember = new Map(
    calls.map((call) => [memberOf({ ...call, lease: call.id, expires_at_ms: 0n }), call]),
  );
  for (const pool of pools.values()) {
    for (const member of pool.members) {
      const call = byMember.get(memberOf(member));
      if (call?.home === pool.home) checkCall(pool, member, call, report);
      else checkMember(pool, member, leases.get(member.lease), now_ms, report);
    }
    const own = [...leases.values(), ...calls].filter(({ home }) => home === pool.home);
    checkReclaimed(pool, own, report);
  }
}
