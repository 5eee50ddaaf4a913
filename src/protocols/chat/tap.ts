/**
 * Watches a chat stream on the direct route: sets the model, reads the usage, holds back the ending. Requirements: TXT, STREAM-04, traps
 * T16, T37, T45 to T50.
 */
import type { GatewayError } from "../../base/errors.ts";
import { isObject, type WireObject } from "../../base/json.ts";
import type { SseEvent } from "../../base/sse.ts";
import { tokenCount, type Usage } from "../../base/usage.ts";
import type { JsonObject } from "../canonical/request.ts";
import type { TapOptions } from "../codec.ts";
import { wholeSeconds } from "../read.ts";
import { endMarker } from "../stream-frames.ts";
import { DirectTap, none } from "../stream-tap.ts";
import { ChunkCompleter, withoutForeignTier, type ChunkFields } from "./complete-chunk.ts";
import { errorChunk } from "./errors.ts";
import { namesTool } from "./finish.ts";
import { outputTexts } from "./output.ts";
import { idText } from "./id-text.ts";
import { ChatReader, type ChatChoice, type ChatChunk } from "./read-stream.ts";
import { createRewrite, type Rewrite } from "./rewrite.ts";
import { normaliseUsage, writeUsage } from "./usage.ts";

/** The most frames without output that are held back after the end. */
const heldMax = 64;

export class ChatTap extends DirectTap {
  soundCharacters = 0;
  reasoningCharacters = 0;
  readonly #reader = new ChatReader();
  readonly #model: string;
  readonly #createdAt: number;
  readonly #rewrite: Rewrite;
  readonly #completer: ChunkCompleter;
  /** True if the caller asked for usage: it gets one usage frame at the end. Otherwise no frame has a `usage` key. */
  readonly #wantsUsage: boolean;
  /** Number of choices requested: the answer is complete when as many have finished. */
  readonly #answers: number;
  readonly #finished = new Set<unknown>();
  /** By index of a choice that has begun: whether it called tools. */
  readonly #begun = new Map<unknown, boolean>();
  /** They have the gateway's own id and time until the vendor names its own. */
  #fields: ChunkFields;
  /** True once the answer has begun, or has the vendor's id. */
  #isNamed = false;
  /** The upstream's usage frame, kept for its other members. */
  #usageChunk: WireObject | undefined;

  constructor({ model, request, id, createdAt }: TapOptions) {
    super();
    const options = request.stream_options;
    this.#model = model;
    this.#createdAt = createdAt;
    this.#completer = new ChunkCompleter(namesTool(request));
    this.#wantsUsage = isObject(options) && options["include_usage"] === true;
    this.#rewrite = createRewrite(model, this.#wantsUsage);
    this.#answers = Math.max(1, tokenCount(request.n, 1));
    const object = "chat.completion.chunk";
    this.#fields = { id: `chatcmpl-${id}`, object, created: createdAt, model };
  }

  get usage(): Usage | undefined {
    return this.#reader.usage;
  }

  get isOpening(): boolean {
    return this.#reader.isOpening;
  }

  protected take(event: SseEvent): readonly SseEvent[] {
    const read = this.#reader.read(event);
    if (read.type === "chunk") return this.#takeChunk(read, event.data.trim());
    if (read.type === "error") return this.breakOff(read.error);
    if (read.type === "marker") this.ended = true;
    return none;
  }

  #takeChunk(
    { chunk, choices, reportsUsage, error }: ChatChunk,
    data: string,
  ): readonly SseEvent[] {
    let hasOutput = false;
    for (const choice of choices) hasOutput = this.#takeChoice(choice) || hasOutput;
    if (error) return this.breakOff(error);
    if (reportsUsage && choices.length === 0) {
      // A frame that only carries usage: sent last, if the caller wants it.
      this.#usageChunk = withoutForeignTier(chunk);
      return none;
    }
    const id = idText(chunk);
    if (id !== this.#fields.id && id !== undefined) {
      this.#fields = { ...this.#fields, id, created: this.#timeIn(chunk) };
    }
    // Frames before the answer get no id: clients that store messages by id would take two answers for one.
    this.#isNamed ||= id !== undefined || choices.length > 0;
    const known = this.#isNamed ? this.#fields : undefined;
    const completed = this.#completer.complete(chunk, known);
    const frame = { data: this.#rewrite(completed ? "" : data, completed ?? chunk) };
    return this.ended ? this.#hold(frame, hasOutput) : [frame];
  }

  /**
   * Holds a frame after the end back. If it has output, the end before it was none: some vendors send a finish reason with every frame. It
   * keeps a few of the other frames.
   */
  #hold(frame: SseEvent, hasOutput: boolean): readonly SseEvent[] {
    const free = hasOutput ? this.held : none;
    if (hasOutput) this.held = [];
    if (this.held.length < heldMax) this.held.push(frame);
    return free;
  }

  #timeIn({ created }: { readonly created?: unknown }): number {
    return wholeSeconds(created, this.#createdAt);
  }

  /** True if the choice has output. */
  #takeChoice({ index, output, reason }: ChatChoice): boolean {
    const before = this.log.characters + this.pictures + this.soundCharacters;
    for (const text of outputTexts(output)) this.log.add(text);
    this.pictures += output.images.length;
    this.soundCharacters += output.soundCharacters;
    this.reasoningCharacters += output.reasoning.length;
    this.#begun.set(index, output.calls.length > 0 || this.#begun.get(index) === true);
    if (reason !== undefined) {
      this.#finished.add(index);
      this.ended = this.#finished.size >= this.#answers;
    }
    return this.log.characters + this.pictures + this.soundCharacters > before;
  }

  protected ending(billed: Usage | undefined): readonly SseEvent[] {
    const frames = [...this.held, ...this.#missingEnds()];
    const usage = this.#wantsUsage ? this.#usageToTell(billed) : undefined;
    if (usage !== undefined) {
      const id = idText(this.#usageChunk ?? {}) ?? this.#fields.id;
      const told = { ...this.#fields, ...this.#usageChunk };
      const chunk = { ...told, id, created: this.#timeIn(told), choices: [] };
      frames.push({ data: JSON.stringify({ ...chunk, model: this.#model, usage }) });
    }
    frames.push(endMarker);
    return frames;
  }

  /** The finish reasons that the upstream left out before its end marker; clients wait for them (STREAM-04). */
  #missingEnds(): SseEvent[] {
    if (this.#finished.size >= this.#answers) return [];
    const usage = this.#wantsUsage ? { usage: null } : {};
    return [...this.#begun].flatMap(([index, calledTools]) => {
      if (this.#finished.has(index)) return [];
      const choices = [{ index, delta: {}, finish_reason: calledTools ? "tool_calls" : "stop" }];
      return [{ data: JSON.stringify({ ...this.#fields, choices, ...usage }) }];
    });
  }

  /** The reported usage, or the billed one if the reported counts cannot be true (T51); undefined if there is none. */
  #usageToTell(billed: Usage | undefined): JsonObject | undefined {
    const { wireUsage, misreports } = this.#reader;
    if (misreports && billed !== undefined) return writeUsage(billed);
    return wireUsage && normaliseUsage(wireUsage);
  }

  protected failure(error: GatewayError): readonly SseEvent[] {
    return [{ data: JSON.stringify(errorChunk({ ...this.#fields }, error)) }];
  }
}
