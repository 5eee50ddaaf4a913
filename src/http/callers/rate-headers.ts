/** The limits of the calling key, before its body is read; what is left of them stands in the headers of every answer. LIM-17. */
import type { FastifyReply, FastifyRequest } from "fastify";
import type { RateUse } from "../../calls/index.ts";
import type { Caller } from "../../tenancy/index.ts";
import { authenticating } from "./caller.ts";
import type { ResponseSink } from "../exchange.ts";
import type { HttpServices } from "../services.ts";

/** Counts a request where its key has limits. @throws GatewayError `rate_limit_exceeded` */
export function rateOf(
  { rates }: Pick<HttpServices, "rates">,
  response: ResponseSink,
  caller: Caller,
): RateUse | undefined {
  if (caller.rateLimits === null) return undefined;
  return rates.admit(caller, (headers) => {
    if (response.headersSent) return;
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  });
}

/** The first step of routes that make images or tasks, or count tokens: the key, then its limit of requests. Their tokens are not counted. */
export function authenticatingLimited(services: HttpServices) {
  const authenticate = authenticating(services);
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    await authenticate(request);
    rateOf(services, reply.raw, request.caller!);
  };
}
