// Which base URLs a credential may have: a secret must not be sent into a private network.
import { expect, test } from "vitest";
import { baseUrlFault } from "../../src/pools/upstream-url.ts";

test.each([
  "https://api.openai.com/v1",
  "https://api.example.com",
  "https://[2606:4700::1111]/",
  "https://8.8.8.8/v1",
])("%s may be used", (url) => expect(baseUrlFault(url, false)).toBeUndefined());

test.each([
  ["http://api.example.com", "https"],
  ["ftp://api.example.com", "https"],
  ["nonsense", "a URL"],
  ["https://user:pass@api.example.com", "user name"],
  ["https://api.example.com/?key=1", "query"],
  ["https://api.example.com/?", "query"],
  ["https://api.example.com/#a", "fragment"],
  ["https://localhost", "private"],
  ["https://api.localhost.", "private"],
  ["https://intranet", "private"],
  ["https://127.0.0.1", "private"],
  ["https://2130706433", "private"],
  ["https://0x7f.1", "private"],
  ["https://10.1.2.3", "private"],
  ["https://172.16.0.1", "private"],
  ["https://192.168.0.1", "private"],
  ["https://169.254.169.254", "private"],
  ["https://100.64.0.1", "private"],
  ["https://[::1]", "private"],
  ["https://[::ffff:127.0.0.1]", "private"],
  ["https://[fd00::1]", "private"],
  ["https://[fe80::1]", "private"],
  ["https://[2002:7f00:1::]", "private"],
])("%s may not: %s", (url, why) => expect(baseUrlFault(url, false)).toContain(why));

test("a deployment may allow http and private hosts, and still no user name", () => {
  expect(baseUrlFault("http://127.0.0.1:8077/v1", true)).toBeUndefined();
  expect(baseUrlFault("http://user@127.0.0.1:8077/v1", true)).toContain("user name");
  expect(baseUrlFault("ftp://127.0.0.1", true)).toContain("https");
});
