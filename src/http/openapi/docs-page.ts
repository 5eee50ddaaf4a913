/**
 * `GET /docs`: the interactive API reference, from the swagger-ui-dist package. It works offline. Its content security policy keeps a
 * key that is typed there on this origin. docs/operate.md.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { FastifyInstance } from "fastify";

const packageFile = createRequire(import.meta.url).resolve("swagger-ui-dist/package.json");
const { version } = JSON.parse(readFileSync(packageFile, "utf8")) as { version: string };

/** The only files served, each with its content type. */
const assets = {
  "swagger-ui.css": "text/css; charset=utf-8",
  "swagger-ui-bundle.js": "text/javascript; charset=utf-8",
} as const;

// No validator badge, which would send the document's address to swagger.io. The browser does not store the key.
const startScript = `
SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#reference",
  deepLinking: true,
  displayRequestDuration: true,
  defaultModelsExpandDepth: 0,
  persistAuthorization: false,
  tryItOutEnabled: true,
  validatorUrl: null,
});
`;

const startScriptHash = createHash("sha256").update(startScript).digest("base64");

const contentSecurityPolicy = [
  "default-src 'none'",
  `script-src 'self' 'sha256-${startScriptHash}'`,
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const asset = (name: keyof typeof assets) => `/docs/assets/${name}?v=${version}`;

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Tollgate API reference</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${asset("swagger-ui.css")}">
</head>
<body>
<noscript>This page needs JavaScript. The same reference as data: <a href="/openapi.json">/openapi.json</a>.</noscript>
<main id="reference"></main>
<script src="${asset("swagger-ui-bundle.js")}"></script>
<script>${startScript}</script>
</body>
</html>
`;

const pageBytes = Buffer.from(page);

/** The bytes of the assets; each is read at its first request in this process. */
const assetBytes = new Map<string, Buffer>();

function bytesOf(name: string): Buffer {
  const bytes = assetBytes.get(name) ?? readFileSync(join(dirname(packageFile), name));
  assetBytes.set(name, bytes);
  return bytes;
}

/**
 * Adds the page and its two assets. They need no key: the page shows only the public interface. One copy of each in memory serves all
 * connections that wait to read it.
 */
export function registerDocsPage(app: FastifyInstance): void {
  app.get("/docs", (_request, reply) =>
    reply
      .headers({
        "content-security-policy": contentSecurityPolicy,
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
        "cache-control": "no-cache",
      })
      .type("text/html; charset=utf-8")
      .send(pageBytes),
  );
  for (const [name, type] of Object.entries(assets)) {
    app.get(`/docs/assets/${name}`, (_request, reply) =>
      reply
        .headers({
          "x-content-type-options": "nosniff",
          // Its address carries the version.
          "cache-control": "public, max-age=31536000, immutable",
        })
        .type(type)
        .send(bytesOf(name)),
    );
  }
}
