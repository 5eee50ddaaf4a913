/**
 * The OpenAPI document and its reference page. Both are made at their first request, so that they do not delay the start.
 * docs/operate.md.
 */
import type { FastifyInstance } from "fastify";
import { registerDocsPage } from "./docs-page.ts";

/** Adds `GET /openapi.json` and the reference at `GET /docs`. Neither needs a key. */
export function registerDocs(app: FastifyInstance): void {
  let bytes: Promise<Buffer> | undefined;
  app.get("/openapi.json", async (_request, reply) => {
    bytes ??= makeDocument();
    return reply
      .type("application/json; charset=utf-8")
      .header("cache-control", "no-cache")
      .send(await bytes);
  });
  registerDocsPage(app);
}

async function makeDocument(): Promise<Buffer> {
  const { openapiDocument } = await import("./full-document.ts");
  return Buffer.from(JSON.stringify(openapiDocument()));
}
