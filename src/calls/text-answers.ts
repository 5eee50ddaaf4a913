/**
 * Reads one upstream answer, whole or streamed, also when the upstream answers in the other form than requested (T14, T15). Each
 * reader returns the cost, and holds the answer's end back until it is charged.
 */
import { chargeFor } from "../base/cost-bound.ts";
import { counted } from "../base/counted.ts";
import { answerBounds, BeyondBoundsError, parseAnswerText } from "../base/answer-json.ts";
import { GatewayError } from "../base/errors.ts";
import { isObject } from "../base/json.ts";
import { noteParams } from "../base/notes.ts";
import { createSseParser, SseOverflowError, type SseEvent } from "../base/sse.ts";
import { textOf } from "../base/text.ts";
import { priceUsage } from "../catalog/index.ts";
import type { JsonObject, Route, StreamSeen, StreamTap, WireError } from "../protocols/index.ts";
import {
  answerBytesMax,
  answeredError,
  BadAnswerError,
  ExchangeError,
  type Exchange,
} from "../upstream/index.ts";
import type { Answered, CallContext } from "./context.ts";
import { answerTextRoomOf, recordAnswerText } from "./hooks.ts";
import { withHourWrites } from "./hour-writes.ts";
import { noteHead, noteWhole } from "./inner-gateway.ts";
import {
  meterPartial,
  meterBackground,
  meterWhole,
  outputOfCut,
  reportsInput,
  type Metered,
} from "./meter.ts";
import type { Candidate } from "./prepare.ts";
import { billedPrice } from "./reasoning-mode.ts";
import { recordFailure, recordFirstToken } from "./record.ts";
import { relayStream, unreadStream } from "./text-stream.ts";

/** Reads a whole answer; it is sent as frames if the caller asked for a stream. */
export async function answerWhole(
  context: CallContext,
  exchange: Exchange,
  candidate: Candidate,
): Promise<Answered> {
  context.isWhole = true;
  noteHead(context, exchange);
  let bytes: Buffer;
  try {
    bytes = await exchange.readAll(answerBytesMax, context.call.lease);
  } catch (error) {
    return answerCut(context, candidate, error);
  }
  const { route, reply, call } = context;
  const answer =
    !call.stream && isEventStream(exchange, false)
      ? wholeFromStream(route, bytes)
      : parseAnswer(bytes, route, exchange);
  noteWhole(context, answer);
  recordFirstToken(context.record);
  if (context.record.span?.isSampled === true) context.record.answeredBy = modelIn(answer);
  const metered = route.isInProgress(answer)
    ? await meterBackground(context.inputEstimate, candidate.reservedOutputTokens)
    : await meterWhole(route.usage(answer), context.inputEstimate, () => outputOf(route, answer));
  // Before the charge: an answer that cannot be converted is neither sent nor billed.
  if (call.stream) {
    const frames = route.framesOf(answer, metered.usage);
    return answeredFor(context, candidate, metered, () => {
      recordAnswerText(context, () => ({ text: route.text(answer) }));
      reply.end(frames);
    });
  }
  const converted = route.answer(answer, noteParams(context.record.notes), metered.usage);
  return answeredFor(context, candidate, metered, () => {
    recordAnswerText(context, () => ({ text: route.text(answer), body: converted }));
    reply.whole(converted, {});
  });
}

function outputOf(route: Route, answer: JsonObject) {
  const text = route.text(answer);
  return { text, characters: text.length, pictures: route.pictures(answer) };
}

const modelMax = 200;

/** The vendor's name of the model that answered. */
function modelIn({ model, modelVersion = model }: JsonObject): string | undefined {
  return typeof modelVersion === "string" ? modelVersion.slice(0, modelMax) : undefined;
}

/** The name of the model is in the first event, or behind one without it, such as a ping. */
const modelEventsMax = 3;
const namedModel = /"model"\s*:\s*"([^"\\]{1,200})"/;
/** Arguments of a call are objects in Gemini's events, and may have a member `model`. */
const namedVersion = /"modelVersion"\s*:\s*"([^"\\]{1,200})"/;

/**
 * Returns a reader of the first events of a traced stream, which notes the vendor's name of the model that answers. It does not parse
 * them, because the first may repeat all tools of the request; quotes within texts are escaped there.
 */
function modelWatch({ record }: CallContext): ((event: SseEvent) => void) | undefined {
  if (record.span?.isSampled !== true) return undefined;
  const name = record.upstreamProtocol === "generate_content" ? namedVersion : namedModel;
  let left = modelEventsMax;
  record.answeredBy = undefined;
  return ({ data }) => {
    if (left === 0) return;
    record.answeredBy = name.exec(data)?.[1];
    left = record.answeredBy === undefined ? left - 1 : 0;
  };
}

/** Charges the arrived part of a whole answer whose client left while it was read (T62). @throws any other error */
async function answerCut(
  context: CallContext,
  candidate: Candidate,
  error: unknown,
): Promise<Answered> {
  if (!(error instanceof ExchangeError) || error.failure !== "aborted") throw error;
  if (context.isStopped) throw error;
  const output = outputOfCut(error.received?.toString("utf8") ?? "");
  // No text of the answer arrived: nothing is charged, as for a stream without a frame.
  if (output.text === "") throw error;
  const metered = await meterPartial(undefined, context.inputEstimate, output);
  return answeredFor(context, candidate, metered, () => undefined);
}

/** Relays a stream, except for its end. */
export async function answerStream(
  context: CallContext,
  exchange: Exchange,
  candidate: Candidate,
): Promise<Answered> {
  if (!isEventStream(exchange, true)) return answerWhole(context, exchange, candidate);
  context.isWhole = false;
  noteHead(context, exchange);
  const tap = context.route.tap();
  const textRoom = answerTextRoomOf(context);
  if (textRoom !== undefined) tap.keepText(textRoom);
  const end = await relayStream({
    exchange,
    tap,
    reply: context.reply,
    lease: context.call.lease,
    onFirstFrame(waitedMs) {
      recordFirstToken(context.record);
      context.waitedMs = waitedMs;
      context.began(tap);
      textRoom?.began();
    },
    onEvent: modelWatch(context),
    stops: context,
  });
  // The gateway absorbs the cost of upstream errors (BILL-22); the caller gets the error inside the stream (T16).
  if (end.kind === "broken") throw end.error;
  const { seen } = tap;
  const metered = await (end.kind === "complete"
    ? meterWhole(seen.usage, context.inputEstimate, () => seen)
    : meterCut(context, candidate, seen));
  return answeredFor(context, candidate, metered, () => {
    recordAnswerText(context, () => ({ text: seen.text, isCut: seen.isTextCut }));
    if (end.kind === "complete") context.reply.end(tap.release(metered.usage));
    else if (end.kind === "ended_here") endHere(context, tap, end.error);
  });
}

/** Ends an answer that is charged although it is incomplete. */
function endHere({ record, reply }: CallContext, tap: StreamTap, error: GatewayError): void {
  if (reply.gone) return;
  recordFailure(record, error);
  reply.end(tap.fail(error));
}

/** The usage of a stream that was cut: the part that arrived, or the whole reservation if the vendor continues in the background. */
const meterCut = (
  { inputEstimate }: CallContext,
  { reservedOutputTokens }: Candidate,
  seen: StreamSeen,
): Promise<Metered> =>
  seen.continuesAfterDisconnect === true && !reportsInput(seen.usage)
    ? meterBackground(inputEstimate, reservedOutputTokens, { output: seen, seen: seen.usage })
    : meterPartial(seen.usage, inputEstimate, seen);

function wholeFromStream(route: Route, bytes: Buffer): JsonObject {
  let answer: JsonObject | undefined;
  let told: WireError | undefined;
  try {
    const events = eventsIn(bytes);
    answer = route.answerFromFrames(events);
    told = answer ? undefined : errorIn(events, route.tap());
  } catch (error) {
    // The same error as for a stream being relayed.
    throw new BadAnswerError(unreadStream(error), { cause: error });
  }
  if (told) throw answeredError("its stream holds an error", told);
  if (!answer) throw new BadAnswerError("it is a stream that is no complete answer");
  return answer;
}

/** The error that a stream holds, as while it is relayed. */
function errorIn(events: readonly SseEvent[], tap: StreamTap): WireError | undefined {
  for (const event of events) {
    tap.push(event);
    if (tap.seen.error) break;
  }
  return tap.seen.error;
}

/** How many bytes are parsed before the events are counted again. */
const readBytes = 1024 * 1024;

/** The events of a stream that was read as a whole. @throws SseOverflowError if it has more events than an answer may have */
function eventsIn(bytes: Buffer): SseEvent[] {
  const parser = createSseParser();
  const events: SseEvent[] = [];
  for (let from = 0; from < bytes.length; from += readBytes) {
    for (const event of parser.push(bytes.subarray(from, from + readBytes))) events.push(event);
    if (events.length > answerBounds.parts)
      throw new SseOverflowError("its stream has more events than an answer may have");
  }
  return [...events, ...parser.end()];
}

/** The answer with its charge, at the price of the offer that gave it. */
function answeredFor(
  { record, services }: CallContext,
  candidate: Candidate,
  told: Metered,
  end: () => void,
): Answered {
  const metered = candidate.writesForHour === true ? withHourWrites(told) : told;
  const price = billedPrice(candidate);
  record.metered = metered;
  record.price = price;
  const costNano = priceUsage(price, metered.usage);
  return { amountNano: chargeFor(costNano, { log: services.log, id: record.id }), end };
}

/** Not every vendor labels its streams: if a stream was requested, any answer not labelled as JSON is read as one. */
function isEventStream({ headers }: Exchange, asked: boolean): boolean {
  const type = (headers["content-type"] ?? "").toLowerCase();
  return type.startsWith("text/event-stream") || (asked && !type.includes("json"));
}

/** Parses a whole answer. Some upstreams report an error with status 200: that is no answer and is not billed (T60). */
function parseAnswer(bytes: Buffer, route: Route, exchange: Exchange): JsonObject {
  const text = textOf(bytes);
  let answer: unknown;
  try {
    answer = parseAnswerText(text, { bytes });
  } catch (error) {
    throw error instanceof BeyondBoundsError
      ? tooMany(text)
      : new BadAnswerError(notJson(bytes, exchange));
  }
  if (!isObject(answer)) throw new BadAnswerError("it is JSON, but no object");
  const failure = route.failure(answer as JsonObject);
  if (failure) throw answeredError("it is an error, or no answer at all", failure);
  return answer as JsonObject;
}

/** Matches requests for log probabilities: up to twenty per token. */
const logProbabilities = /"(?:top_logprobs|topCandidates)"\s*:/;

/**
 * The error for an answer with too many values. If log probabilities cause it, the caller's own request is the reason: it is not the
 * vendor's fault, and every other vendor would answer alike.
 */
function tooMany(text: string): BadAnswerError {
  const reason = "it has more values or levels than an answer may have";
  if (!logProbabilities.test(text)) return new BadAnswerError(reason);
  const message =
    "top_logprobs: a whole answer may have some 80,000 log probabilities here, and this one has more. Ask for fewer to a token, for a shorter answer, or for a stream.";
  const refusal = new GatewayError("invalid_value", message, { param: "top_logprobs" });
  return new BadAnswerError(reason, { refusal });
}

const typeMax = 80;

/** Describes a body that is not JSON, without quoting it. */
function notJson({ length }: Buffer, { headers }: Exchange): string {
  const type = headers["content-type"]?.slice(0, typeMax);
  if (length === 0) return "it is empty";
  return `it is not JSON, but ${counted(length, "byte")} ${type === undefined ? "without a content type" : `of ${type}`}`;
}
