/**
 * The attempts of an image call: sending the request and reading the answer. Failover ends once a vendor may have begun, or the
 * caller has received a preview (T81). Each attempt is built anew: address, key, headers and files (T75). The loop is
 * attempts/failover.ts; docs/routing.md.
 */
import { msSince } from "../base/elapsed.ts";
import {
  AttemptFailure,
  Failover,
  failureOf,
  mediaCandidate,
  mediaPool,
  PictureRoom,
  type Attempt,
  type MediaCandidate,
} from "../attempts/index.ts";
import type { Credential, MediaOffer } from "../catalog/index.ts";
import { requestedResults } from "../media/index.ts";
import type { MeasuredCall } from "../routing/index.ts";
import { notesAt, openUpload } from "../tasks/index.ts";
import {
  maskAnswerWithHeaders,
  ask,
  AskFailure,
  askForStream,
  maskAnswer,
  createImageEventReader,
  type AskLimits,
  type ImageEvent,
  type MediaAnswer,
  type MediaJob,
  type StreamedAnswer,
} from "../upstream/index.ts";
import { Backpressure, heldBackFailure } from "./backpressure.ts";
import { picturesBytes, type ImageContext } from "./image-context.ts";
import { failedAsk, notMade } from "./image-failures.ts";
import { fetchPicture } from "./image-pictures.ts";
import { sendPreview } from "./image-previews.ts";
import { chargePartial, type ProducedPictures } from "./image-settle.ts";
import { withChanges } from "./hooks.ts";
import { droppedHeader } from "./reply.ts";
import { arrivedIsCharged, nothingIsCharged, stopping } from "./stopping.ts";

type Answered = MediaAnswer | StreamedAnswer;

class ImageFailover extends Failover<
  ImageContext,
  MediaOffer,
  MediaCandidate,
  Answered,
  ProducedPictures
> {
  protected candidate({ services }: ImageContext, planned: MediaOffer): MediaCandidate | undefined {
    return mediaCandidate(services.catalog(), planned, "image");
  }

  /** If the vendor bills even after an abort, its answer is read to the end although the client left. It is not asked for one that has. */
  protected ask(
    context: ImageContext,
    candidate: MediaCandidate,
    { apiKey }: Credential,
    traceparent: string | undefined,
  ): Promise<Answered> {
    const { services, call, record, prepared, request, gone, stopped } = context;
    const { provider, dialect, offer } = candidate;
    const notes = notesAt(services.catalog(), prepared, offer, call.input.fields);
    record.notes = withChanges(call.changes, notes);
    const job = dialect.submit(provider, apiKey, jobAt(context, candidate));
    const limits: AskLimits = {
      signal:
        provider.onDisconnect === "abort" || gone.aborted
          ? AbortSignal.any([gone, stopped])
          : stopped,
      room: new PictureRoom(call.lease, picturesBytes(request)),
      traceparent,
    };
    const pool = mediaPool(services.pools, provider);
    if (request.stream !== true) return ask(pool, provider, job, limits);
    context.reply.open(droppedHeader(record.notes));
    return askForStream(pool, provider, job, limits);
  }

  protected read(
    context: ImageContext,
    answered: Answered,
    candidate: MediaCandidate,
  ): Promise<ProducedPictures> {
    return "stream" in answered
      ? readStream(context, candidate, answered)
      : readWhole(context, candidate, answered);
  }

  protected failureOf(thrown: unknown, { record, stopped }: ImageContext): AttemptFailure {
    const failed = thrown instanceof AskFailure ? failedAsk(thrown) : failureOf(thrown);
    if (stopped.aborted) {
      const { outcome, message, error: own } = failed.failure;
      const charged = record.costNano > 0n ? arrivedIsCharged : nothingIsCharged;
      const error = stopping(charged, own.shouldRetry);
      return new AttemptFailure({ error, outcome, message }, thrown);
    }
    return record.firstTokenMs === null
      ? failed
      : new AttemptFailure({ ...failed.failure, allowsFailover: false }, thrown);
  }

  protected speed({ record }: ImageContext, { started_ms }: Attempt): MeasuredCall {
    const durationMs = msSince(record.beganMs) - started_ms;
    return { stream: false, firstTokenMs: durationMs, durationMs, outputTokens: undefined };
  }
}

/** The failover loop of image calls; returns the pictures made. */
export const imageFailover = new ImageFailover();

/** The job in the form for this provider. */
const jobAt = ({ services, request }: ImageContext, { offer }: MediaCandidate): MediaJob => ({
  request,
  upstreamModel: offer.upstreamModel,
  open: (upload) => openUpload(services.files, upload),
});

/** Reads the pictures of a whole answer. @throws AttemptFailure */
async function readWhole(
  context: ImageContext,
  candidate: MediaCandidate,
  answer: MediaAnswer,
): Promise<ProducedPictures> {
  const { status, body } = answer;
  const state = candidate.dialect.readSubmit(status, body, jobAt(context, candidate));
  if (state.state !== "succeeded")
    throw notMade(
      maskAnswerWithHeaders(candidate.provider, state, answer, context.services.clock.now()),
    );
  const { request, call } = context;
  const room = new PictureRoom(call.lease, picturesBytes(request));
  const pictures = [];
  for (const [index, result] of requestedResults(request, state.results).entries()) {
    const picture = await fetchPicture(context, candidate, { result, room });
    pictures.push({ ...picture, revisedPrompt: state.revisedPrompts?.[index] });
  }
  return { candidate, pictures, rendered: state.rendered ?? {}, reported: state.reported };
}

/** Relays the previews of a stream, at most as many as were asked for, and returns its picture. @throws AttemptFailure, AskFailure */
async function readStream(
  context: ImageContext,
  candidate: MediaCandidate,
  { stream }: StreamedAnswer,
): Promise<ProducedPictures> {
  const asked = context.request.partialImages ?? 0;
  const source = { stream, held: new Backpressure() };
  const room = new PictureRoom(context.call.lease, picturesBytes(context.request));
  room.onStart(() => stream.destroy(new AskFailure("idle_timeout", true)));
  let arrived = 0;
  let sent = 0;
  try {
    for await (const event of eventsIn(stream, room)) {
      if (event.type === "error") throw notMade(maskAnswer(candidate.provider, event.refusal));
      if (event.type === "completed") {
        const { result, rendered, reported } = event;
        room.onEnd(true);
        const pictures = [await fetchPicture(context, candidate, { result, room })];
        return { candidate, pictures, previews: sent, rendered, reported };
      }
      arrived += 1;
      if (sent < asked && (await sendPreview(context, event, source))) sent += 1;
    }
  } catch (error) {
    room.onEnd(false);
    if (arrived === 0 || !(error instanceof AskFailure)) throw error;
    const isHeld =
      !context.reply.gone && source.held.causedEarlyEnd(error.failure === "total_timeout");
    if (!isHeld && !isCutFor(context, error)) throw error;
    await chargePartial(context, candidate, sent);
    throw isHeld ? heldBackFailure(error) : error;
  }
  throw new Error("a stream of events ends with a picture or an error");
}

/**
 * True if the gateway ended the stream, because the client left or the gateway stops. A failure by the vendor costs nothing, even if
 * the client left.
 */
const isCutFor = ({ gone, stopped }: ImageContext, { failure }: AskFailure): boolean =>
  (gone.aborted || stopped.aborted) && failure === "aborted";

/**
 * The events of a stream; the last one is a picture or an error. Bytes of incomplete events are counted in `room`.
 * @throws AskFailure if the stream breaks
 */
async function* eventsIn(
  stream: AsyncIterable<Buffer>,
  room: PictureRoom,
): AsyncGenerator<ImageEvent> {
  const reader = createImageEventReader(room.eventBytesMax);
  let heldBytes = 0;
  for await (const chunk of stream) {
    yield* reader.push(chunk);
    const more = reader.heldBytes - heldBytes;
    heldBytes += more;
    await room.onBytes(more);
  }
  yield* reader.end();
}
