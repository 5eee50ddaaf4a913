/** The limits of the calling key, before its body is read; what is left of them stands in the headers of every answer. LIM-17. */
import type { RateUse } from "../../calls/index.ts";
import type { Caller } from "../../tenancy/index.ts";
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
