/**
 * Reads the frames of a generateContent stream; shared by conversion and by the metering of direct routes. Each frame is a whole response
 * object with parts of the answer. Traps T16, T46, T49.
 */
import type { WireObject } from "../../base/json.ts";
import type { SseEvent } from "../../base/sse.ts";
import type { Usage } from "../../base/usage.ts";
import { isSet, nonEmpty, objectOf, objects } from "../read.ts";
import { StreamFrames, unread, type AnyEvent } from "../stream-frames.ts";
import { ReportedUsage } from "../reported-usage.ts";
import { withUses } from "../tool-uses.ts";
import { decodeError } from "./errors.ts";
import { GroundingUses } from "./grounding-uses.ts";
import { decodeMedia, isDraft } from "./parts.ts";
import { blockOf } from "./response.ts";
import { decodeUsage, mergeUsage } from "./usage.ts";
import { varying } from "./varying.ts";

export interface GenerateChunk {
  readonly type: "chunk";
  readonly data: WireObject;
  readonly candidates: readonly Candidate[];
  /** Why the prompt was blocked; there is no candidate then. */
  readonly blocked: string | undefined;
  readonly blockMessage: string | undefined;
  readonly reportsUsage: boolean;
}

interface Candidate {
  readonly index: unknown;
  readonly parts: readonly WireObject[];
  readonly reason: string | undefined;
  /** The vendor's message beside the reason. */
  readonly message: string | undefined;
  /** The candidate as received, for its grounding and citation metadata. */
  readonly wire: WireObject;
}

/** Reads one stream. The protocol has no end marker: the stream just closes. */
export class GenerateReader {
  /**
   * True if every candidate seen has a finish reason, or the prompt was blocked. A candidate that continues after its reason has not ended:
   * some vendors send a reason with every frame.
   */
  ended = false;
  /** True while no candidate has a part. */
  isOpening = true;
  readonly #frames = new StreamFrames(varying);
  readonly #reported = new ReportedUsage();
  /** All counts so far, as received. */
  #usage: WireObject = {};
  readonly #grounding = new GroundingUses();
  /** By candidate index: true while the candidate is still being written. */
  readonly #open = new Map<unknown, boolean>();

  /** The usage so far; once the answer is over, only usage that covers all of it. */
  get usage(): Usage | undefined {
    return withUses(this.#reported.read(this.ended), this.#grounding.counts);
  }

  /** True if the usage covers only the start of the answer. */
  get coversStartOnly(): boolean {
    return this.#reported.coversStartOnly;
  }

  read(event: SseEvent): GenerateChunk | AnyEvent {
    const data = this.#frames.read(event);
    if (typeof data === "string") return unread[data];
    if (isSet(data["error"])) return { type: "error", error: decodeError(502, data) };
    const before = this.#usage;
    this.#usage = mergeUsage(before, data["usageMetadata"]);
    const candidates = objects(data["candidates"]).map(readCandidate);
    this.#grounding.take(data["candidates"]);
    const { blocked, blockMessage } = blockOf(data);
    this.isOpening &&= blocked === undefined && candidates.every(saysNothing);
    this.#noteEnds(candidates, blocked !== undefined);
    const reportsUsage = this.#usage !== before;
    if (reportsUsage) this.#reported.take(decodeUsage(this.#usage), this.ended);
    return { type: "chunk", data, candidates, blocked, blockMessage, reportsUsage };
  }

  #noteEnds(candidates: readonly Candidate[], isBlocked: boolean): void {
    if (isBlocked) this.#open.set("prompt", false);
    for (const { index, reason, parts } of candidates) {
      if (reason !== undefined) this.#open.set(index, false);
      else if (this.#open.get(index) !== false || parts.some(says)) this.#open.set(index, true);
    }
    this.ended = this.#open.size > 0;
    for (const isOpen of this.#open.values()) if (isOpen) this.ended = false;
  }
}

const readCandidate = (wire: WireObject): Candidate => ({
  index: wire["index"] ?? 0,
  parts: objects(objectOf(wire["content"])["parts"]),
  reason: nonEmpty(wire["finishReason"]),
  message: nonEmpty(wire["finishMessage"]),
  wire,
});

const saysNothing = ({ parts, reason }: Candidate): boolean =>
  parts.length === 0 && reason === undefined;

const says = (part: WireObject): boolean => partText(part) !== "";

/** Returns the output text of a part: text, thoughts, and function calls as JSON. */
export function partText(part: WireObject): string {
  if (typeof part["text"] === "string") return part["text"];
  const { name, args, partialArgs } = objectOf(part["functionCall"]);
  const input = args ?? partialArgs;
  return `${nonEmpty(name) ?? ""}${input === undefined ? "" : JSON.stringify(input)}`;
}

/** True for a picture of the answer itself. */
export const isPicture = (part: WireObject): boolean =>
  typeof part["text"] !== "string" && decodeMedia(part)?.part.media === "image" && !isDraft(part);

const partsOf = (answer: WireObject): WireObject[] =>
  objects(answer["candidates"]).flatMap((candidate) => readCandidate(candidate).parts);

/** Returns the output text of a whole answer. */
export const answerText = (answer: WireObject): string => partsOf(answer).map(partText).join("");

/** Returns how many pictures a whole answer has. */
export const answerPictures = (answer: WireObject): number =>
  partsOf(answer).filter(isPicture).length;
