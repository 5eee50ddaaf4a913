/** How Fastify's routes get their bodies: as bytes, read by our own reader after the caller was let in, and counted until the answer is over. */
import type { FastifyInstance, FastifyRequest } from "fastify";
import { limitOf, type BodyServices } from "./body-limits.ts";
import { readBytes } from "./receive-body.ts";
import { refuseUnstorableText } from "./stored-text.ts";

/** Puts our reader in place of Fastify's. Bodies are parsed by the routes, once, with our own bounds (body.ts). */
export function readBodiesAsBytes(app: FastifyInstance, bodies: BodyServices): void {
  app.decorateRequest("lease", undefined);
  app.addHook("preHandler", (request, _reply, done) => {
    if (request.match.route.stored === true) {
      refuseUnstorableText(request.params, "dots");
      refuseUnstorableText(request.query, "dots");
    }
    done();
  });
  // After `onRequest`, where strangers are refused.
  app.addHook("preParsing", (request, reply, _payload, done) => {
    const lease = bodies.budget.lease();
    request.lease = lease;
    reply.raw.once("close", () => lease.release());
    done();
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", async (request: FastifyRequest) =>
    readBytes(request.raw, request.raw, {
      limit: limitOf(bodies, request.match.route),
      lease: request.lease!,
    }),
  );
}
