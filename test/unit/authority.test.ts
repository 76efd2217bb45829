// Keys: any of the list is admitted, and nothing else; nothing is not a key.
import { expect, test } from "vitest";
import { admits } from "../../src/authority.ts";

test.each([
  ["one", true],
  ["two", true],
  ["tw", false],
  ["two ", false],
  ["", false],
  ["one,two", false],
])("%j: %s", (given, admitted) => expect(admits(["one", "two"], given)).toBe(admitted));

test("an empty list, or an empty key in it, admits nobody", () => {
  expect(admits([], "")).toBe(false);
  expect(admits([""], "")).toBe(false);
});
