/**
 * Gives Fastify's routes their bodies as bytes. Our own reader reads them after authentication, and they count until the answer is
 * over.
 */
import type { FastifyInstance, FastifyRequest } from "fastify";
import { limitOf, type BodyServices } from "./body-limits.ts";
import { readBytes } from "./receive-body.ts";
import { refuseUnstorableText } from "./stored-text.ts";

/** Replaces Fastify's body reader with ours. The routes parse the bodies, once, within our own bounds (body.ts). */
export function readBodiesAsBytes(app: FastifyInstance, bodies: BodyServices): void {
  app.decorateRequest("lease", undefined);
  app.addHook("preHandler", (request, _reply, done) => {
    if (request.match.route.stored === true) {
      refuseUnstorableText(request.params, "dots");
      refuseUnstorableText(request.query, "dots");
    }
    done();
  });
  // Runs after `onRequest`, which refuses callers without a valid key.
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
