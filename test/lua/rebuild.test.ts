// A pool is rebuilt from its journal alone: what the entries say is what the raw keys have.
import { expect, test } from "vitest";
import { Sealing, secretFingerprint } from "../../src/sealing.ts";
import { leaseKit } from "../support/lease.ts";
import { useRedis } from "../support/redis.ts";
import { settingsOf } from "./health-kit.ts";
import { checkAfterEach, entriesIn } from "./ledger-kit.ts";

const redis = useRedis();
const { pool, granted, dump } = leaseKit(redis);
const entries = () => entriesIn(redis, pool.journal_key, `pool:${pool.home}`);
const SLOW = settingsOf({ lease_seconds: 7, breaker: { probes: 3 } });

/** A pool as its entries alone say it is. */
async function rebuilt() {
  const members: Record<string, Record<string, unknown>> = {};
  let settings: unknown = null;
  for (const { detail } of await entries()) {
    const { change, fingerprint, sealed, key_id: _id, note: _note, ...more } = detail;
    const key_id = String(detail.key_id);
    if (change === "configured") settings = detail.settings;
    else if (change === "removed") delete members[key_id];
    else if (change === "disabled" || change === "available")
      members[key_id] = { ...members[key_id], status: change };
    else if (change !== "revoked") {
      const secret = sealed === "" ? members[key_id]?.secret : `${fingerprint} ${sealed}`;
      members[key_id] = { ...more, secret };
    }
  }
  return { members, settings };
}

async function stored() {
  const [pool_hash, config, secrets] = await Promise.all([
    ...[pool.pool_key, pool.config_key, pool.secrets_key].map((key) => redis.raw.hgetall(key)),
  ]);
  const { "@settings": settings, ...configs } = config ?? {};
  const members = Object.entries(configs).map(([id, text]) => {
    const [, status, , capacity] = (pool_hash?.[id] ?? "").split(" ");
    return [id, { status, capacity: Number(capacity), config: JSON.parse(text), secret: secrets?.[id] }];
  });
  return { members: Object.fromEntries(members), settings: JSON.parse(settings ?? "null") };
}

test("a pool can be rebuilt from its entries: members, secrets that open, statuses, settings; none is in the clear", async () => {
  const sealing = new Sealing([{ key_id: "k1", bytes: new Uint8Array(32).fill(1) }]);
  const plain = { api_key: "sk-plain-é" };
  const sealed = await sealing.seal(plain, ["openai", "default", "c1"]);
  await pool.put("c1", 3, {
    fingerprint: secretFingerprint(plain),
    sealed,
    config: '{"n":15947634569000323}',
  });
  await pool.put("c2", 1, { status: "pending" });
  await pool.put("c3", 1);
  await pool.put("c4", 2, { status: "disabled" });
  await pool.patch("c1", '{"n":15947634569000323}', { config: '{"weight":0.5}' });
  await pool.patch("c2", "{}", { capacity: 9, fingerprint: "new", sealed: "k1.new" });
  await pool.mark("c3", "disabled");
  await pool.mark("c4", "available");
  await pool.remove("c3");
  await pool.put("c3", 5);
  await granted("l1", ["c1"]);
  await pool.revoke("c1");
  await pool.configure(SLOW);
  const now = await rebuilt();
  expect(now).toEqual(await stored());
  expect(Object.keys(now.members).sort()).toEqual(["c1", "c2", "c3", "c4"]);
  expect(now.settings).toEqual(SLOW);
  const [, kept = ""] = String(now.members.c1?.secret).split(" ");
  expect(await sealing.open(kept, ["openai", "default", "c1"])).toEqual(plain);
  expect(JSON.stringify(await dump())).not.toContain("sk-plain");
});

checkAfterEach(redis);
