/**
 * What the frames of a chat stream say, whatever their vendor's spelling: the one reader, for conversion and for a direct
 * route's metering. Traps T16, T48, T49.
 */
import { isObject, type WireObject } from "../../base/json.ts";
import type { SseEvent } from "../../base/sse.ts";
import type { Usage } from "../../base/usage.ts";
import type { WireError } from "../codec.ts";
import { nonEmpty, objectOf, objects } from "../read.ts";
import { nothing, StreamFrames, unread, type AnyEvent } from "../stream-frames.ts";
import { ToldUsage } from "../told-usage.ts";
import { decodeError } from "./errors.ts";
import { readOutput, type Output } from "./output.ts";
import { readUsage } from "./usage.ts";
import { varying } from "./varying.ts";

export interface ChatChunk {
  readonly type: "chunk";
  readonly chunk: WireObject;
  readonly choices: readonly ChatChoice[];
  readonly tellsUsage: boolean;
  /** Of an answer that failed in place of finishing. What the choices say came before. */
  readonly error: WireError | undefined;
}

export interface ChatChoice {
  readonly index: unknown;
  readonly output: Output;
  readonly reason: string | undefined;
  /** vLLM's name for the sequence that matched. */
  readonly stopReason: unknown;
}

const failedAnswer: WireError = { message: "The upstream ended the answer with an error." };
/** As a whole answer without a choice is none. */
const noAnswer: AnyEvent = {
  type: "error",
  error: { message: "The upstream's stream ended without an answer." },
};

/** The reader of one stream. After the end marker and after an error there is nothing. */
export class ChatReader {
  readonly #told = new ToldUsage();
  /** The same as it came. */
  #wireUsage: WireObject | undefined;
  #hasChoice = false;
  /** Whether a choice has. */
  #hasFinished = false;
  readonly #frames = new StreamFrames(varying);
  #over = false;

  /** So far, and of an answer that is over what was told of all of it. */
  get usage(): Usage | undefined {
    return this.#told.read(this.#hasFinished || this.#over);
  }

  /** The same as it came. */
  get wireUsage(): WireObject | undefined {
    return this.usage && this.#wireUsage;
  }

  /** Whether they are of the answer's start alone. */
  get isSoFar(): boolean {
    return this.#told.isSoFar;
  }

  read(event: SseEvent): ChatChunk | AnyEvent {
    if (this.#over) return nothing;
    const chunk = this.#frames.read(event);
    const seen = typeof chunk === "string" ? this.#unread(chunk) : this.#take(event, chunk);
    this.#over = seen.type === "marker" || seen.type === "error";
    return seen;
  }

  /** A marker that nothing came before ends no answer. */
  #unread(frame: keyof typeof unread): AnyEvent {
    const seen = unread[frame];
    return seen.type === "marker" && !this.#hasChoice ? noAnswer : seen;
  }

  #take(event: SseEvent, chunk: WireObject): ChatChunk | AnyEvent {
    if (event.event === "error" || chunk["error"] || chunk["object"] === "error")
      return { type: "error", error: decodeError(200, chunk) };
    const wire = objects(chunk["choices"]);
    const choices = wire.map(readChoice);
    const failed = choices.some(({ reason }) => reason === "error");
    this.#hasChoice ||= choices.length > 0;
    this.#hasFinished ||= choices.some(({ reason }) => reason !== undefined);
    const tellsUsage = this.#takeUsage(chunk, wire[0]);
    return { type: "chunk", chunk, choices, tellsUsage, error: failed ? failedAnswer : undefined };
  }

  /** The last usage reported wins (T49). Groq has it in `x_groq`, Moonshot in the choice. */
  #takeUsage(chunk: WireObject, choice: WireObject | undefined): boolean {
    const wire = chunk["usage"] ?? objectOf(chunk["x_groq"])["usage"] ?? choice?.["usage"];
    if (!isObject(wire)) return false;
    const usage = readUsage(wire);
    if (usage) {
      // A frame without choices is there for the usage of the whole answer.
      this.#told.take(usage, this.#hasFinished || choice === undefined);
      this.#wireUsage = wire;
    }
    return true;
  }
}

const readChoice = (choice: WireObject): ChatChoice => ({
  index: choice["index"] ?? 0,
  output: readOutput(objectOf(choice["delta"])),
  reason: nonEmpty(choice["finish_reason"]),
  stopReason: choice["stop_reason"],
});
