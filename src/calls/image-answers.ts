/**
 * The two answers of an image call: whole, once all pictures are there, or streamed, with previews before the picture. The
 * end of both is sent once the charge is committed. IMG-28, EDIT2-26,
 * EDIT2-27, STREAM-08, STREAM-09; T14, T15.
 */
import { noteHeader } from "../base/notes.ts";
import {
  asAnswered,
  ask,
  askForStream,
  asTold,
  createImageEventReader,
  isEventStream,
  type ImageEvent,
  type MediaAnswer,
  type MediaRefusal,
  type MediaState,
} from "../upstream/index.ts";
import { askAt, attemptInOrder, jobAt, notMade, type ImageTarget } from "./image-attempts.ts";
import type { ImageContext } from "./image-context.ts";
import { fetchPicture, pictureOf, renderedAs } from "./image-pictures.ts";
import { settle, settlePartial, type Made } from "./image-settle.ts";
import { recordFirstToken, type Attempt } from "./record.ts";

/** Makes all pictures, charges them and sends them. @throws AttemptFailure, GatewayError */
export async function answerWhole(context: ImageContext): Promise<void> {
  const { services, reply, record, request } = context;
  const made = await attemptInOrder(context, async (target, attempt) => {
    const answer = await ask(...askAt(context, target, jobAt(context, target)));
    attempt.status = answer.status;
    return madeOf(context, target, answer);
  });
  recordFirstToken(record, services.clock.now());
  const answer = await settle(context, made, (settled) => ({
    created: Math.floor(services.clock.now() / 1000),
    data: made.pictures.map(({ base64, revisedPrompt }) => ({
      b64_json: base64,
      ...(revisedPrompt === undefined ? {} : { revised_prompt: revisedPrompt }),
    })),
    ...renderedAs(request, made.rendered, made.pictures[0]!),
    ...settled,
  }));
  if (!reply.gone) reply.whole(answer, droppedHeader(context));
}

/** What was changed in the request, for answers without a `gw` and for streams. */
function droppedHeader({ record }: ImageContext): Record<string, string> {
  const dropped = noteHeader(record.notes);
  return dropped === undefined ? {} : { "x-gw-dropped-params": dropped };
}

/** A whole answer as pictures; a vendor that streamed though nobody asked is read to its end. @throws AttemptFailure */
async function madeOf(
  context: ImageContext,
  target: ImageTarget,
  answer: MediaAnswer,
): Promise<Made> {
  const state =
    isEventStream(answer) && answer.status === 200
      ? stateOfEvents(answer.body)
      : target.dialect.readSubmit(answer.status, answer.body, jobAt(context, target));
  if (state.state !== "succeeded")
    throw notMade(asAnswered(target.provider, state, answer, context.services.clock.now()));
  const pictures = [];
  for (const [index, result] of state.results.entries()) {
    const picture = await fetchPicture(context, target, result);
    pictures.push({ ...picture, revisedPrompt: state.revisedPrompts?.[index] });
  }
  return { target, pictures, rendered: state.rendered ?? {}, told: state.told };
}

function stateOfEvents(body: Buffer): MediaState | MediaRefusal {
  const reader = createImageEventReader();
  const events = [...reader.push(body), ...reader.end()];
  const failed = events.find((event) => event.type === "error");
  if (failed) return failed.refusal;
  const completed = events.filter((event) => event.type === "completed");
  const [first] = completed;
  return {
    state: "succeeded",
    results: completed.map(({ base64 }) => ({ from: "base64", base64 })),
    told: first!.told,
    rendered: first!.rendered,
  };
}

/** Sends previews as they come, then charges the picture, then sends it. @throws AttemptFailure, GatewayError */
export async function answerStream(context: ImageContext): Promise<void> {
  const { services, reply, request } = context;
  const keptAlive = keepAlive(context);
  try {
    const made = await attemptInOrder(context, (target, attempt) =>
      streamFrom(context, target, attempt),
    );
    const [picture] = made.pictures;
    const answer = await settle(context, made, (settled) => ({
      type: `${eventPrefix(context)}.completed`,
      b64_json: picture!.base64,
      created_at: Math.floor(services.clock.now() / 1000),
      ...renderedAs(request, made.rendered, picture!),
      ...settled,
    }));
    if (!reply.gone) reply.end([{ event: answer.type, data: JSON.stringify(answer) }]);
  } finally {
    clearInterval(keptAlive);
  }
}

const eventPrefix = ({ request }: ImageContext): string =>
  request.images.length > 0 ? "image_edit" : "image_generation";

/** A picture takes its time, and so does the pause between two: no proxy shall cut them (T88). */
function keepAlive({ services, reply }: ImageContext): NodeJS.Timeout {
  return setInterval(() => {
    if (!reply.gone && !reply.ended) reply.keepAlive();
  }, services.keepAliveMs);
}

async function streamFrom(
  context: ImageContext,
  target: ImageTarget,
  attempt: Attempt,
): Promise<Made> {
  context.reply.open(droppedHeader(context));
  const answer = await askForStream(...askAt(context, target, jobAt(context, target)));
  attempt.status = answer.status;
  if (!("stream" in answer)) return madeOf(context, target, answer);
  let previews = 0;
  try {
    for await (const event of eventsIn(answer.stream)) {
      if (event.type === "error") throw notMade(asTold(target.provider, event.refusal));
      if (event.type === "completed") {
        const { base64, rendered, told } = event;
        return { target, pictures: [pictureOf(base64)], rendered, told };
      }
      await sendPreview(context, event);
      previews += 1;
    }
  } catch (error) {
    if (previews > 0 && context.gone.aborted) await settlePartial(context, target, previews);
    throw error;
  }
  throw new Error("a stream of events ends with a picture or an error");
}

/** The events of a stream, the last of which is a picture or an error. @throws AskFailure where it breaks */
async function* eventsIn(stream: AsyncIterable<Buffer>): AsyncGenerator<ImageEvent> {
  const reader = createImageEventReader();
  for await (const chunk of stream) yield* reader.push(chunk);
  yield* reader.end();
}

async function sendPreview(
  context: ImageContext,
  { base64, index, rendered }: Extract<ImageEvent, { type: "partial" }>,
): Promise<void> {
  const { services, reply, record, request } = context;
  const now = services.clock.now();
  const type = `${eventPrefix(context)}.partial_image`;
  const event = {
    type,
    b64_json: base64,
    created_at: Math.floor(now / 1000),
    ...renderedAs(request, rendered, pictureOf(base64)),
    partial_image_index: index,
  };
  if (record.firstTokenMs === null) recordFirstToken(record, now);
  const taken = reply.write([{ event: type, data: JSON.stringify(event) }]);
  if (taken || reply.gone) return;
  // A slow client holds back the vendor.
  await new Promise<void>((resolve) => {
    reply.onDrain(resolve);
    reply.onGone(resolve);
  });
}
