// What the tests of the probe share: a pool, the demo upstream, and a run as cron fires it.
import { afterAll, beforeAll, beforeEach, expect } from "vitest";
import { startUpstream, type Upstream } from "../../dev/upstream/server.ts";
import { readState } from "../../src/pools/state.ts";
import { useBooks } from "../support/books.ts";
import { entriesOf } from "../support/ledger.ts";
import { PATIENT } from "../support/ledger-routes.ts";
import { aWhileAgo, fire } from "../support/overdue.ts";
import { poolStateOf } from "../support/pool.ts";
import { keys } from "../support/redis.ts";
import { type More, useWorker, verbsOf } from "../support/worker.ts";

export function useProbe() {
  const worker = useWorker(PATIENT);
  const { redis, admin } = worker;
  const verbs = verbsOf(worker);
  const { lease, release, allocate } = verbs;
  useBooks(redis);
  const { pool_key, journal_key } = keys.pool("openai", "default");

  let upstream: Upstream;
  beforeAll(async () => {
    upstream = await startUpstream();
  });
  afterAll(() => upstream.stop());
  beforeEach(async () => {
    upstream.reset();
    await aWhileAgo(worker);
  });

  const probe = () => fire(worker, "probe");
  const report = (more: object = {}) =>
    expect.objectContaining({ probed: 0, restored: 0, refused: 0, failed: 0, ...more });
  const add = (key_id: string, more: More = {}) =>
    verbs.add(key_id, 4, { base_url: upstream.url, secret: { api_key: `sk-demo-${key_id}` }, ...more });
  const state = async (key_id = "key_01") => readState((await redis.raw.hget(pool_key, key_id)) ?? "");
  const seq = async () => poolStateOf(await redis.raw.hget(pool_key, "@pool")).seq;
  const probes = async () =>
    entriesOf(await redis.raw.xrange(journal_key, "-", "+")).filter(({ actor }) => actor === "probe");
  const setStatus = (key_id: string, verb: "enable" | "disable") =>
    admin("POST", `/credentials/openai/default/${key_id}/${verb}`);
  const settings = (change: object) => admin("PATCH", "/pools/openai/default", change);

  /** A credential that a call has just put out of service. */
  async function benched(kind: string, more: More = {}) {
    await add("key_01");
    await release(await lease(), { outcome: { kind, ...more } });
  }
  return {
    get upstream() {
      return upstream;
    },
    worker,
    redis,
    admin,
    verbs,
    lease,
    release,
    allocate,
    pool_key,
    journal_key,
    probe,
    report,
    add,
    state,
    seq,
    probes,
    setStatus,
    settings,
    benched,
  };
}
