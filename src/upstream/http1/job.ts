/** The interfaces between an exchange and its connection. */
import type { IncomingHttpHeaders } from "node:http";
import type { JsonPieces } from "../../base/json-write.ts";
import type { ExchangeError } from "../exchange-error.ts";
import type { HeadText } from "./request.ts";

/** An exchange as its connection sees it. The connection calls `answered`, then `data`, then `end`; or `fail` at any point, as the last. */
export interface Job {
  readonly head: HeadText;
  /** Emptied after sending, to free memory: the answer may take much longer. */
  body: JsonPieces;
  /** Milliseconds from the request to the answer's head. */
  readonly firstByteMs: number;
  /** The longest silence within the body, in milliseconds. */
  readonly idleMs: number;
  /** Start time, and deadline of the whole exchange; milliseconds of `performance.now`. */
  readonly beginsMs: number;
  readonly endsMs: number;
  /** The connection that carries it now. */
  carrier: Carrier | undefined;
  /** Returns the error for a missed deadline. */
  late(): ExchangeError;
  answered(status: number, headers: IncomingHttpHeaders): void;
  /** The next bytes of the body, `[from, to)`. They are overwritten after this returns. */
  data(buffer: Buffer, from: number, to: number): void;
  end(): void;
  fail(error: ExchangeError): void;
}

/** A connection as its exchange sees it. */
export interface Carrier {
  /** Pauses and resumes the flow of the body. Bytes that were already read may still be delivered. */
  pause(): void;
  resume(): void;
  /** Closes the connection at once; the exchange is not called any more. */
  close(): void;
}
