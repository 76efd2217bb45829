// The shape of the house: sizes, the direction of imports, who may do what.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { expect, test } from "vitest";

const files = (folder: string, ending: RegExp) =>
  (existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: "utf8" }) : [])
    .filter((file) => ending.test(file))
    .map((file) => join(folder, file));
const read = (file: string) => readFileSync(file, "utf8");
const lines = (file: string) => read(file).split("\n").length - 1;

const source = files("src", /\.ts$/);
const all = [...source, ...files("dev", /\.ts$/), ...files("bench", /\.ts$/), ...files("test", /\.ts$/)];
const FEATURES = [
  "cell",
  "catalog",
  "pools",
  "leases",
  "tenants",
  "quota",
  "calls",
  "gateway",
  "journal",
  "console",
  "docs",
];
const featureOf = (file: string) => FEATURES.find((feature) => file.startsWith(`src/${feature}/`));

const imports = (file: string) =>
  [...read(file).matchAll(/from "(\.[^"]+)"/g)].map(([, path = ""]) => normalize(join(dirname(file), path)));

test.each(all)("%s: at most 200 lines, and its first one says what it is for", (file) => {
  expect(lines(file)).toBeLessThanOrEqual(200);
  if (!/^src\/scripts\/.+\/.+/.test(file)) expect(read(file)).toMatch(/^\/\/ \S/); // a twin's header is its script's
});

test.each(files("lua", /\.lua$/))("%s: a verb has at most 60 lines, a library 120", (file) => {
  expect(lines(file)).toBeLessThanOrEqual(file.startsWith("lua/lib/") ? 120 : 60);
  expect(read(file)).toMatch(/^-- \S/);
});

test.each(source)("%s: imports run one way", (file) => {
  for (const imported of imports(file)) {
    const [from, to] = [featureOf(file), featureOf(imported)];
    if (imported.endsWith("/routes.ts"))
      expect(["src/app.ts"], `${file} imports ${imported}`).toContain(file);
    if (file.startsWith("src/scripts/")) {
      const allowed = /^(src\/scripts\/|lua\/|src\/(ids|units|store)\.ts)/;
      expect(imported, `${file} imports ${imported}`).toMatch(allowed);
    }
    if (!from && to)
      expect(["src/app.ts", "src/jobs.ts", "src/deps.ts"], `${file} imports ${imported}`).toContain(file);
  }
});

test("only run.ts evaluates a script, only deps.ts builds a client", () => {
  const evaluating = source.filter((file) => /\.(evalsha|eval)\(/.test(read(file)));
  expect(evaluating.sort()).toEqual(["src/scripts/run.ts", "src/store.ts"]);
  expect(source.filter((file) => /new (Upstash|Redis)\(|\bneon\(/.test(read(file)))).toEqual(["src/deps.ts"]);
});

test("every fault of the catalogue that this version covers is named by a test", () => {
  const named = new Set(
    files("test", /\.test\.ts$/).flatMap((file) =>
      [...read(file).matchAll(/\bcase ([A-F]\d+)/gi)].map(([, name = ""]) => name),
    ),
  );
  const covered = `A1 A2 A3 A4 A6 A7 A8 A9 A10 B11 B12 B13 B14 B15 B16 B17 B18 B19 B20
    C21 C22 C23 C24 C25 C26 C27 C30 C31 C33 C34 E45 E46 E47 E48 E49 E50 E51 E52 E53
    D35 D36 D37 D38 D39 D40 D41 D42`.split(/\s+/);
  expect(covered.filter((name) => !named.has(name))).toEqual([]);
});
