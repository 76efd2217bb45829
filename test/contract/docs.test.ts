// The documents say what the code does: errors, variables, routes, links.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { app } from "../../src/app.ts";
import { VARIABLES } from "../../src/env.ts";
import { errorTable } from "../../src/errors.ts";
import { defaultsOf } from "../../src/pools/settings.ts";

const read = (file: string) => readFileSync(file, "utf8");
const rows = (file: string) =>
  [...read(file).matchAll(/^\| (.+) \|$/gm)].map(([, row = ""]) =>
    row.split(" | ").map((cell) => cell.trim()),
  );

test("docs/errors.md has every code with its status", () => {
  const documented = rows("docs/errors.md").flatMap(([status, code = ""]) =>
    /^\d+$/.test(status ?? "") ? [`${status} ${code.replaceAll("`", "")}`] : [],
  );
  expect(documented.sort()).toEqual(errorTable.map(({ status, code }) => `${status} ${code}`).sort());
});

test("docs/settings.md and wrangler.toml have every variable, with its default", () => {
  const [variables = ""] = read("docs/settings.md").split("## Settings of a pool");
  const documented = [...variables.matchAll(/^\| `([A-Z_]+)`(?: \*)? \| (.*?) \|/gm)].map(
    ([, name = "", value = ""]) => [name, value],
  );
  expect(documented.map(([name]) => name).sort()).toEqual([...VARIABLES].sort());
  const toml = read("wrangler.toml");
  for (const [name = "", value = ""] of documented) {
    const inVars = new RegExp(`^${name} = "(.*)"$`, "m").exec(toml)?.[1];
    if (inVars === undefined) expect(toml, `${name} is a secret`).toContain(`"${name}"`);
    else expect(inVars).toBe(value === "none" ? "" : value.replaceAll("`", ""));
  }
});

test("docs/settings.md names every setting of a pool", () => {
  const text = read("docs/settings.md").split("## Settings of a pool")[1] ?? "";
  const names = Object.entries(defaultsOf("default")).flatMap(([name, value]) =>
    name === "weights" || typeof value !== "object" || Array.isArray(value) ? [name] : Object.keys(value),
  );
  for (const name of names) expect(text).toContain(name.replace(/^rate_limit(?=_(default|max)_ms)/, ""));
});

test("the README's table has every route", () => {
  const table = read("README.md");
  for (const { method, path } of app.routes) {
    if (method === "ALL" || /^\/docs\/|init\.js/.test(path)) continue;
    const last =
      path
        .split("/")
        .filter((part) => part && !part.startsWith(":"))
        .at(-1) ?? "";
    expect(table, `${method} ${path}`).toContain(last);
  }
});

test("links between documents lead somewhere", () => {
  const documents = [
    "README.md",
    "AGENTS.md",
    "CHANGELOG.md",
    ...readdirSync("docs").map((file) => `docs/${file}`),
  ];
  for (const document of documents) {
    for (const [, link = ""] of read(document).matchAll(/\]\(([^)#:]+)\)/g)) {
      const from = document.includes("/") ? "docs/" : "";
      expect(existsSync(from + link), `${document} → ${link}`).toBe(true);
    }
  }
});
