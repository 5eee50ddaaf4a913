/**
 * Reads multipart bodies as they arrive: one part at a time, in bounded memory, strictly. Published readers skip errors in silence: a
 * part with an unreadable header, a header that is too long, a body that breaks off. This one refuses them, because a missing picture
 * changes the result. RFC 7578; TASK-02, LIM rows.
 */
import type { GatewayError } from "../../base/errors.ts";
import { malformed, readPartHeader, type PartHeader } from "./multipart-header.ts";

export interface Part extends PartHeader {
  /** The part's bytes. Unread bytes are skipped when the next part is requested. */
  readonly content: AsyncIterable<Buffer>;
}

export interface PartLimits {
  readonly parts: number;
  /** Limit of one part's header block. */
  readonly headerBytes: number;
}

const truncatedBodyError = (): GatewayError =>
  malformed("The multipart body ends before its closing boundary.");

/** Most bytes of padding before the first boundary, and between a boundary and the end of its line. */
const paddingBytesMax = 1024;
const crlf = Buffer.from("\r\n");
const headerEnd = Buffer.from("\r\n\r\n");

/** A buffer of received bytes that are not used yet, and the source of more. */
class UnreadBytes {
  #bytes: Buffer;
  readonly #source: AsyncIterator<Uint8Array>;

  constructor(start: Buffer, source: AsyncIterator<Uint8Array>) {
    this.#bytes = start;
    this.#source = source;
  }

  get bytes(): Buffer {
    return this.#bytes;
  }

  /** Adds the next chunk. @throws GatewayError at the body's end: the bytes that are searched for are missing. */
  async more(): Promise<void> {
    const { done, value } = await this.#source.next();
    if (done === true) throw truncatedBodyError();
    this.#bytes =
      this.#bytes.length === 0 ? Buffer.from(value) : Buffer.concat([this.#bytes, value]);
  }

  take(length: number): Buffer {
    const taken = this.#bytes.subarray(0, length);
    this.#bytes = this.#bytes.subarray(length);
    return taken;
  }

  /**
   * Takes everything up to `mark`, and `mark` too; returns the bytes before it. @throws GatewayError where these are more than
   * `bytesMax`.
   */
  async until(mark: Buffer, bytesMax: number, tooLong: string): Promise<Buffer> {
    for (;;) {
      const at = this.#bytes.indexOf(mark);
      if (at > bytesMax || (at === -1 && this.#bytes.length > bytesMax + mark.length))
        throw malformed(tooLong);
      if (at !== -1) {
        const found = this.take(at);
        this.take(mark.length);
        return found;
      }
      await this.more();
    }
  }

  async drain(): Promise<void> {
    this.#bytes = Buffer.alloc(0);
    while ((await this.#source.next()).done !== true);
  }
}

/**
 * Yields the parts of a body, in order. Reads the source to its end, and never destroys it: an answer must still be possible.
 * @throws GatewayError `malformed_request`; any error of the source
 */
export async function* readParts(
  source: AsyncIterator<Uint8Array>,
  boundary: string,
  limits: PartLimits,
): AsyncGenerator<Part, void, undefined> {
  const delimiter = Buffer.from(`\r\n--${boundary}`, "latin1");
  // The first boundary may come without a line break before it. This one makes all boundaries alike.
  const unread = new UnreadBytes(crlf, source);
  await unread.until(delimiter, paddingBytesMax, "The multipart body begins with no boundary.");
  for (let count = 1; !(await atEnd(unread)); count += 1) {
    if (count > limits.parts)
      throw malformed(`The multipart body has more than ${limits.parts} parts.`);
    const tooLong = `The header of a part is longer than ${limits.headerBytes} bytes.`;
    const header = readPartHeader(await unread.until(headerEnd, limits.headerBytes, tooLong));
    const content = new Content(unread, delimiter);
    yield { ...header, content };
    await content.discard();
  }
  await unread.drain();
}

/** Call it after a boundary. True if it was the last one; otherwise takes the rest of its line, which must be white space. */
async function atEnd(unread: UnreadBytes): Promise<boolean> {
  while (unread.bytes.length < 2) await unread.more();
  if (unread.bytes.toString("latin1", 0, 2) === "--") return true;
  const message = "A boundary of the multipart body is not alone on its line.";
  const rest = await unread.until(crlf, paddingBytesMax, message);
  if (/[^\t ]/.test(rest.toString("latin1"))) throw malformed(message);
  return false;
}

/** The bytes between a part's header and the next boundary. */
class Content implements AsyncIterable<Buffer> {
  #ended = false;
  readonly #unread: UnreadBytes;
  readonly #delimiter: Buffer;

  constructor(unread: UnreadBytes, delimiter: Buffer) {
    this.#unread = unread;
    this.#delimiter = delimiter;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer, void, undefined> {
    const unread = this.#unread;
    while (!this.#ended) {
      const at = unread.bytes.indexOf(this.#delimiter);
      // The last bytes may be the start of a boundary: keep them back.
      const certain = at === -1 ? unread.bytes.length - this.#delimiter.length + 1 : at;
      const piece = certain > 0 ? unread.take(certain) : undefined;
      if (at !== -1) {
        unread.take(this.#delimiter.length);
        this.#ended = true;
      }
      if (piece) yield piece;
      if (at === -1) await unread.more();
    }
  }

  async discard(): Promise<void> {
    const pieces = this[Symbol.asyncIterator]();
    while ((await pieces.next()).done !== true);
  }
}
