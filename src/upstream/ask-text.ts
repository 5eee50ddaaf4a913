/** One request for text at one vendor: its body, its target and its authorization, as the vendor's row says. */
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
import type { Addressed, Target, TextAsk, Vendor } from "./vendors/types.ts";

export interface TextRequest extends TextAsk {
  /** What `textBody` made, written. */
  readonly body: JsonPieces | Promise<JsonPieces>;
  /** The provider's own where absent. */
  readonly timeouts?: Timeouts;
  /** Sent as a header of that name. */
  readonly traceparent?: string | undefined;
}

/** What is to be counted, and how it is written. */
export interface CountRequest extends Omit<TextRequest, "body"> {
  readonly body: JsonObject;
  readonly write: (body: JsonObject) => TextRequest["body"];
}

/** A request on its way. `abort` also before it is sent. */
interface Asked {
  /** Rejects with ExchangeError where no answer comes. */
  readonly answer: Promise<Exchange>;
  abort(): void;
}

/** A body as the vendor takes it, with what the provider's file adds to all. */
export function textBody(
  body: JsonObject,
  ask: Addressed,
  vendor: Vendor = vendorOf(ask.provider.dialect),
): JsonObject {
  const whole = withFields(body, ask.provider.access);
  return vendor.body?.(whole, ask) ?? whole;
}

/** Asks a vendor for text. */
export const askText = (
  pools: Pools,
  request: TextRequest,
  vendor: Vendor = vendorOf(request.provider.dialect),
): Asked => send(pools, request, vendor, textTarget(request, vendor));

/** Asks for a count of a request's tokens; undefined where the vendor has no endpoint for it. */
export function askCount(pools: Pools, request: CountRequest): Asked | undefined {
  const vendor = vendorOf(request.provider.dialect);
  const target = countTarget(request, vendor);
  if (!target) return undefined;
  const bodyOf = vendor.countBody ?? vendor.body;
  const body = request.write(bodyOf?.(request.body, request) ?? request.body);
  return send(pools, { ...request, body }, vendor, target);
}

function send(pools: Pools, request: TextRequest, vendor: Vendor, target: Target): Asked {
  const { body } = request;
  return body instanceof Promise
    ? afterwards(body, (written) => sendWritten(pools, request, { vendor, target, body: written }))
    : sendWritten(pools, request, { vendor, target, body });
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
