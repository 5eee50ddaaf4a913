/**
 * Reading one upstream answer on a direct route: whole or streamed, and both when the upstream answers in the other form
 * than it was asked for (T14, T15). Each reader settles the money before the caller sees the end of the answer.
 */
import { toGatewayError } from "../base/errors.ts";
import { isObject } from "../base/json.ts";
import { noteParams } from "../base/notes.ts";
import { createSseParser, type SseEvent } from "../base/sse.ts";
import { priceUsage } from "../catalog/index.ts";
import type { JsonObject, Route } from "../protocols/index.ts";
import { ExchangeError, type Exchange } from "../upstream/index.ts";
import type { CallContext } from "./context.ts";
import { meterPartial, meterWhole, textOfCut, type Metered } from "./meter.ts";
import type { Candidate } from "./prepare.ts";
import { recordFirstToken } from "./record.ts";
import { BadAnswerError } from "./bad-answer.ts";
import { relayStream } from "./text-stream.ts";

const answerBytesMax = 256 * 1024 * 1024;

/** Reads a whole answer, charges it and sends it. */
export async function answerWhole(
  context: CallContext,
  exchange: Exchange,
  candidate: Candidate,
): Promise<void> {
  let bytes: Buffer;
  try {
    bytes = await exchange.readAll(answerBytesMax);
  } catch (error) {
    return chargeCut(context, candidate, error);
  }
  const { route } = context;
  const answer = isEventStream(exchange, false)
    ? wholeFromStream(route, bytes)
    : parseAnswer(bytes, route);
  recordFirstToken(context.record, context.services.clock.now());
  const metered = meterWhole(route.usage(answer), context.inputEstimate, () => route.text(answer));
  // Before the charge: an answer that cannot be converted is not given, and not billed.
  const converted = route.answer(answer, noteParams(context.record.notes), metered.usage);
  await settle(context, candidate, metered);
  context.reply.whole(converted, {});
}

/** Charges what had arrived of a whole answer when its client left in its middle (T62). @throws what else went wrong */
async function chargeCut(
  context: CallContext,
  candidate: Candidate,
  error: unknown,
): Promise<void> {
  if (!(error instanceof ExchangeError) || error.failure !== "aborted") throw error;
  const text = textOfCut(error.received?.toString("utf8") ?? "");
  // Nothing of the answer arrived: nothing is charged, as on a stream without a frame.
  if (text === "") throw error;
  await settle(context, candidate, meterPartial(undefined, context.inputEstimate, text));
}

/** Relays a stream, charges it, and then sends its end. */
export async function answerStream(
  context: CallContext,
  exchange: Exchange,
  candidate: Candidate,
): Promise<void> {
  if (!isEventStream(exchange, true)) return answerStreamFromWhole(context, exchange, candidate);
  const tap = context.route.tap();
  const end = await relayStream({
    exchange,
    tap,
    reply: context.reply,
    onFirstFrame: () => recordFirstToken(context.record, context.services.clock.now()),
  });
  if (end.kind === "client_gone") {
    await settle(
      context,
      candidate,
      meterPartial(tap.seen.usage, context.inputEstimate, tap.seen.text),
    );
    return;
  }
  let last: readonly SseEvent[];
  try {
    // Costs of upstream errors are absorbed by the platform (BILL-22); the caller is told inside the stream (T16).
    if (end.kind === "broken") throw end.error;
    const metered = meterWhole(tap.seen.usage, context.inputEstimate, () => tap.seen.text);
    await settle(context, candidate, metered);
    last = tap.release(metered.usage);
  } catch (error) {
    if (context.reply.started) context.reply.end(tap.fail(toGatewayError(error)));
    throw error;
  }
  context.reply.end(last);
}

async function answerStreamFromWhole(
  context: CallContext,
  exchange: Exchange,
  candidate: Candidate,
): Promise<void> {
  let bytes: Buffer;
  try {
    bytes = await exchange.readAll(answerBytesMax);
  } catch (error) {
    return chargeCut(context, candidate, error);
  }
  recordFirstToken(context.record, context.services.clock.now());
  const { route } = context;
  const answer = parseAnswer(bytes, route);
  const frames = route.framesOf(answer);
  await settle(
    context,
    candidate,
    meterWhole(route.usage(answer), context.inputEstimate, () => route.text(answer)),
  );
  context.reply.end(frames);
}

function wholeFromStream(route: Route, bytes: Buffer): JsonObject {
  const parser = createSseParser();
  const frames = [...parser.push(bytes), ...parser.end()];
  const answer = route.wholeOf(frames);
  if (!answer) throw new BadAnswerError("the upstream sent a stream that is no complete answer");
  return answer;
}

/** Charges the call at the price of the offer that answered it. */
async function settle(context: CallContext, candidate: Candidate, metered: Metered): Promise<void> {
  context.record.metered = metered;
  const amountNano = priceUsage(candidate.offer.price, metered.usage);
  context.record.costNano = await context.services.spend.post(context.hold, amountNano);
  context.record.status = context.reply.gone ? "client_closed" : "succeeded";
}

/** Not every vendor labels its streams: where one was asked for, what is not labelled as JSON is read as one. */
function isEventStream({ headers }: Exchange, asked: boolean): boolean {
  const type = (headers["content-type"] ?? "").toLowerCase();
  return type.startsWith("text/event-stream") || (asked && !type.includes("json"));
}

/** Some upstreams tell an error with status 200: that is no answer, and not to be billed (T60). */
function parseAnswer(bytes: Buffer, route: Route): JsonObject {
  let answer: unknown;
  try {
    answer = JSON.parse(bytes.toString("utf8"));
  } catch {
    throw new BadAnswerError("the upstream's answer is not JSON");
  }
  if (!isObject(answer)) throw new BadAnswerError("the upstream's answer is not a JSON object");
  const failure = route.failure(answer as JsonObject);
  if (failure) throw new BadAnswerError(failure.message);
  return answer as JsonObject;
}
