// Fills dist/assets with the self-hosted files of /docs. wrangler runs it before every build (wrangler.toml, [build]).
import { copyFileSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const from = dirname(fileURLToPath(import.meta.resolve("swagger-ui-dist/package.json")));
const to = join(import.meta.dirname, "..", "dist", "assets", "docs");

mkdirSync(to, { recursive: true });
for (const file of ["swagger-ui.css", "swagger-ui-bundle.js", "favicon-32x32.png"]) {
  copyFileSync(join(from, file), join(to, file));
}
