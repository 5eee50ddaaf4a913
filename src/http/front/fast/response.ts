/** An answer on the fast path. It has only the parts of Node's ServerResponse that the text endpoints use. */
import { validateHeaderValue } from "node:http";
import { joinedMax, type ResponseSink } from "../../exchange.ts";
import { formatHead, type AnswerHeaders } from "./head.ts";

/** The parts of the connection that an answer uses. */
export interface ResponseConnection {
  /** True once the socket is closed. */
  readonly closed: boolean;
  /** The header lines that all answers share. */
  commonLines(): string;
  /** True while the client reads slower than we write. */
  readonly needsDrain: boolean;
  /** Writes a text. Pass `latin1` for ASCII, where it is faster. */
  send(text: string, encoding: "latin1" | "utf8"): void;
  /** Called when the answer has been written to its end. */
  responseEnded(): void;
}

/** Observes how an answer ends. */
export interface ResponseObserver {
  /** `status` is 0 if no head was sent; `bytes` were written, with the head; `whole`: the answer was written to its end. */
  answerEnded(status: number, bytes: number, whole: boolean): void;
}

/** Characters of output that are sent at once, before the end of the turn. */
const outMax = 16_384;

const flushNow = (response: FastResponse): void => response.flush();

export class FastResponse implements ResponseSink {
  readonly #connection: ResponseConnection;
  #pendingHeaders: Record<string, string> | undefined;
  /** The head, until it is sent with the first text. */
  #head = "";
  #chunked = false;
  /** Text that was written in this turn: it leaves in one write. */
  #out = "";
  /** True while all texts so far are ASCII. */
  #ascii = true;
  #flushing = false;
  /** True while the writer has to wait for `drain`. */
  #waiting = false;
  #ended = false;
  /** Called once, when the answer is over or the client has left. */
  #onClose: (() => void)[] = [];
  #onDrain: (() => void) | undefined;
  headersSent = false;
  /** 0 before it has a head. */
  statusCode = 0;
  /** Bytes that were written, with the head. */
  bytes = 0;
  /** Called once: when the answer has been written to its end, or the connection has closed before. */
  watch: ResponseObserver | undefined;

  constructor(connection: ResponseConnection) {
    this.#connection = connection;
  }

  get destroyed(): boolean {
    return this.#connection.closed;
  }

  setHeader(name: string, value: string): void {
    validateHeaderValue(name, value);
    this.#pendingHeaders ??= {};
    this.#pendingHeaders[name] = value;
  }

  writeHead(status: number, headers: AnswerHeaders): void {
    if (this.headersSent) throw new Error("The head of the answer was sent already.");
    const all =
      this.#pendingHeaders === undefined ? headers : { ...this.#pendingHeaders, ...headers };
    this.#head = formatHead(status, all, this.#connection.commonLines());
    this.#chunked = all["content-length"] === undefined;
    this.headersSent = true;
    this.statusCode = status;
  }

  write(text: string): boolean {
    if (this.#ended) return true;
    this.#add(text);
    if (this.#out.length >= outMax) this.flush();
    else if (!this.#flushing) {
      this.#flushing = true;
      process.nextTick(flushNow, this);
    }
    this.#waiting = this.#connection.needsDrain;
    return !this.#waiting;
  }

  end(text: string): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#add(text);
    if (this.#chunked) this.#out += "0\r\n\r\n";
    this.flush();
    this.#close(true);
    this.#connection.responseEnded();
  }

  /** Sends what was written so far. */
  flush(): void {
    this.#flushing = false;
    const out = this.#out;
    if (out === "") return;
    this.#out = "";
    this.#connection.send(out, this.#ascii ? "latin1" : "utf8");
  }

  /** Adds a text, after the head if that is not sent yet. */
  #add(text: string): void {
    const bytes = Buffer.byteLength(text);
    this.bytes += this.#head.length + bytes;
    // An empty chunk would end the answer.
    const isChunk = this.#chunked && bytes > 0;
    this.#out += isChunk ? `${this.#head}${bytes.toString(16)}\r\n` : this.#head;
    this.#head = "";
    if (text.length > joinedMax) this.flush();
    if (bytes !== text.length) this.#ascii = false;
    this.#out += text;
    if (text.length > joinedMax) this.flush();
    if (isChunk) this.#out += "\r\n";
  }

  on(event: "close" | "drain", listener: () => void): void {
    if (event === "close") this.#onClose.push(listener);
    else this.#onDrain = listener;
  }

  /** Call it when the connection has taken the written bytes. */
  drained(): void {
    if (!this.#waiting) return;
    this.#waiting = false;
    this.#onDrain?.();
  }

  /** The connection closed before the answer's end. */
  connectionClosed(): void {
    if (!this.#ended) this.#close(false);
    this.#ended = true;
    this.#out = "";
  }

  #close(whole: boolean): void {
    this.watch?.answerEnded(this.statusCode, this.bytes, whole);
    for (const listener of this.#onClose.splice(0)) listener();
  }
}
