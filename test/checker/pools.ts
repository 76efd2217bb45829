// A pool's hash: its credentials and the sums over them, its breaker, its settings; and that each has what belongs to it.

import { z } from "zod";
import { checkLast, type Entry } from "./entries.ts";
import type { Key } from "./keys.ts";
import { integerOf, jsonOf, numbersOf, type Report, sum } from "./words.ts";

const OWN = [
  ...(["fence", "seq", "members", "capacity", "in_flight", "granted", "refused", "reserved"] as const),
  ...(["blocked", "lost", "released", "reclaimed", "revoked"] as const),
];
const BREAKER = ["failures", "open_until_ms", "open_fence", "out", "trips"] as const;
const NUMBERS = [
  ...(["until_ms", "capacity", "in_flight", "revoked_fence", "used_at_ms", "benched_fence"] as const),
  ...(["errors", "success", "limited_at_ms", "verified_at_ms"] as const),
];
const STATUS = "pending|available|rate_limited|cooling|exhausted|auth_failed|disabled";
const STATE = new RegExp(`^1 (?:${STATUS}) (.*)$`);
const LIMITS = /^1 \d+ \d+ \d+ (auto|open|closed) (opportunistic|probe)$/;

export interface Member {
  credential: string;
  fence: bigint;
  lease: string;
  expires_at_ms: bigint;
}
export interface Pool {
  provider: string;
  name: string;
  /** `<provider>:<pool>` */
  home: string;
  own: Record<(typeof OWN)[number], bigint> | undefined;
  breaker: Record<(typeof BREAKER)[number], bigint> | undefined;
  made: string | undefined;
  /** undefined: it cannot be read. */
  credentials: Map<string, Record<(typeof NUMBERS)[number], bigint> | undefined>;
  members: Member[];
}

export function membersOf({ name, value }: Key<"zset">, report: Report): Member[] {
  return [...value].flatMap(([member, at_ms]) => {
    const [, credential = "", fence = "", lease = ""] = /^(\S+) (\d+) (\S+)$/.exec(member) ?? [];
    const expires_at_ms = integerOf(at_ms);
    if (!lease || expires_at_ms === undefined) {
      report(`${name}: ${member} at ${at_ms} cannot be read`);
      return [];
    }
    return [{ credential, fence: BigInt(fence), lease, expires_at_ms }];
  });
}

export function poolOf({ name, ids, value }: Key<"hash">, members: Member[], report: Report): Pool {
  const [provider = "", pool = ""] = ids;
  const credentials: Pool["credentials"] = new Map();
  for (const [id, text] of value) {
    if (id.startsWith("@")) {
      if (!["@pool", "@breaker", "@limits", "@health", "@made"].includes(id))
        report(`${name} ${id}: a field that is not known`);
      continue;
    }
    const state = numbersOf(`1 ${STATE.exec(text)?.[1]}`, NUMBERS);
    if (!state) report(`${name} ${id}: a state that cannot be read`);
    credentials.set(id, state);
  }
  const own = numbersOf(value.get("@pool"), OWN);
  const none = "1 0 0 0 0 0";
  const breaker = numbersOf(value.get("@breaker") ?? none, BREAKER);
  if (!own) report(`${name}: @pool cannot be read`);
  if (!breaker) report(`${name}: @breaker cannot be read`);
  if (!LIMITS.test(value.get("@limits") ?? "")) report(`${name}: @limits cannot be read`);
  if (!jsonOf<unknown>(value.get("@health"), z.looseObject({}))) report(`${name}: @health cannot be read`);
  const made = value.get("@made");
  return { provider, name: pool, home: `${provider}:${pool}`, own, breaker, made, credentials, members };
}

/** The members that count: of a credential that is there, with a fence above its revoked_fence. */
function checkCredentials(where: string, pool: Pool, report: Report) {
  for (const [id, state] of pool.credentials) {
    if (!state) continue;
    const counted = pool.members.filter(
      ({ credential, fence }) => credential === id && fence > state.revoked_fence,
    );
    if (state.in_flight !== BigInt(counted.length))
      report(`${where} ${id}: ${state.in_flight} in flight, and ${counted.length} leases are held`);
    const { success, ...rest } = state;
    if (success < -1n || success > 1000n || Object.values(rest).some((n) => n < 0n))
      report(`${where} ${id}: a number that cannot be`);
    if (pool.own && (state.revoked_fence > pool.own.fence || state.benched_fence > pool.own.fence))
      report(`${where} ${id}: a fence above that of its pool`);
  }
}

function checkSums(where: string, { own, credentials }: Pool, report: Report) {
  if (!own) return;
  const states = [...credentials.values()].flatMap((state) => state ?? []);
  const sums = {
    members: BigInt(credentials.size),
    capacity: sum(states.map(({ capacity }) => capacity)),
    in_flight: sum(states.map(({ in_flight }) => in_flight)),
  };
  for (const name of ["members", "capacity", "in_flight"] as const)
    if (own[name] !== sums[name])
      report(`${where}: ${name} is ${own[name]}, and ${sums[name]} by its credentials`);
  for (const name of OWN) if (own[name] < 0n) report(`${where}: ${name} is below 0`);
  const ended = own.in_flight + own.released + own.reclaimed + own.revoked;
  if (own.granted !== ended)
    report(`${where}: ${own.granted} were granted, and ${ended} are held or have ended`);
}

function checkBreaker(where: string, { breaker, members, own }: Pool, report: Report) {
  if (!breaker) return;
  const { open_until_ms, open_fence, out } = breaker;
  const probes = open_until_ms > 0n ? members.filter(({ fence }) => fence > open_fence).length : 0;
  if (out !== BigInt(probes)) report(`${where}: ${out} probes are out, and ${probes} leases are probes`);
  if (own && open_fence > own.fence) report(`${where}: @breaker has a fence above that of its pool`);
}

export function checkPool(pool: Pool, entries: Entry[], report: Report) {
  const where = `pool:${pool.home}`;
  if (pool.own) checkLast(where, pool.own.seq, entries, report);
  checkCredentials(where, pool, report);
  checkSums(where, pool, report);
  checkBreaker(where, pool, report);
  const fences = pool.members.map(({ fence }) => fence);
  if (new Set(fences).size !== fences.length) report(`${where}: two leases have one fence`);
  if (pool.own && fences.some((fence) => fence > (pool.own?.fence ?? 0n)))
    report(`${where}: a lease has a fence above that of its pool`);
}
