/**
 * Converts a stream of AWS's binary frames into the event stream of its protocol. Claude's events are inside the frames; Converse's events
 * are the frames themselves. The vendor's own library decodes and checks them.
 */
import type { EventStreamCodec } from "@smithy/eventstream-codec";
import { parseAnswerText } from "../../base/answer-json.ts";
import { isObject } from "../../base/json.ts";
import { ChunkBuffer } from "../../base/chunk-buffer.ts";
import { formatSse } from "../../base/sse.ts";
import { ExchangeError } from "../exchange-error.ts";
import type { BodyConsumer, Exchange } from "../exchange.ts";

/** The content type of such a stream. */
export const streamType = "application/vnd.amazon.eventstream";

type Message = ReturnType<EventStreamCodec["decode"]>;

/** The longest frame, in bytes: AWS bounds it at 16 MiB. */
const frameBytesMax = 16 * 1024 * 1024;
const prefixBytes = 4;

/** Loads the library, so that the first stream need not wait for it. */
export const loadPackets = () => import("@smithy/eventstream-codec");

/** Converts an answer to its protocol's event stream. Returns any other answer, such as a refusal, unchanged. */
export async function packetsAsEvents(exchange: Exchange): Promise<Exchange> {
  const type = exchange.headers["content-type"] ?? "";
  if (!type.startsWith(streamType)) return exchange;
  const { EventStreamCodec } = await loadPackets();
  const codec = new EventStreamCodec(
    (bytes) => Buffer.from(bytes as Uint8Array).toString("utf8"),
    (text) => Buffer.from(text, "utf8"),
  );
  const headers = { ...exchange.headers, "content-type": "text/event-stream; charset=utf-8" };
  return {
    status: exchange.status,
    headers,
    consume: (consumer) => exchange.consume(new Reader(codec, exchange, consumer)),
    readAll: (bytesMax, lease) => exchange.readAll(bytesMax, lease),
    pause: () => exchange.pause(),
    resume: () => exchange.resume(),
    abort: () => exchange.abort(),
  };
}

/** Splits the bytes into frames, and passes each on as an event. */
class Reader implements BodyConsumer {
  readonly #codec: EventStreamCodec;
  readonly #exchange: Exchange;
  readonly #consumer: BodyConsumer;
  #waiting = new ChunkBuffer();
  /** Bytes that the next step needs: the prefix of a frame, then the whole frame. */
  #needed = prefixBytes;
  #isOver = false;

  constructor(codec: EventStreamCodec, exchange: Exchange, consumer: BodyConsumer) {
    this.#codec = codec;
    this.#exchange = exchange;
    this.#consumer = consumer;
  }

  data(chunk: Buffer): void {
    if (this.#isOver) return;
    // A copy: the bytes are overwritten once this returns.
    this.#waiting.add(Buffer.from(chunk));
    // Joined once per frame: joining at each read would make a large frame take quadratic time.
    if (this.#waiting.length < this.#needed)
      return this.#consumer.onPartialFrame?.(this.#waiting.length);
    try {
      this.#takeFrames(this.#waiting.join());
      this.#consumer.onPartialFrame?.(this.#waiting.length);
    } catch (error) {
      const { message } = error as Error;
      this.#fail(new ExchangeError("unreadable", `its stream cannot be read: ${message}`, error));
      this.#exchange.abort();
    }
  }

  #takeFrames(bytes: Buffer): void {
    let from = 0;
    this.#needed = prefixBytes;
    while (bytes.length - from >= prefixBytes) {
      const length = bytes.readUInt32BE(from);
      if (length > frameBytesMax) throw new Error("a frame is too long");
      this.#needed = length;
      if (bytes.length - from < length) break;
      const message = this.#codec.decode(bytes.subarray(from, from + length));
      from += length;
      this.#needed = prefixBytes;
      this.#consumer.data(Buffer.from(eventOf(message)));
    }
    this.#waiting = new ChunkBuffer();
    this.#waiting.add(bytes.subarray(from));
  }

  end(): void {
    if (this.#isOver) return;
    if (this.#waiting.length > 0)
      return this.#fail(new ExchangeError("broken", "the stream ended within a frame"));
    this.#isOver = true;
    this.#consumer.end();
  }

  fail(error: ExchangeError): void {
    if (!this.#isOver) this.#fail(error);
  }

  #fail(error: ExchangeError): void {
    this.#isOver = true;
    this.#consumer.fail(error);
  }
}

const textIn = ({ headers }: Message, name: string): string => String(headers[name]?.value ?? "");

/** The protocol's error types by AWS's exception names. */
const errorTypes: Readonly<Record<string, string>> = {
  throttlingException: "rate_limit_error",
  validationException: "invalid_request_error",
  modelTimeoutException: "timeout_error",
  serviceUnavailableException: "overloaded_error",
};

/** Returns one frame as the text of one event. */
function eventOf(message: Message): string {
  const parsed = parseAnswerText(Buffer.from(message.body).toString("utf8"));
  const payload = isObject(parsed) ? parsed : {};
  if (textIn(message, ":message-type") !== "event") {
    const kind = textIn(message, ":exception-type") || textIn(message, ":error-code");
    const { message: reported } = payload;
    const said = typeof reported === "string" ? reported : textIn(message, ":error-message");
    const error = { type: errorTypes[kind] ?? "api_error", message: `${kind}: ${said}` };
    return sse("error", JSON.stringify({ type: "error", error }));
  }
  const bytes = payload["bytes"];
  const name = textIn(message, ":event-type");
  if (typeof bytes !== "string") return name === "chunk" ? "" : sse(name, JSON.stringify(payload));
  const data = Buffer.from(bytes, "base64").toString("utf8");
  const event = parseAnswerText(data);
  return sse(isObject(event) ? String(event["type"]) : "", data);
}

/** Claude's events may be JSON of several lines: outside of texts, line ends are blanks. */
const sse = (event: string, data: string): string =>
  formatSse({ event, data: data.replace(/[\r\n]+/g, " ") });
