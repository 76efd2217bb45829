// Bad input of a caller: refused with the field named. What would be guessed, or granted by mistake, if these failed.
import { describe, expect, test } from "vitest";
import { BAD_IDS, badRow, invalid, refusedFields } from "../support/invalid.ts";
import { INTERNAL_KEY, useWorker, verbsOf } from "../support/worker.ts";

const worker = useWorker();
const { add, lease } = verbsOf(worker);

const TERMS = [0, 3601, -1, 1.5, "35", null, true, [35]];

describe("allocate-key", () => {
  const good = { provider: "openai", model: "gpt-4o" };

  test.each([
    ["nothing in it", [{}], ["provider", "model"]],
    ["no object", [[], '"text"', "null", "1"], ["body"]],
    ["no JSON", ["{", "{} {}", "", "lease_seconds=1"], ["body"]],
    ["an unknown field", [{ ...good, lease_second: 1 }], ["lease_second"]],
    ...["provider", "pool", "holder", "op_id"].map((field) => badRow(good, field, BAD_IDS)),
    badRow(good, "lease_seconds", TERMS),
    badRow(good, "model", ["", " ", "x".repeat(129), "a\nb", "a\u0000b", "a\u2028b", 4, null]),
    badRow(good, "affinity_key", ["", "x".repeat(257), 1]),
    ["several", [{ provider: "", model: 1, lease_seconds: 0 }], ["provider", "model", "lease_seconds"]],
  ])("%s", async (_, bodies, fields) => {
    for (const body of bodies) {
      const answer = await worker.internal("/allocate-key", body);
      expect([body, refusedFields(answer)]).toEqual([body, invalid(...fields)]);
    }
  });

  test("a model's name is trimmed, and may be any printable text", async () => {
    await add("key_01", 2, { models: ["*"] });
    const provider_model = "org/model:7b (é, 模型)";
    expect(await lease({ model: `  ${provider_model}  ` })).toMatchObject({ provider_model });
    expect((await lease({ model: "x".repeat(128) })).provider_model).toHaveLength(128);
  });

  test("the whole range of terms is taken", async () => {
    await add("key_01", 2);
    for (const lease_seconds of [1, 3600])
      expect(await lease({ lease_seconds })).toMatchObject({ expires_in_seconds: lease_seconds });
  });
});

describe("renew and release", () => {
  const held = { key_id: "key_01", provider: "openai", pool: "default" };
  const renewal = { ...held, lease_seconds: 1 };
  const ended = (outcome: unknown) => ({ ...held, outcome });

  test.each([
    ["a%20b/release", "a lease_id with a space", held, ["lease_id"]],
    [`${"x".repeat(65)}/renew`, "a lease_id of 65 characters", renewal, ["lease_id"]],
    ["l1/renew", "without a term", held, ["lease_seconds"]],
    ["l1/renew", "an outcome", { ...renewal, outcome: { kind: "success" } }, ["outcome"]],
    ["l1/release", "nothing in it", {}, ["key_id", "provider"]],
    ["l1/release", "a missing body", "", ["body"]],
    ["l1/release", "an outcome without a kind", ended({}), ["outcome.kind"]],
    ["l1/release", "an outcome as text", ended("success"), ["outcome"]],
    ["l1/release", "an unknown field", ended({ kind: "success", cost: 1 }), ["outcome.cost"]],
    ["l1/release", "no HTTP status", ended({ kind: "success", http_status: 99 }), ["outcome.http_status"]],
    ["l1/release", "a header as number", ended({ kind: "success", retry_after: 2 }), ["outcome.retry_after"]],
  ])("%s: %s", async (path, _, body, fields) => {
    expect(refusedFields(await worker.internal(`/leases/${path}`, body))).toEqual(invalid(...fields));
  });

  test("renew: a term out of its range", async () => {
    for (const lease_seconds of TERMS) {
      const answer = await worker.internal("/leases/l1/renew", { ...held, lease_seconds });
      expect([lease_seconds, refusedFields(answer)]).toEqual([lease_seconds, invalid("lease_seconds")]);
    }
  });

  test("a lease that a bad release named still stands", async () => {
    await add("key_01");
    const { lease_id } = await lease();
    const bad = await worker.internal(`/leases/${lease_id}/release`, ended({ kind: "ok" }));
    expect(refusedFields(bad)).toEqual(invalid("outcome.kind"));
    expect((await worker.internal(`/leases/${lease_id}/release`, held)).body).toEqual({ released: true });
  });
});

test("a request without a body and a content type is refused, not taken as empty", async () => {
  const { status } = await worker.call("POST", "/api/internal/allocate-key", {
    "x-internal-key": INTERNAL_KEY,
  });
  expect([400, 415]).toContain(status);
});
