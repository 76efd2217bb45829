// The Worker's variables: a wrong one is named, and its value never shown.
import { expect, test } from "vitest";
import { SettingsError, settingsOf } from "../../src/env.ts";

const right = {
  CELL: "main",
  TIME_ZONE: "UTC",
  UPSTASH_REDIS_REST_URL: "https://redis.example.com",
  UPSTASH_REDIS_REST_TOKEN: "token",
  REDIS_DIALECT: "upstash",
  REDIS_TIMEOUT_MS: "1000",
  REQUEST_DEADLINE_MS: "3000",
  REDIS_MAX_BYTES: "",
  DATABASE_URL: "postgres://user:password@db.example.com/main",
  SQL_URL: "",
  INTERNAL_KEYS: "internal-1, internal-2",
  ADMIN_KEYS: "admin-key",
  METRICS_KEYS: "metrics-key",
  SESSION_KEYS: "session-key",
  SEALING_KEYS: `k1:${"A".repeat(43)}=`,
  LEASE_KEEP_MINUTES: "2",
  HOLD_KEEP_MINUTES: "60",
  OP_KEEP_HOURS: "24",
  SNAPSHOT_FRESH_MS: "1000",
  SNAPSHOT_STALE_MS: "60000",
  CATALOG_TTL_MS: "10000",
  UPSTREAM_FIRST_BYTE_MS: "300000",
  UPSTREAM_IDLE_MS: "120000",
  ALLOW_PRIVATE_UPSTREAMS: "false",
  MAX_BODY_BYTES: "10485760",
};
const settings = (more: Record<string, string | undefined>) =>
  settingsOf({ ...right, ...more } as unknown as Env);

test("what is right is read: lists, numbers, flags, and an empty one as none", () => {
  expect(settings({})).toMatchObject({
    INTERNAL_KEYS: ["internal-1", "internal-2"],
    REDIS_TIMEOUT_MS: 1000,
    ALLOW_PRIVATE_UPSTREAMS: false,
    REDIS_MAX_BYTES: undefined,
    SEALING_KEYS: [{ key_id: "k1", bytes: new Uint8Array(32) }],
  });
});

test.each([
  ["CELL", "not an id"],
  ["TIME_ZONE", "Mars/Olympus"],
  ["UPSTASH_REDIS_REST_URL", "redis://example.com"],
  ["REDIS_TIMEOUT_MS", "1e3"],
  ["REDIS_TIMEOUT_MS", "0"],
  ["REDIS_DIALECT", "valkey"],
  ["INTERNAL_KEYS", ""],
  ["ADMIN_KEYS", "good-enough,,"],
  ["METRICS_KEYS", "short"],
  ["SEALING_KEYS", "k1:c2hvcnQ="],
  ["SEALING_KEYS", `k1:${"A".repeat(43)}=,k1:${"B".repeat(42)}A=`],
  ["ALLOW_PRIVATE_UPSTREAMS", "yes"],
  ["REDIS_MAX_BYTES", "lots"],
])("%s = %j is refused by name", (name, value) => {
  expect(() => settings({ [name]: value })).toThrow(SettingsError);
  expect(() => settings({ [name]: value })).toThrow(name);
  if (value.length > 3) expect(() => settings({ [name]: value })).not.toThrow(value);
});

test("all that is missing is named at once", () => {
  expect(() => settings({ ADMIN_KEYS: undefined, SEALING_KEYS: undefined })).toThrow(
    /ADMIN_KEYS \(missing\).*SEALING_KEYS \(missing\)/,
  );
});
