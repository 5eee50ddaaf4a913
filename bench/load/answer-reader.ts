/** Finds the end of each answer of a connection, and checks the answer. It parses no more than that needs. */

interface AnswerEvents {
  /** Called with the head, from its status line on. */
  head?(text: string): void;
  /** Called when the first bytes of the body have arrived. */
  first(): void;
  /** Called when the answer is complete; `ok` if its status is 200 and its type is the requested one. */
  complete(ok: boolean): void;
}

const headEnd = Buffer.from("\r\n\r\n");
const lastChunk = Buffer.from("0\r\n\r\n");
const done = Buffer.from("[DONE]");
/** Enough for the last event and the last chunk. */
const tailBytes = 48;

export class AnswerReader {
  readonly #streamed: boolean;
  readonly #events: AnswerEvents;
  #rest: Buffer | undefined;
  /** Remaining bytes of the body; -1 before the head is read, Infinity for a chunked body. */
  #missing = -1;
  #ok = false;
  #started = false;
  #tail: Buffer = Buffer.alloc(0);

  constructor(streamed: boolean, events: AnswerEvents) {
    this.#streamed = streamed;
    this.#events = events;
  }

  /** Reads the next bytes of the connection. An answer always ends a read, because requests are sent one after another. */
  read(data: Buffer): void {
    let bytes = data;
    if (this.#missing === -1) {
      if (this.#rest !== undefined) bytes = Buffer.concat([this.#rest, data]);
      const end = bytes.indexOf(headEnd);
      this.#rest = end === -1 ? bytes : undefined;
      if (end === -1) return;
      this.#readHead(bytes.toString("latin1", 0, end));
      bytes = bytes.subarray(end + headEnd.length);
    }
    if (bytes.length > 0 && !this.#started) {
      this.#started = true;
      this.#events.first();
    }
    if (this.#missing !== Infinity) this.#missing -= bytes.length;
    else this.#keepTail(bytes);
    const isWhole =
      this.#missing === Infinity
        ? this.#tail.subarray(-lastChunk.length).equals(lastChunk)
        : this.#missing <= 0;
    if (isWhole) this.#finish();
  }

  #readHead(head: string): void {
    this.#events.head?.(head);
    const isStream = /^content-type: *text\/event-stream/im.test(head);
    this.#ok = head.startsWith("HTTP/1.1 200") && isStream === this.#streamed;
    const length = /^content-length: *(\d+)/im.exec(head)?.[1];
    this.#missing = length === undefined ? Infinity : Number(length);
    this.#started = false;
    this.#tail = Buffer.alloc(0);
  }

  #keepTail(bytes: Buffer): void {
    const tail = bytes.length >= tailBytes ? bytes : Buffer.concat([this.#tail, bytes]);
    this.#tail = tail.subarray(-tailBytes);
  }

  #finish(): void {
    const ended = !this.#streamed || this.#tail.includes(done);
    this.#missing = -1;
    this.#events.complete(this.#ok && ended);
  }
}
