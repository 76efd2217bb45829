// A thousand callers at once: a capacity that is exceeded or lost under load, if these failed.
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { useRedis } from "../support/redis.ts";
import {
  ADMIN_KEY,
  type Answer,
  INTERNAL_KEY,
  inFlight,
  many,
  units,
  variables,
  verbsOf,
} from "../support/worker.ts";
import { type Running, startUpstashProcess, startWorkerd } from "../support/workerd.ts";

/** A busy machine may take its time; what counts here is what is answered. */
const PATIENCE = { timeout: 60_000 };
const CALLERS = 1000;
const CAPACITY = 37;

const redis = useRedis();
let double: Running;
let worker: Running;

beforeAll(async () => {
  const upstash = await startUpstashProcess(redis.server.port, { guard: false });
  double = upstash;
  const patient = { REDIS_TIMEOUT_MS: "60000", REQUEST_DEADLINE_MS: "60000" };
  worker = await startWorkerd(variables(upstash.url, upstash.token, patient));
});
afterAll(async () => {
  await worker?.stop();
  await double?.stop();
});

async function call(
  method: string,
  path: string,
  headers: Record<string, string>,
  body?: unknown,
): Promise<Answer> {
  const init = { method, headers: { ...headers, "content-type": "application/json" } };
  const reply = await fetch(
    worker.url + path,
    body === undefined ? init : { ...init, body: JSON.stringify(body) },
  );
  return { status: reply.status, headers: reply.headers, body: await reply.json() };
}
const admin = (method: string, path: string, body?: unknown) =>
  call(method, `/api/admin${path}`, { authorization: `Bearer ${ADMIN_KEY}` }, body);
const { add, allocate, renew, release } = verbsOf({
  admin,
  internal: (path, body) => call("POST", `/api/internal${path}`, { "x-internal-key": INTERNAL_KEY }, body),
});

/** How many answers say what. */
const tally = (answers: Answer[], said: (answer: Answer) => string) =>
  Object.fromEntries(
    Object.entries(Object.groupBy(answers, said)).map(([word, list]) => [word, list?.length]),
  );

beforeEach(async () => {
  await admin("POST", "/cell");
  for (const [key_id, cap] of Object.entries({ key_01: 20, key_02: 10, key_03: 7 })) await add(key_id, cap);
});

test(
  "1,000 allocate, renew and release at once on a capacity of 37: each is answered, and none is wrong",
  PATIENCE,
  async () => {
    const asked = await many(CALLERS, () => allocate({ lease_seconds: 600 }));
    expect(tally(asked, ({ status, body }) => `${status} ${body.code ?? "granted"}`)).toEqual({
      "200 granted": CAPACITY,
      "429 no_capacity": CALLERS - CAPACITY,
    });
    expect(await inFlight(redis)).toEqual(units(CAPACITY));
    const leases = asked.filter(({ status }) => status === 200).map(({ body }) => body);
    expect(
      tally(
        leases.map((body) => ({ status: 200, headers: new Headers(), body })),
        ({ body }) => body.key_id,
      ),
    ).toEqual({
      key_01: 20,
      key_02: 10,
      key_03: 7,
    });
    expect(new Set(leases.map(({ fence }) => fence)).size).toBe(CAPACITY);
    const of = (i: number) => leases[i % CAPACITY];

    const renewed = await many(CALLERS, (i) => renew(of(i)));
    expect(tally(renewed, ({ status }) => String(status))).toEqual({ 200: CALLERS });
    expect(await inFlight(redis)).toEqual(units(CAPACITY));

    const released = await many(CALLERS, (i) => release(of(i)));
    expect(tally(released, ({ status, body }) => `${status} ${body.released} ${body.reason}`)).toEqual({
      "200 true undefined": CAPACITY,
      "200 false released": CALLERS - CAPACITY,
    });
    expect(await inFlight(redis)).toEqual(units(0));
  },
);

test("1,000 with one op_id hold one lease", PATIENCE, async () => {
  const asked = await many(CALLERS, () => allocate({ op_id: "op-1" }));
  expect(tally(asked, ({ status, body }) => `${status} ${body.lease_id}`)).toEqual({
    [`200 ${asked[0]?.body.lease_id}`]: CALLERS,
  });
  expect(await inFlight(redis)).toEqual(units(1));
});

test(
  "case A4: release and renew at the same moment, 100 times: the end is always released",
  PATIENCE,
  async () => {
    const lanes = await many(10, async () => {
      const ends: unknown[] = [];
      for (let round = 0; round < 10; round++) {
        const { body: held } = await allocate();
        const [renewed, released] = await Promise.all([renew(held), release(held)]);
        const again = await renew(held);
        ends.push([released.body, [200, 409].includes(renewed.status), again.body.reason]);
      }
      return ends;
    });
    expect(lanes.flat()).toEqual(Array.from({ length: 100 }, () => [{ released: true }, true, "released"]));
    expect(await inFlight(redis)).toEqual(units(0));
  },
);
