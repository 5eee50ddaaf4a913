/**
 * Watches a generateContent stream on the direct route. Requirements: TXT, T16, T37, T49. Every frame has the upstream's model name; nearly
 * always it can be replaced in the text without encoding the frame again.
 */
import { exactTwinOf } from "../../base/exact-numbers.ts";
import type { GatewayError } from "../../base/errors.ts";
import type { WireObject } from "../../base/json.ts";
import type { SseEvent } from "../../base/sse.ts";
import type { Usage } from "../../base/usage.ts";
import { parseObject } from "../read.ts";
import { DirectTap, none } from "../stream-tap.ts";
import { errorFrame } from "./errors.ts";
import { GenerateReader, isPicture, partText } from "./read-stream.ts";
import { decodeUsage, encodeUsage, misreports } from "./usage.ts";

export class GenerateTap extends DirectTap {
  readonly #reader = new GenerateReader();
  /** The canonical model id as JSON text. */
  readonly #model: string;
  /** True if counts that cannot be true were removed from a frame (T51). */
  #misreports = false;

  constructor(model: string) {
    super();
    this.#model = JSON.stringify(model);
  }

  get usage(): Usage | undefined {
    return this.#reader.usage;
  }

  get isOpening(): boolean {
    return this.#reader.isOpening;
  }

  protected take(event: SseEvent): readonly SseEvent[] {
    if (this.error) return none;
    const read = this.#reader.read(event);
    if (read.type === "error") return this.breakOff(read.error);
    if (read.type !== "chunk") return none;
    let hasText = false;
    for (const { parts } of read.candidates) {
      for (const part of parts) {
        const text = partText(part);
        hasText ||= text !== "";
        this.log.add(text);
        if (isPicture(part)) this.pictures += 1;
      }
    }
    this.ended = this.#reader.ended;
    // No `event:` line: the vendor's SDK skips frames that have one.
    return this.#holdOrPass({ data: this.#rewrite(event.data, read.data) }, hasText);
  }

  /** Sets the model, and removes counts that cannot be true: the ending has the billed ones (T51). */
  #rewrite(text: string, data: WireObject): string {
    const { usageMetadata } = data;
    if (!misreports(usageMetadata) || decodeUsage(usageMetadata) !== undefined)
      return withModel(text, data, this.#model);
    this.#misreports = true;
    return encodedWithModel({ ...exactTwinOf(data), usageMetadata: undefined }, this.#model);
  }

  /** Holds back frames after the end. If more text follows, the end was not final; a frame with only usage belongs to the end. */
  #holdOrPass(frame: SseEvent, hasText: boolean): readonly SseEvent[] {
    if (this.ended && !hasText) {
      this.held.push(frame);
      return none;
    }
    const free = this.held;
    this.held = this.ended ? [frame] : [];
    return this.ended ? free : [...free, frame];
  }

  protected ending(billed: Usage | undefined): readonly SseEvent[] {
    const last = this.held.at(-1);
    if (!this.#misreports || this.usage || !billed || !last) return this.held;
    const frame = exactTwinOf(parseObject(last.data) ?? {});
    const data = JSON.stringify({ ...frame, usageMetadata: encodeUsage(billed) });
    return [...this.held.slice(0, -1), { data }];
  }

  protected failure(error: GatewayError): readonly SseEvent[] {
    return [errorFrame(error)];
  }
}

/**
 * Matches the model name and the rest of the frame, to prove that it is the top-level member: scalar members and one closing brace. Quotes
 * in JSON strings are escaped, so no text can imitate it.
 */
const modelMember =
  /"modelVersion"\s*:\s*"[^"\\]*"((?:\s*,\s*"\w+"\s*:\s*(?:"[^"\\]*"|-?[\d.]+|true|false|null))*\s*\})\s*$/y;

/** Returns the frame with the canonical model id: replaced in the text if that is safe, otherwise encoded again. */
function withModel(text: string, data: WireObject, model: string): string {
  const at = text.lastIndexOf('"modelVersion"');
  if (at !== -1) {
    modelMember.lastIndex = at;
    const match = modelMember.exec(text);
    if (match) return `${text.slice(0, at)}"modelVersion":${model}${match[1]!}`;
  }
  return encodedWithModel(exactTwinOf(data), model);
}

const encodedWithModel = (data: WireObject, model: string): string =>
  JSON.stringify({ ...data, modelVersion: JSON.parse(model) as string });
