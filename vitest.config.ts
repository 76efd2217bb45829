// Three kinds of test: `unit` (Node and a real redis-server), `http` (the production bundle in workerd), `dev` (the local stack).
import { defineConfig } from "vitest/config";

/** `import text from "./x.lua"`, as wrangler's Text rule gives it to the Worker. */
const luaAsText = {
  name: "lua-as-text",
  enforce: "pre" as const,
  transform: (code: string, id: string) =>
    id.endsWith(".lua") ? { code: `export default ${JSON.stringify(code)}`, map: null } : undefined,
};

export default defineConfig({
  test: {
    testTimeout: 20_000,
    hookTimeout: 60_000,
    reporters: ["default", "./test/support/closing-line.ts"],
    projects: [
      {
        extends: true,
        plugins: [luaAsText],
        test: { name: "unit", include: ["test/{contract,unit,lua,model,checker}/**/*.test.ts"] },
      },
      {
        extends: true,
        plugins: [luaAsText],
        test: {
          name: "http",
          include: ["test/{http,gateway,chaos}/**/*.test.ts"],
          isolate: false, // each file starts its own servers; sharing the modules saves a quarter of the time
          globalSetup: ["./test/support/build.ts"],
        },
      },
      { extends: true, test: { name: "dev", include: ["test/dev/**/*.test.ts"] } },
    ],
  },
});
