/** Helpers for the tests of the two OpenAI-style codecs: raw bytes in, frames and events out. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { GatewayError } from "../../../src/base/errors.ts";
import { createSseParser, formatSse, type SseEvent } from "../../../src/base/sse.ts";
import type { CanonicalEvent } from "../../../src/protocols/canonical/events.ts";
import type { JsonObject } from "../../../src/protocols/canonical/request.ts";
import type {
  AnswerContext,
  AnsweredRequest,
  Codec,
  DirectCodec,
  EndReason,
  StreamTap,
} from "../../../src/protocols/codec.ts";

const complete: EndReason = { kind: "complete" };

/** The frames in the bytes of a stream that arrives in these pieces. */
export function framesOf(...pieces: readonly (string | Uint8Array)[]): SseEvent[] {
  const parser = createSseParser();
  const frames = pieces.flatMap((piece) => parser.push(Buffer.from(piece)));
  return [...frames, ...parser.end()];
}

/** The bytes of a stream of chunks, each in its own `data:` frame. Strings are written as they are. */
export const sse = (...chunks: readonly (JsonObject | string)[]): string =>
  chunks
    .map((chunk) => formatSse({ data: typeof chunk === "string" ? chunk : JSON.stringify(chunk) }))
    .join("");

/** Every way to cut the bytes in two, and byte by byte. */
export function everyCut(text: string): Uint8Array[][] {
  const bytes = Buffer.from(text);
  const halves = Array.from(bytes, (_byte, at) => [bytes.subarray(0, at), bytes.subarray(at)]);
  return [...halves, Array.from(bytes, (byte) => Buffer.of(byte))];
}

export function decodeFrames(
  codec: Codec,
  frames: readonly SseEvent[],
  why: EndReason = complete,
): CanonicalEvent[] {
  const decoder = codec.decodeStream();
  return [...frames.flatMap((frame) => decoder.push(frame)), ...decoder.end(why)];
}

export function encodeEvents(
  codec: Codec,
  events: readonly CanonicalEvent[],
  context: AnswerContext,
  why: EndReason = complete,
): SseEvent[] {
  const encoder = codec.encodeStream(context);
  return [...events.flatMap((event) => encoder.push(event)), ...encoder.end(why)];
}

/** The context of an answer. `request` overrides fields of the caller's request. */
export function contextFor(request: Partial<AnsweredRequest> = {}): AnswerContext {
  return {
    model: "acme/talk",
    id: "01test",
    createdAt: 1_700_000_000,
    inputEstimate: 7,
    request: {
      protocol: "chat",
      model: "acme/talk",
      stream: true,
      native: [],
      names: {},
      ...request,
    },
  };
}

/** "code param" of the error that a check throws, or "none" if it passes. */
export function faultOf(check: () => unknown): string {
  try {
    check();
    return "none";
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return `${error.code} ${error.param}`;
  }
}

/** The parsed data of frames. The end marker stays a string. */
export const dataOf = (frames: readonly SseEvent[]): (JsonObject | string)[] =>
  frames.map(({ data }) => (data === "[DONE]" ? data : (JSON.parse(data) as JsonObject)));

/** A tap of a stream for `acme/talk`, and the frames that it passed. */
export function tapped(
  direct: DirectCodec,
  frames: readonly SseEvent[],
  request: JsonObject = {},
): { tap: StreamTap; passed: SseEvent[] } {
  const tap = direct.tap({ model: "acme/talk", request, inputEstimate: 7, id: "1", createdAt: 5 });
  return { tap, passed: frames.flatMap((frame) => tap.push(frame)) };
}

const recordingsFolder = new URL("../../../../shared/recordings/", import.meta.url);

/** Recorded vendor answers from beside the repository, if they are there: name and text of each file. */
export function recordings(folder: string, ending: RegExp): { name: string; text: string }[] {
  const place = new URL(`${folder}/`, recordingsFolder);
  if (!existsSync(place)) return [];
  return readdirSync(place)
    .filter((name) => ending.test(name))
    .map((name) => ({ name, text: readFileSync(new URL(name, place), "utf8") }));
}

/** The frames of a recording: one event's JSON a line, or raw SSE. */
export const recordedFrames = (text: string): SseEvent[] =>
  text.startsWith("data:")
    ? framesOf(text)
    : text
        .split("\n")
        .filter((line) => line !== "")
        .map((data) => ({ data }));
