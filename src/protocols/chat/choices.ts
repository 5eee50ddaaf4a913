/**
 * Answers with several choices, or with logprobs, in the other form than they were asked for: the canonical form has one choice
 * and no logprobs, and a caller of this protocol gets what its own vendor gave. Traps T14, T15.
 */
import { isObject } from "../../base/json.ts";
import type { SseEvent } from "../../base/sse.ts";
import type { Json, JsonObject } from "../canonical/request.ts";
import type { AnswerContext } from "../codec.ts";
import { list, nonEmpty, objectOf, objects, parseObject } from "../read.ts";
import { endMarker } from "../stream-frames.ts";
import { collectFrames, framesOfWhole } from "../whole.ts";
import { decodeStream } from "./decode-stream.ts";
import { encodeStream } from "./encode-stream.ts";
import { decodeResponse, encodeChoice } from "./response.ts";

interface StreamedChoice {
  /** Its own stream, numbered 0. */
  readonly frames: SseEvent[];
  readonly logprobs: { content: Json[]; refusal: Json[] };
}

/** The whole answer with all choices of its stream; undefined where one of them broke off. */
export function withChoices(
  whole: JsonObject,
  frames: readonly SseEvent[],
): JsonObject | undefined {
  const choices: Json[] = [];
  for (const [index, { frames: own, logprobs }] of streamedChoices(frames)) {
    const response = collectFrames({ decodeStream }, own);
    if (!response) return undefined;
    const choice = encodeChoice(response, index);
    const { content, refusal } = logprobs;
    const isTold = content.length > 0 || refusal.length > 0;
    choices.push(isTold ? { ...choice, logprobs: { content, refusal } } : choice);
  }
  return choices.length === 0 ? whole : { ...whole, choices };
}

function streamedChoices(frames: readonly SseEvent[]): [number, StreamedChoice][] {
  const choices = new Map<number, StreamedChoice>();
  for (const { data } of frames) {
    const chunk = parseObject(data);
    for (const choice of objects(chunk?.["choices"])) {
      const index = Number(choice["index"] ?? 0);
      const known = choices.get(index);
      const { frames: own, logprobs } = known ?? { frames: [], logprobs: noLogprobs() };
      if (!known) choices.set(index, { frames: own, logprobs });
      own.push({ data: JSON.stringify({ ...chunk, choices: [{ ...choice, index: 0 }] }) });
      const told = objectOf(choice["logprobs"]);
      logprobs.content.push(...(list(told["content"]) as Json[]));
      logprobs.refusal.push(...(list(told["refusal"]) as Json[]));
    }
  }
  if (frames.some(({ data }) => data.trim() === endMarker.data))
    for (const { frames: own } of choices.values()) own.push(endMarker);
  return [...choices].sort(([left], [right]) => left - right);
}

const noLogprobs = (): StreamedChoice["logprobs"] => ({ content: [], refusal: [] });

/** The stream of a whole answer; undefined where its one choice has nothing but what the canonical form has. */
export function framesOfChoices(
  answer: JsonObject,
  context: AnswerContext,
): SseEvent[] | undefined {
  const choices = objects(answer["choices"]) as JsonObject[];
  if (choices.length < 2 && !choices.some(({ logprobs }) => isObject(logprobs))) return undefined;
  const streams = choices.map((choice, at) => {
    const own = framesOfWhole({ decodeResponse, encodeStream }, only(answer, choice), context);
    return own.map((frame) => numbered(frame, choice, Number(choice["index"] ?? at)));
  });
  // What ends a stream stands at its end once: the last has it.
  return streams.flatMap((frames, at) =>
    at === streams.length - 1 ? frames : frames.filter(isOfChoice),
  );
}

const only = (answer: JsonObject, choice: JsonObject): JsonObject => ({
  ...answer,
  choices: [choice],
});

const isOfChoice = ({ data }: SseEvent): boolean =>
  objects(parseObject(data)?.["choices"]).length > 0;

/** A frame under its choice's number; the text's has the logprobs. */
function numbered(frame: SseEvent, { logprobs = null }: JsonObject, index: number): SseEvent {
  const chunk = parseObject(frame.data);
  const [choice] = objects(chunk?.["choices"]);
  if (!choice) return frame;
  const { content, refusal } = objectOf(choice["delta"]);
  const isText = nonEmpty(content) !== undefined || nonEmpty(refusal) !== undefined;
  const told = isText ? { logprobs } : {};
  return { data: JSON.stringify({ ...chunk, choices: [{ ...choice, ...told, index }] }) };
}
