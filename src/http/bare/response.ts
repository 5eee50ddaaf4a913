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
  /** Writes; false when the client reads slower. */
  send(text: string, encoding: "latin1" | "utf8"): boolean;
  /** The answer has been written to its end. */
  answered(): void;
}

/** What has to be said about the length of a text: its bytes, and how they are written fastest. */
const encodingOf = (text: string, bytes: number): "latin1" | "utf8" =>
  bytes === text.length ? "latin1" : "utf8";

export class BareResponse implements ResponseSink {
  readonly #line: AnswerLine;
  #early: Record<string, string> | undefined;
  /** The head, until it is sent with the first text. */
  #head = "";
  #chunked = false;
  /** Of a whole answer. */
  #length = 0;
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
    const all = this.#early === undefined ? headers : { ...this.#early, ...headers };
    this.#head = formatHead(status, all, this.#line.commonLines());
    const length = all["content-length"];
    this.#chunked = length === undefined;
    this.#length = Number(length);
    this.headersSent = true;
  }

  write(text: string): boolean {
    if (this.#ended) return true;
    const bytes = Buffer.byteLength(text);
    const head = this.#head;
    this.#head = "";
    return this.#line.send(head + chunk(text, bytes), encodingOf(text, bytes));
  }

  end(text: string): void {
    if (this.#ended) return;
    this.#ended = true;
    const bytes = this.#chunked ? Buffer.byteLength(text) : this.#length;
    const body = this.#chunked ? `${chunk(text, bytes)}0\r\n\r\n` : text;
    this.#line.send(this.#head + body, encodingOf(text, bytes));
    this.#line.answered();
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

const chunk = (text: string, bytes: number): string =>
  bytes === 0 ? "" : `${bytes.toString(16)}\r\n${text}\r\n`;
