/** One request for text at one vendor: its target, its body and its authorization, as the vendor's row says. */
import type { JsonPieces } from "../base/json-write.ts";
import type { Timeouts } from "../catalog/index.ts";
import type { JsonObject } from "../protocols/index.ts";
import { withFields } from "./access.ts";
import { ExchangeError } from "./exchange-error.ts";
import { openExchange, type Exchange } from "./exchange.ts";
import { identityOf } from "./identity/index.ts";
import type { Pools } from "./pools.ts";
import { countTarget, textTarget } from "./target.ts";
import { vendorOf } from "./vendors/index.ts";
import type { Target, TextAsk, Vendor } from "./vendors/types.ts";

/** What is asked, and how its body is written. */
export interface TextRequest extends TextAsk {
  readonly body: JsonObject;
  readonly write: (body: JsonObject) => JsonPieces | Promise<JsonPieces>;
  /** The provider's own where absent. */
  readonly timeouts?: Timeouts;
  /** Sent as a header of that name. */
  readonly traceparent?: string | undefined;
}

/** A request on its way. `abort` also before it is sent. */
interface Asked {
  /** Rejects with ExchangeError where no answer comes. */
  readonly answer: Promise<Exchange>;
  abort(): void;
}

/** Asks a vendor for text. */
export function askText(
  pools: Pools,
  request: TextRequest,
  vendor: Vendor = vendorOf(request.provider.dialect),
): Asked {
  const body = withFields(request.body, request.provider.access);
  return send(pools, { ...request, body }, vendor, textTarget(request, vendor));
}

/** Asks for a count of a request's tokens; undefined where the vendor has no endpoint for it. */
export function askCount(pools: Pools, request: TextRequest): Asked | undefined {
  const vendor = vendorOf(request.provider.dialect);
  const target = countTarget(request, vendor);
  if (!target) return undefined;
  const { countBody } = vendor;
  return send(pools, request, countBody ? { ...vendor, body: countBody } : vendor, target);
}

function send(pools: Pools, request: TextRequest, vendor: Vendor, target: Target): Asked {
  const written = request.write(vendor.body?.(request.body, request) ?? request.body);
  return written instanceof Promise
    ? afterwards(written, (body) => sendWritten(pools, request, { vendor, target, body }))
    : sendWritten(pools, request, { vendor, target, body: written });
}

interface Written {
  readonly vendor: Vendor;
  readonly target: Target;
  readonly body: JsonPieces;
}

function sendWritten(pools: Pools, request: TextRequest, { vendor, target, body }: Written): Asked {
  const { provider, traceparent, timeouts = provider.timeouts } = request;
  const open = (headers: Target["headers"]): Asked => {
    const pool = pools.get(target.origin, timeouts.connectMs, provider);
    return openExchange(pool, { path: target.path, headers, traceparent, body, ...timeouts });
  };
  const identity = identityOf(provider, pools);
  // The headers of one request that cannot be written ahead: the vendor's own, or those of the provider's identity.
  const authorized =
    vendor.authorize?.(target, body, request) ?? identity?.authorize(provider, target, body);
  const asked = authorized
    ? afterwards(authorized, (more) => open({ ...target.headers, ...more }))
    : open(target.headers);
  const { answer } = vendor;
  if (!answer && !identity) return asked;
  return {
    answer: asked.answer.then((exchange) => {
      identity?.refused(exchange.status);
      return answer?.(exchange, request) ?? exchange;
    }),
    abort: () => asked.abort(),
  };
}

/** A request that is sent once something is known. One that was aborted before is not sent. */
function afterwards<Known>(known: Promise<Known>, open: (known: Known) => Asked): Asked {
  let asked: Asked | undefined;
  let isAborted = false;
  return {
    answer: known.then((value) => {
      if (isAborted)
        throw new ExchangeError("aborted", "the client left before the upstream was asked");
      asked = open(value);
      return asked.answer;
    }),
    abort() {
      isAborted = true;
      asked?.abort();
    },
  };
}
