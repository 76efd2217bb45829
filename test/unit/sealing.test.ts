// Secrets at rest: only the right key and the right owner open one.
import { expect, test } from "vitest";
import { Sealing, secretFingerprint } from "../../src/sealing.ts";

const key = (key_id: string, byte: number) => ({ key_id, bytes: new Uint8Array(32).fill(byte) });
const OWNER = ["openai", "default", "key_01"] as const;
const secret = { api_key: "sk-é北" };

test("what is sealed opens, and shows nothing", async () => {
  const sealing = new Sealing([key("k1", 1)]);
  const sealed = await sealing.seal(secret, OWNER);
  expect(sealed).toMatch(/^k1\.[\w-]+$/);
  expect(Buffer.from(sealed.slice(3), "base64url").toString("latin1")).not.toContain("sk-");
  expect(await sealing.open(sealed, OWNER)).toEqual(secret);
  expect(await sealing.seal(secret, OWNER)).not.toBe(sealed);
});

test("after a rotation the old key still opens, and the new one seals", async () => {
  const sealed = await new Sealing([key("k1", 1)]).seal(secret, OWNER);
  const rotated = new Sealing([key("k2", 2), key("k1", 1)]);
  expect(await rotated.open(sealed, OWNER)).toEqual(secret);
  expect(await rotated.seal(secret, OWNER)).toMatch(/^k2\./);
});

test.each([
  ["another owner", async (s: string) => new Sealing([key("k1", 1)]).open(s, ["openai", "vip", "key_01"])],
  ["another key under the same id", async (s: string) => new Sealing([key("k1", 9)]).open(s, OWNER)],
  ["no such key", async (s: string) => new Sealing([key("k2", 1)]).open(s, OWNER)],
  ["a changed byte", async (s: string) => new Sealing([key("k1", 1)]).open(`${s.slice(0, -2)}AA`, OWNER)],
  ["a cut text", async (s: string) => new Sealing([key("k1", 1)]).open(s.slice(0, 12), OWNER)],
  ["an empty text", async () => new Sealing([key("k1", 1)]).open("", OWNER)],
])("%s does not open it", async (_, open) => {
  expect(await open(await new Sealing([key("k1", 1)]).seal(secret, OWNER))).toBeUndefined();
});

test("a fingerprint is of the fields, in whatever order, and of nothing else", () => {
  expect(secretFingerprint({ a: "1", b: "2" })).toBe(secretFingerprint({ b: "2", a: "1" }));
  expect(secretFingerprint({ a: "1" })).not.toBe(secretFingerprint({ a: "2" }));
  expect(secretFingerprint({ a: "1" })).toMatch(/^[\w-]{32}$/);
});
