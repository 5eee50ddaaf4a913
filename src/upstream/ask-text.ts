/** One text request to one vendor: its body, target and authorization, by the vendor's row. */
import type { JsonPieces } from "../base/json-write.ts";
import type { Timeouts } from "../catalog/index.ts";
import type { JsonObject } from "../protocols/index.ts";
import { withFields } from "./access.ts";
import { ExchangeError } from "./exchange-error.ts";
import { openExchange, type Exchange } from "./exchange.ts";
import { identityOf, type Authorized } from "./identity/index.ts";
import type { Pools } from "./pools.ts";
import { countTarget, textTarget } from "./target.ts";
import { vendorOf } from "./vendors/index.ts";
import type { Addressed, Target, TextAsk, Vendor } from "./vendors/types.ts";

export interface TextRequest extends TextAsk {
  /** The output of `textBody`, as JSON text. */
  readonly body: JsonPieces | Promise<JsonPieces>;
  /** If absent, the provider's own. */
  readonly timeouts?: Timeouts;
  /** Sent as the header `traceparent`. */
  readonly traceparent?: string | undefined;
}

/** The body to count, and the function that writes it as JSON text. */
export interface CountRequest extends Omit<TextRequest, "body"> {
  readonly body: JsonObject;
  readonly write: (body: JsonObject) => TextRequest["body"];
}

/** A request in flight. `abort` also works before it is sent. */
interface PendingAnswer {
  /** Rejects with ExchangeError if there is no answer. */
  readonly answer: Promise<Exchange>;
  abort(): void;
}

/** Returns the body in the vendor's form, with the fields that the provider's file adds to all requests. */
export function textBody(
  body: JsonObject,
  ask: Addressed,
  vendor: Vendor = vendorOf(ask.provider.dialect),
): JsonObject {
  const whole = withFields(body, ask.provider.access);
  return vendor.body?.(whole, ask) ?? whole;
}

/** Sends a text request to a vendor. */
export const askText = (
  pools: Pools,
  request: TextRequest,
  vendor: Vendor = vendorOf(request.provider.dialect),
): PendingAnswer => send(pools, request, vendor, textTarget(request, vendor));

/** Sends a request to count tokens; undefined if the vendor has no endpoint for it. */
export function askCount(pools: Pools, request: CountRequest): PendingAnswer | undefined {
  const vendor = vendorOf(request.provider.dialect);
  const target = countTarget(request, vendor);
  if (!target) return undefined;
  const bodyOf = vendor.countBody ?? vendor.body;
  const body = request.write(bodyOf?.(request.body, request) ?? request.body);
  return send(pools, { ...request, body }, vendor, target);
}

function send(pools: Pools, request: TextRequest, vendor: Vendor, target: Target): PendingAnswer {
  const { body } = request;
  return body instanceof Promise
    ? sendWhenReady(body, (written) =>
        sendWritten(pools, request, { vendor, target, body: written }),
      )
    : sendWritten(pools, request, { vendor, target, body });
}

interface Written {
  readonly vendor: Vendor;
  readonly target: Target;
  readonly body: JsonPieces;
}

function sendWritten(
  pools: Pools,
  request: TextRequest,
  { vendor, target, body }: Written,
): PendingAnswer {
  const { provider, traceparent, timeouts = provider.timeouts } = request;
  const open = (headers: Target["headers"]): PendingAnswer => {
    const pool = pools.get(target.origin, timeouts.connectMs, provider);
    return openExchange(pool, { path: target.path, headers, traceparent, body, ...timeouts });
  };
  const identity = identityOf(provider, pools);
  // Headers that depend on the request and cannot be cached: the vendor's own, or those of the provider's identity.
  let answered: Authorized["answered"] | undefined;
  const authorized =
    vendor.authorize?.(target, body, request) ??
    identity?.authorize(provider, target, body).then((one) => {
      ({ answered } = one);
      return one.headers;
    });
  const asked = authorized
    ? sendWhenReady(authorized, (more) => open({ ...target.headers, ...more }))
    : open(target.headers);
  const { answer } = vendor;
  if (!answer && !identity) return asked;
  return {
    answer: asked.answer.then((exchange) => {
      answered?.(exchange);
      return answer?.(exchange, request) ?? exchange;
    }),
    abort: () => asked.abort(),
  };
}

/** A request that is sent once `known` resolves. It is not sent if it was aborted before. */
function sendWhenReady<Known>(
  known: Promise<Known>,
  open: (known: Known) => PendingAnswer,
): PendingAnswer {
  let asked: PendingAnswer | undefined;
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
