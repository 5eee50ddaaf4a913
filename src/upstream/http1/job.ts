/** What passes between an exchange and the connection that carries it. */
import type { IncomingHttpHeaders } from "node:http";
import type { JsonPieces } from "../../base/json-write.ts";
import type { ExchangeError } from "../exchange-error.ts";
import type { HeadText } from "./request.ts";

/** An exchange as its connection sees it. It hears `answered`, then `data`, then `end`; or `fail` at any point, and no more. */
export interface Job {
  readonly head: HeadText;
  /** Empty once it is sent: an answer may take much longer, and nobody needs it again. */
  body: JsonPieces;
  /** From the request to the answer's head, milliseconds. */
  readonly firstByteMs: number;
  /** The longest silence within the body, milliseconds. */
  readonly idleMs: number;
  /** When it began, and when all of it must be over; milliseconds of `performance.now`. */
  readonly beginsMs: number;
  readonly endsMs: number;
  /** The connection that carries it now. */
  carrier: Carrier | undefined;
  /** What it fails with when it is not over in time. */
  late(): ExchangeError;
  answered(status: number, headers: IncomingHttpHeaders): void;
  /** The next bytes of the body, `[from, to)`. They are overwritten once this returns. */
  data(buffer: Buffer, from: number, to: number): void;
  end(): void;
  fail(error: ExchangeError): void;
}

/** A connection as the exchange it carries sees it. */
export interface Carrier {
  /** Stops and restarts the flow of the body. What has been read already may still be delivered. */
  pause(): void;
  resume(): void;
  /** Closes the connection at once; the exchange hears nothing more. */
  close(): void;
}
