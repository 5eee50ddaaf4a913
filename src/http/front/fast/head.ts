/** Heads of answers on the fast path, byte for byte as Node's server writes them. */
import { STATUS_CODES, validateHeaderValue } from "node:http";

/** An answer's headers by name, in their order. */
export type AnswerHeaders = Readonly<Record<string, string | number>>;

/** The header lines that all answers share. `keepAliveMs` is how long a connection may be idle; 0 means without limit. */
export class CommonLines {
  readonly #keepAlive: string;
  #second = -1;
  #date = "";
  #text = "";

  constructor(keepAliveMs: number) {
    const timeout =
      keepAliveMs > 0 ? `Keep-Alive: timeout=${Math.floor(keepAliveMs / 1000)}\r\n` : "";
    this.#keepAlive = `Connection: keep-alive\r\n${timeout}`;
  }

  /** Returns the Date and Connection lines at a time in milliseconds since 1970. `closeAfter`: the connection closes after this answer. */
  at(nowMs: number, closeAfter: boolean): string {
    const second = Math.floor(nowMs / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#date = `Date: ${new Date(nowMs).toUTCString()}\r\n`;
      this.#text = this.#date + this.#keepAlive;
    }
    return closeAfter ? `${this.#date}Connection: close\r\n` : this.#text;
  }
}

const okLine = "HTTP/1.1 200 OK\r\n";

/**
 * Formats the head of an answer, with its empty line. Without a content-length it announces chunks.
 * @throws TypeError for a value with characters that a header must not have
 */
export function formatHead(status: number, headers: AnswerHeaders, common: string): string {
  let head =
    status === 200 ? okLine : `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? "unknown"}\r\n`;
  for (const name in headers) {
    const value = headers[name]!;
    if (typeof value === "string") validateHeaderValue(name, value);
    head += `${name}: ${value}\r\n`;
  }
  head += common;
  return head + ("content-length" in headers ? "\r\n" : "Transfer-Encoding: chunked\r\n\r\n");
}
