/** Counting the tokens of a request without sending it, in the two protocols that have an endpoint for it. decisions.md "also served". */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { countInputTokens, type CountCall } from "../calls/index.ts";
import { modelInBody, readBody } from "./body.ts";
import { authenticating, callerHeaders } from "./caller.ts";
import { requestIdHeaders } from "./reply-error.ts";
import type { HttpServices } from "./services.ts";

/** Adds the messages protocol's count; `:countTokens` stands beside the other methods of its path (text-routes.ts). */
export function registerCountRoutes(app: FastifyInstance, services: HttpServices): void {
  const onRequest = authenticating(services);
  app.post("/v1/messages/count_tokens", { onRequest }, (request, reply) => {
    const body = readBody(request);
    const model = modelInBody(body);
    return answerCount(services, { request, reply, protocol: "messages", body, model });
  });
}

interface Counted extends Pick<CountCall, "protocol" | "body" | "model"> {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** Answers one count. @throws GatewayError what refuses it. */
export async function answerCount(
  services: HttpServices,
  { request, reply, ...asked }: Counted,
): Promise<FastifyReply> {
  const answer = await countInputTokens(services.text, {
    ...asked,
    id: request.id,
    caller: request.caller!,
    callerHeaders: callerHeaders(request),
  });
  return reply.headers(requestIdHeaders(asked.protocol, request.id)).send(answer);
}
