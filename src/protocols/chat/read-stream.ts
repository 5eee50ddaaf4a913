/**
 * Reads the frames of a chat stream in any vendor's spelling; shared by conversion and by the metering of direct routes. Traps T16, T48,
 * T49.
 */
import { isObject, type WireObject } from "../../base/json.ts";
import type { SseEvent } from "../../base/sse.ts";
import type { Usage } from "../../base/usage.ts";
import type { WireError } from "../codec.ts";
import { isSet, nonEmpty, numberOf, objectOf, objects } from "../read.ts";
import { nothing, StreamFrames, unread, type AnyEvent } from "../stream-frames.ts";
import { ReportedUsage } from "../reported-usage.ts";
import { decodeError, failedStatus } from "./errors.ts";
import { outputTexts, readOutput, type Output } from "./output.ts";
import { misreports, readUsage } from "./usage.ts";
import { varying } from "./varying.ts";

export interface ChatChunk {
  readonly type: "chunk";
  readonly chunk: WireObject;
  readonly choices: readonly ChatChoice[];
  readonly reportsUsage: boolean;
  /** Set if the answer failed instead of finishing. The output in `choices` came before the failure. */
  readonly error: WireError | undefined;
}

export interface ChatChoice {
  readonly index: unknown;
  readonly output: Output;
  readonly reason: string | undefined;
  /** vLLM's field for the stop sequence that matched. */
  readonly stopReason: unknown;
}

const failedAnswer: WireError = { message: "The upstream ended the answer with an error." };
/** A stream without a choice is an error, like a whole answer without one. */
const noAnswer: AnyEvent = {
  type: "error",
  error: { message: "The upstream's stream ended without an answer." },
};

/** Reads one stream. It returns nothing after the end marker or an error. */
export class ChatReader {
  readonly #reported = new ReportedUsage();
  /** The last usage, as received. */
  #wireUsage: WireObject | undefined;
  /** True if the last usage has counts that cannot be true (T51). */
  misreports = false;
  /** True while no choice has more than a role, and no frame is of a kind that clients may show at once. */
  isOpening = true;
  #hasChoice = false;
  /** True once a choice has a delta. Until then a whole message is output; later it repeats the deltas (Perplexity). */
  #hasDelta = false;
  /** True once a choice has output. */
  #hasOutput = false;
  /** True once a choice has a finish reason. */
  #hasFinished = false;
  readonly #frames = new StreamFrames(varying);
  #over = false;

  /** The usage so far; once the answer is over, only usage that covers all of it. */
  get usage(): Usage | undefined {
    return this.#reported.read(this.#hasFinished || this.#over);
  }

  /** The same, as received. */
  get wireUsage(): WireObject | undefined {
    return this.usage && this.#wireUsage;
  }

  /** True if the usage covers only the start of the answer. */
  get coversStartOnly(): boolean {
    return this.#reported.coversStartOnly;
  }

  read(event: SseEvent): ChatChunk | AnyEvent {
    if (this.#over) return nothing;
    const chunk = this.#frames.read(event);
    const seen = typeof chunk === "string" ? this.#unread(chunk) : this.#take(event, chunk);
    this.#over = seen.type === "marker" || seen.type === "error";
    return seen;
  }

  /** An end marker without any choice before it is an error. */
  #unread(frame: keyof typeof unread): AnyEvent {
    const seen = unread[frame];
    return seen.type === "marker" && !this.#hasChoice ? noAnswer : seen;
  }

  #take(event: SseEvent, chunk: WireObject): ChatChunk | AnyEvent {
    if (event.event === "error" || chunk["error"] || chunk["object"] === "error" || isBare(chunk))
      return { type: "error", error: decodeError(200, chunk) };
    const wire = objects(chunk["choices"]);
    this.#hasDelta ||= wire.some(({ delta }) => isObject(delta));
    const choices = wire.map((choice) => readChoice(choice, this.#hasDelta));
    const failed = choices.some(({ reason }) => reason === "error");
    this.isOpening &&= failed || (!isShown(chunk) && wire.every(saysNothing));
    this.#hasChoice ||= choices.length > 0;
    this.#hasOutput ||= choices.some(({ output }) =>
      outputTexts(output).some((text) => text !== ""),
    );
    this.#hasFinished ||= choices.some(({ reason }) => reason !== undefined);
    const reportsUsage = this.#takeUsage(chunk, wire[0]);
    return {
      type: "chunk",
      chunk,
      choices,
      reportsUsage,
      error: failed ? failedAnswer : undefined,
    };
  }

  /** The last usage reported wins (T49). Groq sends it in `x_groq`, Moonshot in the choice. */
  #takeUsage(chunk: WireObject, choice: WireObject | undefined): boolean {
    const wire = chunk["usage"] ?? objectOf(chunk["x_groq"])["usage"] ?? choice?.["usage"];
    if (!isObject(wire)) return false;
    const usage = readUsage(wire);
    this.misreports = usage === undefined && misreports(wire);
    if (usage) {
      // A frame without choices after the output carries the usage of the whole answer; before it, that of the prompt.
      const isAtEnd = this.#hasFinished || (choice === undefined && this.#hasOutput);
      this.#reported.take(usage, isAtEnd);
      this.#wireUsage = wire;
    }
    return true;
  }
}

/** True for an error that has no member `error`: a code or a status with a message, FastAPI's detail, or MiniMax's status (T16). */
function isBare(chunk: WireObject): boolean {
  const { choices, object, code, status, message, detail } = chunk;
  if (failedStatus(chunk) && objects(choices).length === 0) return true;
  if (choices !== undefined || object !== undefined) return false;
  const failed = isFailure(code) || isFailure(status);
  return (failed && nonEmpty(message) !== undefined) || nonEmpty(detail) !== undefined;
}

/** True for an HTTP status of an error, and for a word that is not one of success or progress. */
function isFailure(code: unknown): boolean {
  const number = numberOf(code);
  if (typeof number === "number") return number >= 400;
  return (
    nonEmpty(code) !== undefined &&
    !/^(?:ok|success|succeeded|processing|running)$/i.test(code as string)
  );
}

/** True for a frame of an unknown kind, and for llama.cpp's progress in a long prompt, for which a client asks by `return_progress`. */
const isShown = ({ object, choices, usage, prompt_progress: progress }: WireObject): boolean =>
  isSet(progress) || [object, choices, usage].every((member) => member === undefined);

/** True for a choice without a finish reason, in which everything but the role is empty. */
const saysNothing = ({ finish_reason: reason, delta, message }: WireObject): boolean =>
  nonEmpty(reason) === undefined &&
  Object.entries({ ...objectOf(message), ...objectOf(delta) }).every(
    ([name, value]) => name === "role" || isEmpty(value),
  );

const isEmpty = (value: unknown): boolean =>
  !isSet(value) || value === "" || (Array.isArray(value) && value.length === 0);

const readChoice = (choice: WireObject, hasDelta: boolean): ChatChoice => ({
  index: numberOf(choice["index"] ?? 0),
  output: readOutput(objectOf(hasDelta ? choice["delta"] : choice["message"])),
  reason: nonEmpty(choice["finish_reason"]),
  stopReason: choice["stop_reason"],
});
