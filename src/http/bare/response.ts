/** An answer on a bare socket: what the text endpoints use of Node's ServerResponse, and nothing more. */
import { validateHeaderValue } from "node:http";
import type { ResponseSink } from "../exchange.ts";
import { formatHead, type AnswerHeaders } from "./head.ts";

/** What an answer needs of its connection. */
export interface AnswerLine {
  /** True once the socket is closed. */
  readonly closed: boolean;
  /** The lines of a head that all answers share. */
  commonLines(): string;
  /** Writes; false when the client reads slower. Latin-1 is for ASCII, where it is faster. */
  send(text: string, encoding: "latin1" | "utf8"): boolean;
  /** The answer has been written to its end. */
  answered(): void;
}

export class BareResponse implements ResponseSink {
  readonly #line: AnswerLine;
  #early: Record<string, string> | undefined;
  /** The head, until it is sent with the first text. */
  #head = "";
  #chunked = false;
  #ended = false;
  #onClose: (() => void) | undefined;
  #onDrain: (() => void) | undefined;
  headersSent = false;

  constructor(line: AnswerLine) {
    this.#line = line;
  }

  get destroyed(): boolean {
    return this.#line.closed;
  }

  setHeader(name: string, value: string): void {
    validateHeaderValue(name, value);
    this.#early ??= {};
    this.#early[name] = value;
  }

  writeHead(status: number, headers: AnswerHeaders): void {
    if (this.headersSent) throw new Error("The head of the answer was sent already.");
    const all = this.#early === undefined ? headers : { ...this.#early, ...headers };
    this.#head = formatHead(status, all, this.#line.commonLines());
    this.#chunked = all["content-length"] === undefined;
    this.headersSent = true;
  }

  write(text: string): boolean {
    return this.#ended || this.#send(text, "");
  }

  end(text: string): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#send(text, this.#chunked ? "0\r\n\r\n" : "");
    this.#line.answered();
  }

  /** The head where it is still to be sent, a text, and what closes the answer. */
  #send(text: string, close: string): boolean {
    const bytes = Buffer.byteLength(text);
    // A chunk of no bytes would be the end.
    const body = this.#chunked && bytes > 0 ? `${bytes.toString(16)}\r\n${text}\r\n` : text;
    const head = this.#head;
    this.#head = "";
    return this.#line.send(head + body + close, bytes === text.length ? "latin1" : "utf8");
  }

  on(event: "close" | "drain", listener: () => void): void {
    if (event === "close") this.#onClose = listener;
    else this.#onDrain = listener;
  }

  /** The connection took what was written. */
  drained(): void {
    this.#onDrain?.();
  }

  /** The connection closed before the answer's end. */
  broken(): void {
    this.#ended = true;
    this.#onClose?.();
  }
}
