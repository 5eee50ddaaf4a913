/** Serves the console: its assets by name, and its page for browsers. docs/console.md. */
import type { FastifyInstance } from "fastify";
import { GatewayError } from "../../base/errors.ts";
import type { Asset, Builds } from "./build.ts";

export { openBuilds } from "./build.ts";
export { answerPage } from "./page.ts";

/** Returns the smallest encoding that the client accepts. A coding with `q=0` is not accepted. */
function encoded(asset: Asset, accepted: string): { bytes: Buffer; coding?: string } {
  const takes = (coding: string): boolean =>
    accepted.split(",").some((one) => {
      const [name, ...parameters] = one.split(";").map((part) => part.trim().toLowerCase());
      return name === coding && !parameters.some((part) => /^q=0(?:\.0*)?$/.test(part));
    });
  if (asset.brotli !== undefined && takes("br")) return { bytes: asset.brotli, coding: "br" };
  if (asset.gzip !== undefined && takes("gzip")) return { bytes: asset.gzip, coding: "gzip" };
  return { bytes: asset.bytes };
}

/** Adds `/assets`. Asset names carry a hash of their content, so browsers may cache them for good. */
export function registerConsole(app: FastifyInstance, builds: Builds): void {
  app.get<{ Params: { name: string } }>("/assets/:name", (request, reply) => {
    const { name } = request.params;
    const asset = builds.current()?.assets.get(name);
    if (asset === undefined) {
      throw new GatewayError("not_found", "The console has no such part. Reload the page.");
    }
    const { bytes, coding } = encoded(asset, request.headers["accept-encoding"] ?? "");
    if (coding !== undefined) reply.header("content-encoding", coding);
    return reply
      .headers({
        "x-content-type-options": "nosniff",
        "cross-origin-resource-policy": "same-origin",
        "cache-control": "public, max-age=31536000, immutable",
        vary: "accept-encoding",
      })
      .type(asset.type)
      .send(bytes);
  });
}
