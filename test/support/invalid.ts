// Bad input: ways to be wrong, and what a test compares of the refusal.
import type { Answer, More } from "./worker.ts";

/** No ids: empty, characters that no id has, a first one that none begins with, too long, no text. */
export const BAD_IDS = ["", "a b", "a:b", "a{b}", "a~b", "a/b", "a\n", ".a", "é", "x".repeat(65), 1, null];

/** A good body with one field wrong, in each of these ways: name, bodies, fields. */
export const badRow = (
  good: More,
  field: string,
  values: readonly unknown[],
): [string, unknown[], string[]] => [
  `${field}, in ${values.length} ways`,
  values.map((value) => ({ ...good, [field]: value })),
  [field],
];

/** What a test compares of an `invalid_request`: its fields, each once, and that the detail has them too. */
export function refusedFields({ status, body }: Answer) {
  const errors: { field: string; message: string }[] = body.errors ?? [];
  const told = errors.every(({ field, message }) => body.detail.includes(`${field}: ${message}`));
  return { status, code: body.code, told, fields: [...new Set(errors.map(({ field }) => field))] };
}
export const invalid = (...fields: string[]) => ({
  status: 400,
  code: "invalid_request",
  told: true,
  fields,
});
