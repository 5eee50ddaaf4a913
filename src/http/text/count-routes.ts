/** Counting the tokens of a request without sending it, in the two protocols that have an endpoint for it. docs/decisions.md "Also served". */
import type { FastifyInstance } from "fastify";
import { countInputTokens } from "../../calls/index.ts";
import { modelInBody, readBody } from "../bodies/body.ts";
import { callerHeaders } from "../callers/caller.ts";
import { authenticatingLimited } from "../callers/rate-headers.ts";
import { requestIdHeaders } from "../errors/reply-error.ts";
import type { HttpServices } from "../services.ts";

/** Adds the messages protocol's count; `:countTokens` stands beside the other methods of its path (text-routes.ts). */
export function registerCountRoutes(app: FastifyInstance, services: HttpServices): void {
  const onRequest = authenticatingLimited(services);
  app.post("/v1/messages/count_tokens", { onRequest }, async (request, reply) => {
    const body = await readBody(request);
    const answer = await countInputTokens(services.text, {
      protocol: "messages",
      body,
      model: modelInBody(body),
      id: request.id,
      caller: request.caller!,
      callerHeaders: callerHeaders(request),
    });
    return reply.headers(requestIdHeaders("messages", request.id)).send(answer);
  });
}
