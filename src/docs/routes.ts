// The API's own description, and a page that shows it: self-hosted, under a strict content security policy.
import type { OpenAPIHono } from "@hono/zod-openapi";
import { Hono } from "hono";
import { secureHeaders } from "hono/secure-headers";
import type { App } from "../deps.ts";

const INFO = {
  openapi: "3.1.0",
  info: {
    title: "Quartermaster",
    version: "0.1.0",
    description: "Leases API credentials and keeps the prepaid quota ledger, atomically, at the edge.",
  },
};

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Quartermaster API</title>
<link rel="icon" href="/docs/favicon-32x32.png"><link rel="stylesheet" href="/docs/swagger-ui.css">
</head>
<body><div id="api"></div><script src="/docs/swagger-ui-bundle.js"></script><script src="/docs/init.js"></script></body>
</html>
`;
const INIT = `SwaggerUIBundle({ url: "/openapi.json", dom_id: "#api", deepLinking: true, validatorUrl: null });\n`;

const headers = secureHeaders({
  xFrameOptions: "DENY",
  contentSecurityPolicy: {
    defaultSrc: ["'none'"],
    scriptSrc: ["'self'"],
    styleSrc: ["'self'"],
    imgSrc: ["'self'", "data:"],
    connectSrc: ["'self'"],
    baseUri: ["'none'"],
    formAction: ["'none'"],
    frameAncestors: ["'none'"],
  },
});

const SECURITY = {
  internal: { type: "apiKey", in: "header", name: "X-Internal-Key", description: "A key of INTERNAL_KEYS." },
  admin: { type: "http", scheme: "bearer", description: "A key of ADMIN_KEYS." },
  metrics: { type: "http", scheme: "bearer", description: "A key of METRICS_KEYS." },
} as const;

/** The generator leaves the flag of a regular expression in its text, where JSON Schema would take it for a part of it. */
const withPlainPatterns = <T>(description: T): T =>
  JSON.parse(JSON.stringify(description), (key, value) =>
    key === "pattern" && typeof value === "string" ? value.replace(/\/[a-z]+$/, "") : value,
  );

/** Made at the first request: the description covers routes that are added after this one. */
export function docs(api: () => OpenAPIHono<App>) {
  const describe = () => {
    const registry = api().openAPIRegistry;
    for (const [name, scheme] of Object.entries(SECURITY))
      registry.registerComponent("securitySchemes", name, scheme);
    return withPlainPatterns(api().getOpenAPI31Document(INFO));
  };
  let description: ReturnType<typeof describe> | undefined;
  return new Hono<App>()
    .get("/openapi.json", (c) => {
      description ??= describe();
      return c.json(description);
    })
    .use("/docs", headers)
    .use("/docs/*", headers)
    .get("/docs", (c) => c.html(PAGE))
    .get("/docs/init.js", (c) => c.text(INIT, 200, { "content-type": "text/javascript; charset=utf-8" }))
    .get("/docs/*", async (c) => {
      const asset = await c.env.ASSETS.fetch(c.req.raw);
      return new Response(asset.body, asset); // its own headers are immutable
    });
}
