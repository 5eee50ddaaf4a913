/**
 * Admission of a call before its body is read: first the gateway's load limit, then the caller's limits. Headers of every answer show
 * the remainder of the caller's limits. LIM-17.
 */
import type { RateUse } from "../../rates/index.ts";
import type { Caller } from "../../tenancy/index.ts";
import type { ResponseSink } from "../exchange.ts";
import type { HttpServices } from "../services.ts";

/**
 * Admits a call. If its caller has limits, the call is counted, and is one of the concurrent calls until its answer is over.
 * @throws GatewayError `overloaded`, `rate_limit_exceeded`, `database_unavailable` (or rejects)
 */
export function admitCall(
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
    ? use.then((admitted) => endWithResponse(response, admitted))
    : endWithResponse(response, use);
}

function endWithResponse(response: ResponseSink, use: RateUse): RateUse {
  // The client may have left while the limits were checked.
  if (response.destroyed) use.end();
  else response.on("close", () => use.end());
  return use;
}
