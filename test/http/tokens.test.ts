// Tokens of sub-accounts: a secret that is kept, shown twice, or opens something after it was revoked, if these failed.
import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { dump, useBooks } from "../support/books.ts";
import { invalid, refusedFields } from "../support/invalid.ts";
import { ledgerVerbsOf } from "../support/ledger-http.ts";
import { PATIENT } from "../support/ledger-routes.ts";
import { keys } from "../support/redis.ts";
import { METRICS_KEY, many, useWorker } from "../support/worker.ts";

const worker = useWorker(PATIENT);
const { redis, admin } = worker;
const { tenant, sub, open } = ledgerVerbsOf(worker);
useBooks(redis);

const TOKENS = "/tenants/acme/sub-accounts/alice/tokens";
const make = (name: unknown = "laptop", path = TOKENS) => admin("POST", path, { name });
const list = async (path = TOKENS) => (await admin("GET", path)).body.tokens;
const revoke = (token_id: string, path = TOKENS) => admin("DELETE", `${path}/${token_id}`);
const sha256 = (token: string) => createHash("sha256").update(token).digest("hex");
/** The sub-account that a token opens, as every verb finds it. */
const opens = (token: string) => redis.raw.hget(keys.tenant("acme").tenant_key, `token:${sha256(token)}`);

describe("a token", () => {
  test("is shown once, says whose it is, and must not be kept by a proxy", async () => {
    await open(0);
    const { status, headers, body } = await make();
    expect([status, headers.get("cache-control")]).toEqual([201, "no-store"]);
    expect(body).toEqual({
      token_id: expect.stringMatching(/^tok_[\w-]{24}$/),
      name: "laptop",
      created_at: new Date(redis.now_ms).toISOString(),
      token: expect.stringMatching(/^qm_acme~alice~[\w-]{43}$/),
    });
    const { token: _, ...shown } = body;
    expect(await list()).toEqual([shown]);
    expect(await opens(body.token)).toBe("alice");
  });

  test("stands nowhere but in that reply: only its SHA-256 is in the database, nothing of it in logs and metrics", async () => {
    worker.clearLogs();
    await open(0);
    const { body } = await make();
    await make(); // its name is taken
    await list();
    await revoke(body.token_id);
    await make();
    const random = body.token.split("~")[2];
    const { body: metrics } = await worker.call("GET", "/metrics", {
      authorization: `Bearer ${METRICS_KEY}`,
    });
    const log = worker.logs().map(({ message }) => message);
    expect(log.length).toBeGreaterThan(5);
    const everything = JSON.stringify([await dump(redis), log, metrics]);
    expect(everything).not.toContain(random);
    expect(everything).not.toContain("qm_acme");
    expect(everything).toContain(sha256(body.token)); // the journal names it by its hash
    expect(log.join("\n")).not.toContain(sha256(body.token));
  });

  test("a sub-account has several; of one name only one, also when two ask at once", async () => {
    await open(0);
    for (const name of ["laptop", "phone"]) expect((await make(name)).status).toBe(201);
    const taken = await make(" laptop "); // trimmed
    expect([taken.status, taken.body.code, taken.body.token]).toEqual([409, "policy_conflict", undefined]);
    expect(taken.body.detail).toContain("revoke it first");
    const answers = await many(5, () => make("build"));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409]);
    expect((await list()).map(({ name }: { name: string }) => name)).toEqual(["laptop", "phone", "build"]);
    await sub("bob");
    expect((await make("laptop", "/tenants/acme/sub-accounts/bob/tokens")).status).toBe(201);
  });

  test("revoked it opens nothing at once, the others go on, and its name is free", async () => {
    await open(0);
    const [one, two] = [(await make("one")).body, (await make("two")).body];
    expect((await revoke(one.token_id)).body).toEqual({ revoked: true });
    expect([await opens(one.token), await opens(two.token)]).toEqual([null, "alice"]);
    const again = await revoke(one.token_id);
    expect([again.status, again.body.detail]).toEqual([404, "token_id: the sub-account has no such token"]);
    const next = await make("one");
    expect([next.status, next.body.token === one.token, next.body.token_id === one.token_id]).toEqual([
      201,
      false,
      false,
    ]);
  });

  test("is not revoked through another sub-account or tenant", async () => {
    await open(0);
    await sub("bob");
    await tenant("other");
    await sub("alice", {}, "other");
    const { body } = await make();
    for (const path of ["/tenants/acme/sub-accounts/bob/tokens", "/tenants/other/sub-accounts/alice/tokens"])
      expect((await revoke(body.token_id, path)).status).toBe(404);
    expect(await opens(body.token)).toBe("alice");
  });

  test("goes with its sub-account, and does not open one made again under that name", async () => {
    await open(0);
    const { body } = await make();
    await admin("DELETE", "/tenants/acme/sub-accounts/alice");
    expect(await opens(body.token)).toBeNull();
    await sub();
    expect([await opens(body.token), await list()]).toEqual([null, []]);
  });
});

test("a hundred tokens are the most", async () => {
  await open(0);
  const made = await many(101, (i) => make(`t${i}`));
  expect(made.filter(({ status }) => status === 201).length).toBe(100);
  const full = made.find(({ status }) => status === 409);
  expect(full?.body.detail).toBe("the sub-account has 100 tokens, the most it may have");
  expect(new Set(made.flatMap(({ body }) => body.token ?? [])).size).toBe(100);
  expect((await list()).length).toBe(100);
});

test("a name is 1 to 64 printable characters of any language", async () => {
  await open(0);
  const before = await dump(redis);
  const bad = ["", "  ", "x".repeat(65), "a\nb", "a\u0000b", "a\u2028b", 1, null, true, [], {}];
  for (const name of bad) expect([name, refusedFields(await make(name))]).toEqual([name, invalid("name")]);
  expect(refusedFields(await admin("POST", TOKENS, {}))).toEqual(invalid("name"));
  expect(await dump(redis)).toEqual(before);
  const names = ["é 模型 🙂", 'quo"te\\', "%s %d", "1e5", "x".repeat(64)];
  for (const name of names) expect((await make(name)).body.name).toBe(name);
  expect((await list()).map(({ name }: { name: string }) => name)).toEqual(names);
});
