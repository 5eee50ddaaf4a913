/**
 * Server-sent events, parsed and written in one place. WHATWG HTML, "Server-sent events".
 * The parser is a bounded state machine without I/O: bytes in, events out, however the bytes are cut (T17).
 */
import { StringDecoder } from "node:string_decoder";
import { ownCopy } from "./text.ts";

/** One event. `event` is absent for frames without an `event:` line. */
export interface SseEvent {
  readonly event?: string | undefined;
  readonly data: string;
  /** Text written after the frame, only in the last one of a stream: a line that event readers skip. */
  readonly tail?: string | undefined;
}

/** A frame that waits counts as this many characters at least: a megabyte of tiny ones would be many megabytes of objects. */
export const frameMin = 64;

/** The stream held more bytes without an event boundary than allowed. */
export class SseOverflowError extends Error {
  override name = "SseOverflowError";
}

export interface SseParser {
  /** Takes the next bytes; returns the events they complete. @throws SseOverflowError */
  push(bytes: Uint8Array): SseEvent[];
  /** Call at the end of the stream. Returns the last event without its blank line, if it has data. */
  end(): SseEvent[];
  /** True if an event has begun and is not complete. Comments do not count. */
  readonly isWithinEvent: boolean;
  /** The bytes held for the incomplete event, including the overhead of its pieces. */
  readonly heldBytes: number;
}

const defaultEventBytesMax = 32 * 1024 * 1024;
/** The overhead of another line of data, or piece of a line. It counts, or an event of empty lines would be 32 million objects. */
const lineBytes = 64;
/** A chunk of fewer characters is small enough to stay in memory for each of its events. */
const smallChunk = 1_024;

/** Copies an event that is kept: it may be a small part of a read of which nothing else is. */
export const ownEvent = (event: SseEvent): SseEvent => ({
  ...event,
  ...(event.event !== undefined && { event: ownCopy(event.event) }),
  data: ownCopy(event.data),
});

/** Creates a parser for one stream. `eventBytesMax` bounds the bytes buffered for one event. */
export const createSseParser = (eventBytesMax: number = defaultEventBytesMax): SseParser =>
  new Parser(eventBytesMax);

class Parser implements SseParser {
  readonly #eventBytesMax: number;
  /** Holds the bytes of a character that is split across two chunks. */
  readonly #decoder = new StringDecoder("utf8");
  /** Pieces of an unfinished line, joined once: appending to a string on each push would be quadratic for long lines. */
  #pieces: string[] = [];
  #bufferedLength = 0;
  /** A "\r" at the end of a chunk may be half of "\r\n"; a following "\n" is then no line of its own. */
  #skipLineFeed = false;
  #atStart = true;
  #eventName: string | undefined;
  #data: string | undefined;
  /** Lines of data of the event beyond the first. */
  #lines = 0;

  constructor(eventBytesMax: number) {
    this.#eventBytesMax = eventBytesMax;
  }

  push(bytes: Uint8Array): SseEvent[] {
    return this.#takeText(this.#decoder.write(bytes));
  }

  get isWithinEvent(): boolean {
    const line = this.#pieces[0];
    return this.#data !== undefined || (line !== undefined && !line.startsWith(":"));
  }

  end(): SseEvent[] {
    const events = this.#takeText(this.#decoder.end());
    if (this.#pieces.length > 0) this.#takeJoined("", events);
    this.#takeLine("", 0, 0, events);
    return events;
  }

  #takeText(chunk: string): SseEvent[] {
    const events: SseEvent[] = [];
    const text = chunk.length === 0 ? chunk : this.#withoutPrefix(chunk);
    const start = this.#takeLines(text, events);
    if (start < text.length) {
      this.#pieces.push(text.slice(start));
      this.#bufferedLength += text.length - start;
    }
    this.#keepOwn(events, text.length);
    this.#checkLength();
    return events;
  }

  /**
   * Copies what is a small part of its chunk and may outlive it. A slice keeps the whole chunk in memory, with its comments, and only
   * the slice is counted.
   */
  #keepOwn(events: SseEvent[], chunkLength: number): void {
    if (chunkLength < smallChunk) return;
    const own = (text: string): string => (text.length * 2 > chunkLength ? text : ownCopy(text));
    if (this.#data !== undefined) this.#data = own(this.#data);
    if (this.#eventName !== undefined) this.#eventName = own(this.#eventName);
    let length = 0;
    for (const { data, event } of events) length += data.length + (event?.length ?? 0);
    if (length * 2 > chunkLength) return;
    for (const [at, { data, event }] of events.entries())
      events[at] =
        event === undefined ? { data: own(data) } : { event: own(event), data: own(data) };
  }

  get heldBytes(): number {
    return this.#eventLength() + this.#pieces.length * lineBytes;
  }

  #eventLength(): number {
    const data = (this.#data?.length ?? 0) + this.#lines * lineBytes;
    return this.#bufferedLength + data + (this.#eventName?.length ?? 0);
  }

  #checkLength(): void {
    if (this.#eventLength() <= this.#eventBytesMax) return;
    throw new SseOverflowError(`an event is longer than ${this.#eventBytesMax} bytes`);
  }

  /** Drops a byte order mark at the very start, or the second half of a split "\r\n". */
  #withoutPrefix(chunk: string): string {
    const first = chunk.charCodeAt(0);
    const skip = (this.#atStart && first === 0xfeff) || (this.#skipLineFeed && first === 10);
    this.#atStart = false;
    this.#skipLineFeed = false;
    return skip ? chunk.slice(1) : chunk;
  }

  /** Takes the lines that end in a text, at "\n", "\r\n" or a bare "\r". Returns where the unfinished rest begins. */
  #takeLines(text: string, events: SseEvent[]): number {
    let start = 0;
    let lineFeed = text.indexOf("\n");
    let carriageReturn = text.indexOf("\r");
    while (lineFeed !== -1 || carriageReturn !== -1) {
      const isReturn = lineFeed === -1 || (carriageReturn !== -1 && carriageReturn < lineFeed);
      const end = isReturn ? carriageReturn : lineFeed;
      if (this.#pieces.length === 0) this.#takeLine(text, start, end, events);
      else this.#takeJoined(text.slice(start, end), events);
      start = end + 1;
      if (isReturn) {
        if (start === text.length) this.#skipLineFeed = true;
        else if (text.charCodeAt(start) === 10) start += 1;
        carriageReturn = text.indexOf("\r", start);
      }
      if (lineFeed !== -1 && lineFeed < start) lineFeed = text.indexOf("\n", start);
    }
    return start;
  }

  /** Takes a line that began in an earlier chunk. */
  #takeJoined(rest: string, events: SseEvent[]): void {
    this.#pieces.push(rest);
    const line = this.#pieces.join("");
    this.#pieces = [];
    this.#bufferedLength = 0;
    this.#takeLine(line, 0, line.length, events);
  }

  /** Takes the line that is `text[from..to)`. */
  #takeLine(text: string, from: number, to: number, events: SseEvent[]): void {
    if (from === to) return this.#takeBlank(events);
    // Compare slices: `startsWith` takes ten times as long here. None of the names contains a line end.
    if (text.slice(from, from + 5) === "data:") {
      const value = text.slice(text.charCodeAt(from + 5) === 32 ? from + 6 : from + 5, to);
      this.#addData(value);
    } else if (text.slice(from, from + 6) === "event:") {
      this.#eventName = text.slice(text.charCodeAt(from + 6) === 32 ? from + 7 : from + 6, to);
    } else if (text.slice(from, to) === "data") {
      this.#addData("");
    }
    // Comments, `id`, `retry` and unknown fields carry nothing we use.
  }

  #addData(value: string): void {
    if (this.#data === undefined) {
      this.#data = value;
      return;
    }
    this.#data += `\n${ownCopy(value)}`;
    this.#lines += 1;
    // Check now and then, because a whole answer may be read at once.
    if (this.#lines % 1_024 === 0) this.#checkLength();
  }

  /** A blank line ends an event. */
  #takeBlank(events: SseEvent[]): void {
    const [event, data] = [this.#eventName, this.#data];
    if (data !== undefined) events.push(event === undefined ? { data } : { event, data });
    this.#eventName = undefined;
    this.#data = undefined;
    this.#lines = 0;
  }
}

/**
 * Writes one frame. Escapes U+2028 and U+2029, because some clients split lines there (@google/generative-ai); in JSON both spellings mean
 * the same.
 */
export function formatSse(event: SseEvent): string {
  let data = event.data;
  if (data.includes("\u2028") || data.includes("\u2029")) {
    data = data.replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
  }
  if (data.includes("\n")) data = data.replaceAll("\n", "\ndata: ");
  const frame =
    event.event === undefined ? `data: ${data}\n\n` : `event: ${event.event}\ndata: ${data}\n\n`;
  return event.tail === undefined ? frame : frame + event.tail;
}

/** A comment frame, which every client skips. It keeps idle connections open through proxies (T88). */
export const sseKeepAlive = ": keep-alive\n\n";
