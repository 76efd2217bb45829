// A caller's metadata: JSON that comes back byte for byte, so it is taken from the body as text.
import type { Context } from "hono";
import type { App } from "../deps.ts";
import { fail } from "../errors.ts";
import { fieldText } from "../json-text.ts";

const METADATA_BYTES = 2_048;

/** The text of the body's `metadata`, empty where there is none; or the problem. */
export async function metadataOf(c: Context<App>, given: unknown) {
  const text = given === undefined ? "" : (fieldText(await c.req.text(), "metadata") ?? "");
  if (Buffer.byteLength(text) <= METADATA_BYTES) return text;
  const message = `at most ${METADATA_BYTES} bytes`;
  return fail(c, "invalid_request", `metadata: ${message}`, { errors: [{ field: "metadata", message }] });
}
