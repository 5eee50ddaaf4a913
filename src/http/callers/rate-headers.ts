/**
 * Whether a call is taken, before its body is read: what the gateway can take, then the limits of the caller. What is left of
 * these stands in the headers of every answer. LIM-17.
 */
import type { RateUse } from "../../rates/index.ts";
import type { Caller } from "../../tenancy/index.ts";
import type { ResponseSink } from "../exchange.ts";
import type { HttpServices } from "../services.ts";

/**
 * Takes a call. Where its caller has limits it is counted, and among the calls at once until its answer is over.
 * @throws GatewayError `overloaded`, `rate_limit_exceeded`, `database_unavailable` (or rejects)
 */
export function rateOf(
  { rates, load }: Pick<HttpServices, "rates" | "load">,
  response: ResponseSink,
  caller: Caller,
): RateUse | Promise<RateUse> | undefined {
  load.admit();
  if (caller.limits.length === 0) return undefined;
  const use = rates.admit(caller, (headers) => {
    if (response.headersSent) return;
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  });
  return use instanceof Promise
    ? use.then((admitted) => endWith(response, admitted))
    : endWith(response, use);
}

function endWith(response: ResponseSink, use: RateUse): RateUse {
  // The client may have left while the limits were asked for.
  if (response.destroyed) use.end();
  else response.on("close", () => use.end());
  return use;
}
