/**
 * Writes a text call's answer: whole, or as server-sent events, or as the JSON array that generateContent streams without `?alt=sse`.
 * Head and first frame leave in one write.
 */
import { formatSse, sseKeepAlive, type SseEvent } from "../../base/sse.ts";
import { keepAliveTicks, type Reply } from "../../calls/index.ts";
import type { ProtocolName } from "../../protocols/index.ts";
import { joinedMax, type RequestHead, type ResponseSink } from "../exchange.ts";

/** How frames are written: their content type, and the text of each. */
interface Framing {
  readonly contentType: string;
  frame(event: SseEvent): string;
  keepAlive(): string;
  end(): string;
}

const sseFraming: Framing = {
  contentType: "text/event-stream; charset=utf-8",
  frame: formatSse,
  keepAlive: () => sseKeepAlive,
  end: () => "",
};

/**
 * Events for OpenAI's SDK for Go. Older ones take each blank line for the end of an event, and fail at one without data (openai-go#556). So
 * a comment is a line before the next event. Only they get it: clients that read event by event, such as Dify, skip an event whose first
 * line is a comment, with its text.
 */
const goFraming: Framing = { ...sseFraming, keepAlive: () => sseKeepAlive.trimEnd() + "\n" };

const dataStart = "data: ";

/**
 * Events for Google's SDKs. Those for Python and Go, and older ones for JavaScript, fail at a comment. All skip white space before the JSON
 * of an event. So the next event is begun early to keep an idle connection open.
 */
function earlyEventFraming(): Framing {
  let isBegun = false;
  return {
    ...sseFraming,
    frame(event) {
      if (!isBegun) return formatSse(event);
      isBegun = false;
      const { data, tail } = event;
      return formatSse({ data, tail }).slice(dataStart.length);
    },
    keepAlive() {
      if (isBegun) return " ";
      isBegun = true;
      return dataStart;
    },
    end: () => (isBegun ? "{}\n\n" : ""),
  };
}

/** One JSON array with one element per frame. White space between elements keeps an idle connection open. */
function arrayFraming(): Framing {
  let opened = false;
  const open = (): string => {
    if (opened) return ",\r\n";
    opened = true;
    return "[";
  };
  return {
    contentType: "application/json; charset=utf-8",
    frame: (event) => open() + event.data,
    keepAlive: () => "\n",
    end: () => (opened ? "]" : "[]"),
  };
}

interface ReplyOptions {
  /** Headers of every answer, such as the request id. */
  readonly headers: Readonly<Record<string, string>>;
  readonly jsonArray: boolean;
  /** The caller's protocol; OpenAI's if absent. */
  readonly protocol?: ProtocolName;
  /** The headers of the request. */
  readonly asked?: RequestHead["headers"];
}

/** Events for the SDK that asks. Those of OpenAI and Anthropic name their language in a header. */
function eventFraming({ protocol, asked }: ReplyOptions): Framing {
  if (protocol === "generate_content") return earlyEventFraming();
  return asked?.["x-stainless-lang"] === "go" ? goFraming : sseFraming;
}

/** Creates the reply of one request. `raw` is the response, with nothing sent yet. */
export function createTextReply(raw: ResponseSink, options: ReplyOptions): Reply {
  return new HttpTextReply(raw, options);
}

class HttpTextReply implements Reply {
  readonly #raw: ResponseSink;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #framing: Framing;
  #streamHeaders: Readonly<Record<string, string>> = {};
  #goneHandlers: (() => void)[] = [];
  #drainHandler: (() => void) | undefined;
  /** Ticks since anything was sent. */
  #silentTicks = 0;
  ended = false;
  gone = false;

  constructor(raw: ResponseSink, options: ReplyOptions) {
    this.#raw = raw;
    this.#headers = options.headers;
    this.#framing = options.jsonArray ? arrayFraming() : eventFraming(options);
    // If the client left while its key was checked, `close` has fired already.
    this.gone = raw.destroyed;
    raw.on("close", () => {
      if (this.ended) return;
      this.gone = true;
      for (const handler of this.#goneHandlers) handler();
    });
  }

  get started(): boolean {
    return this.#raw.headersSent;
  }

  whole(body: object, headers: Readonly<Record<string, string>>): void {
    const text = JSON.stringify(body);
    const bytes = Buffer.byteLength(text);
    this.#raw.writeHead(200, {
      "content-type": "application/json; charset=utf-8",
      "content-length": bytes,
      ...this.#headers,
      ...headers,
    });
    // From here on nothing fails. A header that cannot be sent has thrown before, and is answered with an error.
    this.ended = true;
    if (text.length > joinedMax) this.#raw.write("");
    this.#raw.end(text, bytes === text.length ? "latin1" : "utf8");
  }

  open(headers: Readonly<Record<string, string>>): void {
    this.#streamHeaders = headers;
  }

  write(frames: readonly SseEvent[]): boolean {
    this.#silentTicks = 0;
    return this.#send(this.#text(frames));
  }

  keepAlive(): void {
    this.#silentTicks += 1;
    if (this.#silentTicks < keepAliveTicks) return;
    this.#silentTicks = 0;
    this.#send(this.#framing.keepAlive());
  }

  end(frames: readonly SseEvent[]): void {
    this.#writeHead();
    this.ended = true;
    this.#raw.end(this.#text(frames) + this.#framing.end());
  }

  onDrain(handler: () => void): void {
    if (!this.#drainHandler) this.#raw.on("drain", () => this.#drainHandler?.());
    this.#drainHandler = handler;
  }

  onGone(handler: () => void): void {
    if (this.gone) handler();
    else this.#goneHandlers.push(handler);
  }

  #text(frames: readonly SseEvent[]): string {
    let text = "";
    for (const frame of frames) text += this.#framing.frame(frame);
    return text;
  }

  #send(text: string): boolean {
    if (this.gone) return true;
    this.#writeHead();
    return this.#raw.write(text);
  }

  #writeHead(): void {
    if (this.#raw.headersSent) return;
    this.#raw.writeHead(200, {
      "content-type": this.#framing.contentType,
      "cache-control": "no-cache",
      "x-accel-buffering": "no",
      ...this.#headers,
      ...this.#streamHeaders,
    });
  }
}
