/**
 * The attempts of a text or embedding call: sending the request, and interpreting a vendor's refusal. Failover ends with the first
 * byte that the caller gets. The loop is attempts/failover.ts, the outcome table upstream/outcome.ts; docs/routing.md.
 */
import { msSince } from "../base/elapsed.ts";
import { AttemptFailure, Failover, failureOf, type Attempt } from "../attempts/index.ts";
import { GatewayError } from "../base/errors.ts";
import { isObject } from "../base/json.ts";
import { jsonOrText } from "../base/json-text.ts";
import { textOf } from "../base/text.ts";
import { wholeTimeouts, type Credential, type Provider } from "../catalog/index.ts";
import {
  errorCodec,
  upstreamErrors,
  type Codec,
  type JsonObject,
  type WireError,
} from "../protocols/index.ts";
import type { MeasuredCall } from "../routing/index.ts";
import {
  askText,
  ExchangeError,
  namesStoredObject,
  outcomeOfStatus,
  readRefusal,
  withoutCredentials,
  type Exchange,
} from "../upstream/index.ts";
import type { Answered, CallContext } from "./context.ts";
import type { Candidate } from "./prepare.ts";
import { callerHeaders, takeWritten } from "./outgoing.ts";
import { droppedHeader } from "./reply.ts";
import { nothingIsCharged, stopping } from "./stopping.ts";
import { answerStream, answerWhole } from "./text-answers.ts";

class TextFailover extends Failover<CallContext, Candidate, Candidate, Exchange, Answered> {
  /** Skips a fallback that cannot take the request: that is not the caller's error. */
  protected candidate(_context: CallContext, candidate: Candidate): Candidate | undefined {
    try {
      candidate.route();
      return candidate;
    } catch (error) {
      if (error instanceof GatewayError) return undefined;
      throw error;
    }
  }

  protected ask(
    context: CallContext,
    candidate: Candidate,
    { apiKey }: Credential,
    traceparent: string | undefined,
  ): Promise<Exchange> {
    context.record.upstreamProtocol = candidate.offer.protocol;
    const access = { apiKey, traceparent };
    // Writing a large body blocks other calls for long, so it waits for its turn.
    const turn = context.call.lease.turn();
    return turn === undefined
      ? send(context, candidate, access)
      : turn.then(() => send(context, candidate, access));
  }

  protected read(
    context: CallContext,
    exchange: Exchange,
    candidate: Candidate,
  ): Promise<Answered> {
    if (exchange.status < 200 || exchange.status > 299)
      return refused(context, exchange, candidate);
    return context.call.stream
      ? answerStream(context, exchange, candidate)
      : answerWhole(context, exchange, candidate);
  }

  /** A stop of the gateway is not the provider's fault, and no failover follows. */
  protected failureOf(thrown: unknown, { isStopped }: CallContext): AttemptFailure {
    const failed = failureOf(thrown);
    if (!isStopped) return failed;
    const { outcome, message } = failed.failure;
    return new AttemptFailure({ error: stopping(nothingIsCharged), outcome, message }, thrown);
  }

  protected speed(
    { record, call, reply, isSlowed, isWhole, waitedMs }: CallContext,
    { started_ms: startedMs }: Attempt,
  ): MeasuredCall | undefined {
    const { firstTokenMs, metered } = record;
    if (firstTokenMs === null) return undefined;
    return {
      stream: call.stream,
      isWhole,
      firstTokenMs: firstTokenMs - startedMs,
      waitedMs,
      durationMs: msSince(record.beganMs) - startedMs,
      outputTokens: reply.gone || isSlowed ? undefined : metered?.usage.outputTokens,
    };
  }
}

/** The failover loop of text and embedding calls. It sends the caller the answer, and returns the answer's end to `answer`'s caller. */
export const textFailover = new TextFailover();

interface Access {
  readonly apiKey: string;
  readonly traceparent: string | undefined;
}

/** Sends the request upstream. @throws ExchangeError, or rejects with one, if no answer comes */
function send(
  context: CallContext,
  candidate: Candidate,
  { apiKey, traceparent }: Access,
): Promise<Exchange> {
  const { provider, offer } = candidate;
  const { call } = context;
  if (context.reply.gone)
    throw new ExchangeError("aborted", "the client left before the upstream was asked");
  if (context.isStopped)
    throw new ExchangeError("aborted", "the gateway stopped before the upstream was asked");
  const { body, notes } = takeWritten(context, candidate);
  const route = candidate.route();
  context.route = route;
  context.record.notes = notes;
  if (call.stream) context.reply.open(droppedHeader(notes));
  const opening = askText(context.services.pools, {
    provider,
    protocol: offer.protocol,
    model: offer.upstreamModel,
    stream: route.streams,
    apiKey,
    traceparent,
    caller: callerHeaders(context, candidate),
    body,
    timeouts: route.streams
      ? provider.timeouts
      : wholeTimeouts(provider.timeouts, candidate.reservedOutputTokens),
  });
  context.onGone(leaving(provider, opening));
  context.onStop(() => opening.abort());
  return opening.answer;
}

/** Returns the handler for a client disconnect. It lives as long as the answer, so its scope holds nothing of the request. */
const leaving =
  ({ onDisconnect }: Provider, asked: ReturnType<typeof askText>) =>
  (): void => {
    if (onDisconnect === "abort") return asked.abort();
    // The client may have stopped reading before it left: nothing else would resume the paused exchange.
    asked.answer.then(
      (exchange) => exchange.resume(),
      () => undefined,
    );
  };

/** Reads an unsuccessful answer. @throws AttemptFailure, always */
async function refused(
  context: CallContext,
  exchange: Exchange,
  { provider, offer }: Candidate,
): Promise<never> {
  const { bytes, cut } = await readRefusal(exchange, context.call.lease);
  // Mask credentials before any other step: vendors echo requests.
  const text = withoutCredentials(provider, textOf(bytes));
  const body = jsonOrText(text);
  const wire = upstreamErrors(offer.protocol).decodeError(exchange.status, body);
  const health = outcomeOfStatus(
    {
      status: exchange.status,
      wire,
      headers: exchange.headers,
      namesStoredObject: () => namesStoredObject(context.route.body),
    },
    context.services.clock.now(),
  );
  const { error, retrySame, fault } = health;
  // For a failing provider, the cut says more than the status: silence counts twice, and an oversized answer is not requested again.
  if (cut !== undefined && health.hurtsHealth) throw cut;
  const { protocol } = context.call;
  // With the same protocol on both sides, the vendor's own error body reaches the caller unchanged (TXT-20).
  const isRejected = fault === "caller" || error.code === "upstream_rejected";
  const isPassedOn = isRejected && offer.protocol === protocol && isErrorBody(body);
  throw new AttemptFailure({
    error,
    outcome: error.code,
    message: wire.message,
    allowsFailover: fault === "provider",
    retrySame,
    refusesProof: health.refusesProof,
    health,
    body: isPassedOn
      ? withMissingFields(withMessage(body, wire, error), errorCodec(protocol), error)
      : undefined,
  });
}

/** The vendor's body, with the message that the caller may read if that differs. */
const withMessage = (body: RefusalBody, wire: WireError, { message }: GatewayError): RefusalBody =>
  message === wire.message ? body : { ...body, error: { ...body.error, message } };

/** The vendor's body, completed with the fields that every error of its protocol has (ERR-01). */
function withMissingFields(body: RefusalBody, codec: Codec, error: GatewayError): JsonObject {
  const { error: own, request_id: _ours, ...outer } = codec.encodeError(error, "");
  const { details: _notTheirs, ...filled } = own as JsonObject;
  return { ...outer, ...body, error: { ...filled, ...body.error, ...codeOf(body, filled) } };
}

/**
 * The error code in the type of the caller's protocol. OpenRouter sends a number where the OpenAI style has a word; servers of that
 * style send a word where Google has a number.
 */
function codeOf({ error: { code } }: RefusalBody, { code: own }: JsonObject): JsonObject {
  if (typeof own === "string" && typeof code === "number") return { code: String(code) };
  return typeof own === "number" && typeof code !== "number" ? { code: own } : {};
}

type RefusalBody = JsonObject & { readonly error: JsonObject };

function isErrorBody(body: unknown): body is RefusalBody {
  return isObject(body) && isObject(body["error"]);
}
