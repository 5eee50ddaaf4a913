/**
 * Reading one upstream answer on a direct route: whole or streamed, and both when the upstream answers in the other form
 * than it was asked for (T14, T15). Each reader settles the money before the caller sees the end of the answer.
 */
import { toGatewayError } from "../base/errors.ts";
import { isObject } from "../base/json.ts";
import { noteParams } from "../base/notes.ts";
import { createSseParser } from "../base/sse.ts";
import { priceUsage } from "../catalog/index.ts";
import {
  codecs,
  framesOfWhole,
  wholeOfFrames,
  type AnswerContext,
  type Codec,
  type JsonObject,
  type StreamTap,
} from "../protocols/index.ts";
import { ExchangeError, type Exchange } from "../upstream/index.ts";
import type { CallContext } from "./context.ts";
import { meterPartial, meterWhole, textOfCut, type Metered } from "./meter.ts";
import { BadAnswerError, type Candidate } from "./text-attempts.ts";
import { relayStream } from "./text-stream.ts";

const answerBytesMax = 256 * 1024 * 1024;

/** Reads a whole answer, charges it and sends it. */
export async function answerWhole(
  context: CallContext,
  exchange: Exchange,
  candidate: Candidate,
): Promise<void> {
  const bytes = await readWhole(context, exchange, candidate);
  if (!bytes) return;
  const codec = codecs[candidate.offer.protocol];
  const answer = isEventStream(exchange)
    ? wholeFromStream(context, bytes)
    : parseAnswer(bytes, codec);
  context.record.firstTokenMs = context.clock.now() - context.record.startedMs;
  const metered = meterWhole(codec.direct.usage(answer), context.inputEstimate, () =>
    codec.direct.text(answer),
  );
  await settle(context, candidate, metered);
  context.reply.whole(
    codec.direct.answer(answer, context.record.model, noteParams(context.record.notes)),
    {},
  );
}

/** The whole body; undefined when the client left in its middle, and what had arrived is charged (T62). */
async function readWhole(
  context: CallContext,
  exchange: Exchange,
  candidate: Candidate,
): Promise<Buffer | undefined> {
  try {
    return await exchange.readAll(answerBytesMax);
  } catch (error) {
    if (!(error instanceof ExchangeError) || error.failure !== "aborted") throw error;
    const text = textOfCut(error.received?.toString("utf8") ?? "");
    // Nothing of the answer arrived: nothing is charged, as on a stream without a frame.
    if (text === "") throw error;
    await settle(context, candidate, meterPartial(undefined, context.inputEstimate, text));
    return undefined;
  }
}

/** Relays a stream, charges it, and then sends its end. */
export async function answerStream(
  context: CallContext,
  exchange: Exchange,
  candidate: Candidate,
): Promise<void> {
  if (!isEventStream(exchange)) return answerStreamFromWhole(context, exchange, candidate);
  const tap = emptyTap(context);
  const end = await relayStream({
    exchange,
    tap,
    reply: context.reply,
    onFirstFrame: () =>
      (context.record.firstTokenMs = context.clock.now() - context.record.startedMs),
  });
  if (end.kind === "client_gone") {
    await settle(
      context,
      candidate,
      meterPartial(tap.seen.usage, context.inputEstimate, tap.seen.text),
    );
    return;
  }
  try {
    // Costs of upstream errors are absorbed by the platform (BILL-22); the caller is told inside the stream (T16).
    if (end.kind === "broken") throw end.error;
    await settle(
      context,
      candidate,
      meterWhole(tap.seen.usage, context.inputEstimate, () => tap.seen.text),
    );
  } catch (error) {
    if (context.reply.started) context.reply.end(tap.fail(toGatewayError(error)));
    throw error;
  }
  context.reply.end(tap.release());
}

/** A tap for the call's own protocol that has seen nothing yet. */
export function emptyTap({ call, record, inputEstimate }: CallContext): StreamTap {
  return codecs[call.protocol].direct.tap({
    model: record.model,
    request: call.body,
    inputEstimate,
  });
}

async function answerStreamFromWhole(
  context: CallContext,
  exchange: Exchange,
  candidate: Candidate,
): Promise<void> {
  const bytes = await readWhole(context, exchange, candidate);
  if (!bytes) return;
  const codec = codecs[candidate.offer.protocol];
  const answer = parseAnswer(bytes, codec);
  const frames = framesOfWhole(codec, answer, answerContext(context));
  await settle(
    context,
    candidate,
    meterWhole(codec.direct.usage(answer), context.inputEstimate, () => codec.direct.text(answer)),
  );
  context.reply.end(frames);
}

function wholeFromStream(context: CallContext, bytes: Buffer): JsonObject {
  const parser = createSseParser();
  const frames = [...parser.push(bytes), ...parser.end()];
  const answer = wholeOfFrames(codecs[context.call.protocol], frames, answerContext(context));
  if (!answer) throw new BadAnswerError("the upstream sent a stream that is no complete answer");
  return answer;
}

/** Charges the call at the price of the offer that answered it. */
async function settle(context: CallContext, candidate: Candidate, metered: Metered): Promise<void> {
  context.record.metered = metered;
  const amountNano = priceUsage(candidate.offer.price, metered.usage);
  context.record.costNano = await context.spend.post(context.hold, amountNano);
  context.record.status = context.reply.gone ? "client_closed" : "succeeded";
}

function isEventStream(exchange: Exchange): boolean {
  return (exchange.headers["content-type"] ?? "").startsWith("text/event-stream");
}

/** Some upstreams tell an error with status 200: that is no answer, and not to be billed (T60). */
function parseAnswer(bytes: Buffer, codec: Codec): JsonObject {
  let answer: unknown;
  try {
    answer = JSON.parse(bytes.toString("utf8"));
  } catch {
    throw new BadAnswerError("the upstream's answer is not JSON");
  }
  if (!isObject(answer)) throw new BadAnswerError("the upstream's answer is not a JSON object");
  const failure = codec.direct.failure(answer as JsonObject);
  if (failure) throw new BadAnswerError(failure.message);
  return answer as JsonObject;
}

function answerContext(context: CallContext): AnswerContext {
  const { call, record } = context;
  return {
    model: record.model,
    id: call.id,
    createdAt: Math.floor(record.startedMs / 1000),
    request: codecs[call.protocol].decodeRequest(call.body, {
      model: call.model,
      stream: call.stream,
    }),
    inputEstimate: context.inputEstimate,
  };
}
