/**
 * Server-sent events, parsed and written in one place. WHATWG HTML, "Server-sent events".
 * The parser is a bounded state machine without I/O: bytes in, events out, whatever the cuts (T17).
 */
import { StringDecoder } from "node:string_decoder";

/** One event. `event` is absent for frames without an `event:` line. */
export interface SseEvent {
  readonly event?: string | undefined;
  readonly data: string;
}

/** The stream held more bytes without an event boundary than allowed. */
export class SseOverflowError extends Error {
  override name = "SseOverflowError";
}

export interface SseParser {
  /** Takes the next bytes; returns the events they complete. @throws SseOverflowError */
  push(bytes: Uint8Array): SseEvent[];
  /** At the end of the stream: the event left without its blank line, if it carries data. */
  end(): SseEvent[];
}

const defaultEventBytesMax = 32 * 1024 * 1024;

/** Where the line that starts at `from` ends: at "\n", "\r\n" or a bare "\r"; -1 when it does not end here. */
function lineEnd(text: string, from: number): number {
  const lineFeed = text.indexOf("\n", from);
  if (!text.includes("\r")) return lineFeed;
  const carriageReturn = text.indexOf("\r", from);
  if (lineFeed === -1 || carriageReturn === -1) return Math.max(lineFeed, carriageReturn);
  return Math.min(lineFeed, carriageReturn);
}

/** A parser for one stream. `eventBytesMax` bounds what may be buffered for one event. */
export function createSseParser(eventBytesMax: number = defaultEventBytesMax): SseParser {
  // Bytes of a character that is split across two chunks wait in here.
  const decoder = new StringDecoder("utf8");
  // Pieces of an unfinished line, joined once: appending to a string on each push would be quadratic for long lines.
  let pieces: string[] = [];
  let bufferedLength = 0;
  // A "\r" at the very end of a chunk may be half of "\r\n"; the "\n" that follows is then no line of its own.
  let skipLineFeed = false;
  let atStart = true;
  let eventName: string | undefined;
  let data: string | undefined;

  function takeLine(line: string, events: SseEvent[]): void {
    if (line === "") {
      if (data !== undefined)
        events.push(eventName === undefined ? { data } : { event: eventName, data });
      eventName = undefined;
      data = undefined;
      return;
    }
    if (line.startsWith("data:")) {
      const value = line.charCodeAt(5) === 32 ? line.slice(6) : line.slice(5);
      data = data === undefined ? value : `${data}\n${value}`;
    } else if (line.startsWith("event:")) {
      eventName = line.charCodeAt(6) === 32 ? line.slice(7) : line.slice(6);
    } else if (line === "data") {
      data = data === undefined ? "" : `${data}\n`;
    }
    // Comments, `id`, `retry` and unknown fields carry nothing we use.
  }

  /** Drops what is no text of a line: a byte order mark at the very start, the second half of a split "\r\n". */
  function withoutPrefix(chunk: string): string {
    const skip =
      (atStart && chunk.charCodeAt(0) === 0xfeff) || (skipLineFeed && chunk.charCodeAt(0) === 10);
    atStart = false;
    skipLineFeed = false;
    return skip ? chunk.slice(1) : chunk;
  }

  function takeText(chunk: string): SseEvent[] {
    const events: SseEvent[] = [];
    const text = chunk.length === 0 ? chunk : withoutPrefix(chunk);
    let start = 0;
    for (let end = lineEnd(text, 0); end !== -1; end = lineEnd(text, start)) {
      pieces.push(text.slice(start, end));
      takeLine(pieces.length === 1 ? pieces[0]! : pieces.join(""), events);
      pieces = [];
      bufferedLength = 0;
      start = end + 1;
      if (text.charCodeAt(end) !== 13) continue;
      if (start === text.length) skipLineFeed = true;
      else if (text.charCodeAt(start) === 10) start += 1;
    }
    if (start < text.length) {
      pieces.push(text.slice(start));
      bufferedLength += text.length - start;
    }
    if (bufferedLength + (data?.length ?? 0) > eventBytesMax) {
      throw new SseOverflowError(`an event is longer than ${eventBytesMax} bytes`);
    }
    return events;
  }

  return {
    push: (bytes) => takeText(decoder.write(bytes)),
    end() {
      const events = takeText(decoder.end());
      if (pieces.length > 0) takeLine(pieces.join(""), events);
      pieces = [];
      takeLine("", events);
      return events;
    },
  };
}

/**
 * Writes one frame. U+2028 and U+2029 are escaped, because clients exist that split lines there
 * (wire/clients.md: @google/generative-ai); in JSON both spellings mean the same.
 */
export function formatSse(event: SseEvent): string {
  let data = event.data;
  if (data.includes("\u2028") || data.includes("\u2029")) {
    data = data.replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
  }
  if (data.includes("\n")) data = data.replaceAll("\n", "\ndata: ");
  return event.event === undefined
    ? `data: ${data}\n\n`
    : `event: ${event.event}\ndata: ${data}\n\n`;
}

/** A comment frame: keeps idle connections open through proxies (T88), and every client skips it. */
export const sseKeepAlive = ": keep-alive\n\n";
