// What must be true of the raw keys after every step: what they hold, field by field, is what the model says.
import assert from "node:assert/strict";
import type { Lease, Model, Pool } from "./model.ts";
import { POOLS, type PoolName } from "./operations.ts";
import { homeOfPool, type Member, type RawPool, type View } from "./view.ts";

type Numbers = Record<string, number>;

/** A packed value: its words by name, without the version; numbers as numbers. */
function unpack(text: string | undefined, names: string): Record<string, string | number> {
  const [version, ...words] = (text ?? "").split(" ");
  assert.equal(version, "1");
  const fields = names.split(" ");
  assert.equal(words.length, fields.length);
  return Object.fromEntries(
    fields.map((name, i) => [name, name === "status" ? (words[i] ?? "") : Number(words[i])]),
  );
}

const OWN =
  "fence seq members capacity in_flight granted refused reserved blocked lost released reclaimed revoked";
const BREAKER = "failures open_until_ms open_fence out trips";
const STATE =
  "status until_ms capacity in_flight revoked_fence used_at_ms benched_fence errors success limited_at_ms verified_at_ms";

const keyOf = (credential: string, fence: number, lease: string) => `${credential} ${fence} ${lease}`;
const outThere = ({ state }: Lease) => state === "held" || state === "revoked";

/** The set holds every lease that is not over, with its end, and none that was released or undone. */
function checkMembers(model: Model, pool: PoolName, members: readonly Member[]): Map<Member, Lease> {
  const own = model.leases.filter((lease) => lease.pool === pool && outThere(lease));
  const byKey = new Map(own.map((lease) => [keyOf(lease.credential, lease.fence, lease.id), lease]));
  const known = new Map<Member, Lease>();
  for (const member of members) {
    const lease = byKey.get(keyOf(member.credential, member.fence, member.lease));
    assert(lease, `a member that is no lease: ${JSON.stringify(member)}`);
    assert.equal(member.expires_at_ms, lease.expires_at_ms, `the end of ${lease.id}`);
    known.set(member, lease);
  }
  const present = new Set(known.values());
  const missing = own.filter((lease) => lease.expires_at_ms > model.now_ms && !present.has(lease));
  assert.deepEqual(missing, [], "leases that the set has lost");
  return known;
}

/** Units by credential, as the set and the revoked fences have them; they must be those of leases that are held. */
function unitsOf({ hash }: RawPool, leases: Map<Member, Lease>): Numbers {
  const units: Numbers = {};
  for (const [{ credential, fence }, lease] of leases) {
    const text = hash[credential];
    const counts = text !== undefined && fence > Number(unpack(text, STATE).revoked_fence);
    assert.equal(counts, lease.state === "held", `${lease.id} counts only while it is held`);
    if (counts) units[credential] = (units[credential] ?? 0) + 1;
  }
  return units;
}

function checkBreaker(model: Model, pool: Pool, text: string | undefined, leases: Map<Member, Lease>) {
  const { failures, open_until_ms, trips } = pool.breaker;
  const found = unpack(text ?? "1 0 0 0 0 0", BREAKER);
  const probes = [...leases].filter(([, lease]) => model.isProbe(lease, pool.breaker));
  assert.deepEqual(
    { ...found, open_fence: 0 },
    { failures, open_until_ms, open_fence: 0, out: probes.length, trips },
  );
  const above = [...leases.keys()].filter(
    ({ fence }) => open_until_ms > 0 && fence > Number(found.open_fence),
  );
  assert.equal(above.length, probes.length, "probes are the leases above open_fence");
}

function expectedOwn(pool: Pool, units: Numbers): Numbers {
  const in_flight = Object.values(units).reduce((sum, n) => sum + n, 0);
  const { granted, released, revoked } = pool.happened;
  return {
    fence: pool.last_fence,
    seq: pool.changes,
    members: pool.credentials.size,
    capacity: pool.capacity,
    in_flight,
    ...pool.happened,
    reclaimed: granted - in_flight - released - revoked, // every unit ends in one way
  };
}

function checkCredentials(pool: Pool, hash: RawPool["hash"], units: Numbers) {
  const ids = Object.keys(hash).filter((field) => !field.startsWith("@"));
  assert.deepEqual(ids.sort(), [...pool.credentials.keys()].sort());
  for (const [id, credential] of pool.credentials) {
    const { revoked_fence, benched_fence, ...found } = unpack(hash[id], STATE);
    assert(Number(revoked_fence) <= pool.last_fence && Number(benched_fence) <= pool.last_fence);
    const { config, print, seal, benched_step, ...state } = credential;
    assert.deepEqual(found, { ...state, in_flight: units[id] ?? 0, verified_at_ms: 0 }, `the state of ${id}`);
  }
}

function checkPool(model: Model, pool: Pool, raw: RawPool) {
  if (!pool.made) {
    assert.deepEqual(raw, { hash: {}, members: [], config: {}, secrets: {} });
    return;
  }
  const leases = checkMembers(model, pool.name, raw.members);
  const units = unitsOf(raw, leases);
  const { hash, config, secrets } = raw;
  assert.deepEqual(unpack(hash["@pool"], OWN), expectedOwn(pool, units));
  checkCredentials(pool, hash, units);
  checkBreaker(model, pool, hash["@breaker"], leases);
  const own = [...pool.credentials];
  const settings = pool.settings_text ? { "@settings": pool.settings_text } : {};
  assert.deepEqual(
    { limits: hash["@limits"], health: hash["@health"], made: hash["@made"], config, secrets },
    {
      limits: pool.limits,
      health: pool.health,
      made: String(pool.made_at_ms),
      config: { ...Object.fromEntries(own.map(([id, c]) => [id, c.config])), ...settings },
      secrets: Object.fromEntries(own.map(([id, { print, seal }]) => [id, `${print} ${seal}`])),
    },
  );
}

/** Each credential and each secret is in one pool, and the registry knows which. */
function expectedRegistry(model: Model): Record<string, string> {
  const registry: Record<string, string> = {};
  const uses: Numbers = {};
  for (const name of POOLS) {
    for (const [id, { print }] of model.pools[name].credentials) {
      registry[`id:${id}`] = name;
      uses[print] = (uses[print] ?? 0) + 1;
      registry[`fp:${print}`] = `${name} ${uses[print]}`;
    }
  }
  return registry;
}

function recordOf(lease: Lease): string {
  const { credential, fence, max_expires_at_ms, granted_at_ms, print } = lease;
  const state = lease.state === "released" ? "released" : "held"; // a record does not learn of its revocation
  const holder = credential === "-" ? "" : "worker-1"; // nobody ever held a spent id
  return `1 ${homeOfPool(lease.pool)} ${credential} ${fence} ${max_expires_at_ms} ${state} ${granted_at_ms} ${print} ${holder}`;
}

export function audit(model: Model, view: View) {
  for (const name of POOLS) checkPool(model, model.pools[name], view.pools[name]);
  const made = POOLS.map((name) => model.pools[name]).filter((pool) => pool.made);
  const index = made.map((pool) => [homeOfPool(pool.name), String(pool.made_at_ms)]);
  const records = [...model.records].map(([id, lease]) => [id, recordOf(lease)]);
  assert.deepEqual(
    { registry: view.provider, index: view.index, records: view.records },
    {
      registry: expectedRegistry(model),
      index: Object.fromEntries(index),
      records: Object.fromEntries(records),
    },
  );
}
