// Bad input of an operator: refused with the field named, and nothing is stored. Which credential could not be used, or
// would send its secret to the wrong place, if these failed.
import { describe, expect, test } from "vitest";
import { BAD_IDS, badRow, invalid, refusedFields } from "../support/invalid.ts";
import { credential, useWorker, verbsOf } from "../support/worker.ts";

const worker = useWorker({ ALLOW_PRIVATE_UPSTREAMS: "false" });
const { add } = verbsOf(worker);

const good = credential("key_01");

/** No URL, or one that is no place for a secret: not https, with more than a place in it, or in a private network. */
const BAD_URLS = [
  "api.example.com",
  "http://api.example.com",
  "ftp://api.example.com",
  "https://user@api.example.com",
  "https://user:password@api.example.com",
  "https://api.example.com/?a=1",
  "https://api.example.com/?",
  "https://api.example.com/#a",
  "https://localhost",
  "https://LOCALHOST./",
  "https://redis.internal",
  "https://upstream",
  "https://127.0.0.1",
  "https://2130706433",
  "https://0x7f.1",
  "https://10.1.2.3",
  "https://172.31.0.1",
  "https://192.168.0.1",
  "https://169.254.169.254/latest",
  "https://100.64.0.1",
  "https://0.0.0.0",
  "https://[::1]",
  "https://[::ffff:127.0.0.1]",
  "https://[fd00::1]",
  "https://[fe80::1]",
  `https://${"x".repeat(600)}.example.com`,
  1,
];

test.each([
  ...["key_id", "provider", "pool"].map((field) => badRow(good, field, BAD_IDS)),
  badRow(good, "max_concurrent_uses", [0, -1, 10_001, 1.5, "2", null, undefined, 2 ** 53]),
  badRow(good, "kind", ["password", undefined, 1]),
  badRow(good, "secret", [undefined, "sk-1", null, ["sk-1"]]),
  badRow(good, "models", [{}, [], ["*", "gpt-4o"], "gpt-4o", undefined]),
  badRow(good, "status", ["cooling", "auth_failed", ""]),
  badRow(good, "weight", [0, -1, 1001, "1"]),
  badRow(good, "base_url", BAD_URLS),
  badRow(good, "capacity", [1]),
  [
    "a secret of its kind",
    [
      { ...good, secret: { api_key: "" } },
      { ...good, secret: { api_key: "sk-1\n" } },
    ],
    ["secret.api_key"],
  ],
  ["a secret of another kind", [{ ...good, kind: "oauth" }], ["secret.access_token", "secret.api_key"]],
  ["no models", [{ ...good, models: ["gpt-4o"] }], ["models"]],
  ["a list", [{ credentials: [] }, { credentials: Array.from({ length: 1001 }, () => 1) }], ["credentials"]],
  ["no JSON", ["{", "", "key_id=key_01"], ["body"]],
])("a credential: %s", async (_, bodies, fields) => {
  for (const body of bodies) {
    const answer = await worker.admin("POST", "/credentials", body);
    expect([body, refusedFields(answer)]).toEqual([body, invalid(...fields)]);
  }
  expect((await worker.admin("GET", "/credentials")).body).toEqual({ credentials: [], next_cursor: null });
});

describe("in a list", () => {
  test("case A5: each is answered by itself, and the bad ones are named", async () => {
    const credentials = [
      good,
      { ...good, key_id: "key_02", max_concurrent_uses: 0 },
      { ...good, key_id: "key_01" },
      "no credential",
      { ...good, key_id: "key_03", pool: "vip" },
      credential("key_04", { base_url: "https://localhost" }),
      credential("key_05"),
    ];
    const { status, body } = await worker.admin("POST", "/credentials", { credentials });
    const [created, refused] = [
      { result: "created" },
      { result: "refused", error: { code: "invalid_request" } },
    ];
    expect([status, body.results]).toMatchObject([
      200,
      [
        { key_id: "key_01", ...created },
        { key_id: "key_02", ...refused },
        { key_id: "key_01", ...refused },
        { key_id: "", ...refused },
        { key_id: "key_03", result: "refused", error: { code: "policy_conflict" } },
        { key_id: "key_04", ...refused },
        { key_id: "key_05", ...created },
      ],
    ]);
    const { body: listed } = await worker.admin("GET", "/credentials");
    expect(listed.credentials.map(({ key_id }: { key_id: string }) => key_id)).toEqual(["key_01", "key_05"]);
  });
});

test.each(["limit=0", "limit=1001", "limit=x", "provider=a%20b", "pool=a:b"])(
  "a page with %s",
  async (query) => {
    const answer = await worker.admin("GET", `/credentials?${query}`);
    expect(refusedFields(answer)).toEqual(invalid(query.split("=")[0] ?? ""));
  },
);

test("an Idempotency-Key that is no id is named", async () => {
  const answer = await worker.admin("POST", "/cell", undefined, { "idempotency-key": "a b" });
  expect(refusedFields(answer)).toEqual(invalid("idempotency-key"));
});

test("public https URLs are taken, with a port, with a path, by address", async () => {
  const urls = ["https://api.example.com:8443/v1/", "https://8.8.8.8", "https://[2606:4700::1111]/v1"];
  for (const [i, base_url] of urls.entries())
    expect((await add(`key_${i}`, 1, { base_url })).status).toBe(201);
});
