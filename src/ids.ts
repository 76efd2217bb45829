// Ids: their form, and how new ones are made.
import { createHash } from "node:crypto";
import { z } from "zod";

/** Compared byte for byte; no `:`, `{`, `}`, `~` or space can be in one, so keys and packed values stay readable. */
export const ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

export const id = z.string().regex(ID, "1 to 64 of A-Z a-z 0-9 . _ -, and a letter or digit first");

const base64url = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64url");

/** A new id: `<prefix>_` and 18 random bytes. */
export const mint = (prefix: string) => `${prefix}_${base64url(crypto.getRandomValues(new Uint8Array(18)))}`;

/** The same id for the same parts, 18 bytes of a SHA-256. Parts cannot contain the separator. */
export const derive = (prefix: string, parts: readonly string[]) => `${prefix}_${fingerprintOf(parts, 18)}`;

/** A fingerprint of text parts: `bytes` of their SHA-256 in base64url. */
export const fingerprintOf = (parts: readonly string[], bytes = 12) =>
  base64url(createHash("sha256").update(parts.join("\n")).digest().subarray(0, bytes));
