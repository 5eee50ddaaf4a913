// Shared by the tests of both codecs: streams as bytes, cut anywhere, and recordings of real vendors if they are available.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { createSseParser, type SseEvent } from "../../../src/base/sse.ts";
import type { CanonicalEvent } from "../../../src/protocols/canonical/events.ts";
import type { AnswerContext, Codec, StreamTap } from "../../../src/protocols/codec.ts";

/** The frames of a raw stream that arrives in two pieces, cut at byte `cut`. */
export function framesOf(bytes: Uint8Array, cut = bytes.length): SseEvent[] {
  const parser = createSseParser();
  return [
    ...parser.push(bytes.subarray(0, cut)),
    ...parser.push(bytes.subarray(cut)),
    ...parser.end(),
  ];
}

export function decodeAll(codec: Codec, frames: readonly SseEvent[]): CanonicalEvent[] {
  const decoder = codec.decodeStream();
  return [...frames.flatMap((frame) => decoder.push(frame)), ...decoder.end({ kind: "complete" })];
}

export function encodeAll(
  codec: Codec,
  events: readonly CanonicalEvent[],
  context: AnswerContext,
): SseEvent[] {
  const encoder = codec.encodeStream(context);
  return [...events.flatMap((event) => encoder.push(event)), ...encoder.end({ kind: "complete" })];
}

/** The frames that a tap passed at once, and those that it held until its release. */
export function tapAll(tap: StreamTap, frames: readonly SseEvent[]) {
  const passed = frames.flatMap((frame) => tap.push(frame));
  return { passed, released: tap.release() };
}

export const answerContext: AnswerContext = {
  model: "acme/talk",
  id: "01abc",
  createdAt: 1_790_000_000,
  inputEstimate: 77,
  request: {
    protocol: "chat",
    model: "acme/talk",
    stream: true,
    native: [],
    names: {},
  },
};

const recordings = resolve(import.meta.dirname, "../../../../shared/recordings");

/** Recordings of a vendor by file name. Empty if the folder is not beside the repository. */
export function recordingsOf(vendor: string, ending: string): [name: string, text: string][] {
  const folder = join(recordings, vendor);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.endsWith(ending))
    .map((name) => [basename(name, ending), readFileSync(join(folder, name), "utf8")]);
}
