/**
 * Answers bytes that never become a request: no HTTP, headers beyond their limit, a request that never ends. Node passes these with a
 * bare socket; they get our error shape too. Requirements: ERR.
 */
import { STATUS_CODES, type IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { GatewayError } from "../../base/errors.ts";
import { newId } from "../../base/ids.ts";
import { headersMax } from "../exchange.ts";
import { matchRoute, styleOf } from "../routes.ts";
import { errorAnswer } from "../errors/reply-error.ts";
import { closeLingering, isLingering, markTrailingBytes } from "./lingering.ts";

interface ClientError extends Error {
  readonly code?: string;
  /** The bytes with the fault: the start of the request, unless it came in pieces. */
  readonly rawPacket?: unknown;
}

const requestTimeoutCode = "ERR_HTTP_REQUEST_TIMEOUT";
const endOfInputCode = "HPE_INVALID_EOF_STATE";

function gatewayError({ code }: ClientError): GatewayError {
  switch (code) {
    case requestTimeoutCode:
      return new GatewayError("request_timeout", "The request did not arrive in time.");
    case "HPE_HEADER_OVERFLOW":
      return new GatewayError("request_too_large", "The request's headers are too large.", {
        status: 431,
      });
    default:
      return new GatewayError("malformed_request", "The request is not well-formed HTTP/1.1.");
  }
}

/** The error for a request with more headers than are read: Node would drop some of them in silence. */
export const tooManyHeaders = (): GatewayError =>
  new GatewayError("request_too_large", `The request has more than ${headersMax} headers.`, {
    status: 431,
  });

/**
 * True if Node accepted a request that HTTP/1.1 forbids: another version or none, two Hosts, chunks in HTTP/1.0, or a transfer coding
 * other than `chunked`, which Node does not decode. A proxy in front may use the other Host, or see another body. RFC 9112, sections
 * 2.3, 3.2, 6.1 and 7.
 */
export function isAmbiguous(request: IncomingMessage): boolean {
  const { httpVersionMajor, httpVersionMinor, headers, rawHeaders } = request;
  if (httpVersionMajor !== 1) return true;
  const coding = headers["transfer-encoding"];
  if (coding !== undefined && (httpVersionMinor === 0 || coding.toLowerCase() !== "chunked"))
    return true;
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!;
    if (name.length === 4 && name.toLowerCase() === "host") hosts += 1;
  }
  return hosts > 1;
}

/** Refuses such a request like malformed HTTP: nothing that follows on its connection is read. */
export function refuseAmbiguous({ method, url, socket }: IncomingMessage): void {
  const rawPacket = Buffer.from(`${method} ${url} `, "latin1");
  answerClientError(Object.assign(new Error("an ambiguous request"), { rawPacket }), socket);
}

/** Returns the answer in flight on a connection, a private field of Node. */
function answerInFlight(socket: Socket): ServerResponse | undefined {
  const { _httpMessage: current } = socket as { _httpMessage?: ServerResponse | null };
  return current ?? undefined;
}

/** Connections whose error is sent after the answers that are in flight. */
const errorPending = new WeakSet<Socket>();

/** If the fault comes after a whole request, delays its error until that request is answered, as on the fast path. @returns true if so */
function answerErrorAfter(error: ClientError, socket: Socket, current: ServerResponse): boolean {
  const { code = "" } = error;
  // A client that ends its side in the middle of a request waits for no answer.
  const isFault =
    code === requestTimeoutCode || (code.startsWith("HPE_") && code !== endOfInputCode);
  if (!isFault || !current.req.complete) return false;
  if (errorPending.has(socket)) return true;
  errorPending.add(socket);
  current.once("close", () => {
    errorPending.delete(socket);
    answerClientError(error, socket);
  });
  return true;
}

/** Answers a client error and closes the connection, because the start of the next request is unknown. */
export function answerClientError(error: ClientError, socket: Socket): void {
  if (isLingering(socket)) return;
  // Bytes after the last request of a connection are ignored, and its answer is on the way. RFC 9112, section 9.6.
  if (error.code === "HPE_CLOSED_CONNECTION") return markTrailingBytes(socket);
  const current = answerInFlight(socket);
  if (current !== undefined && socket.writable && answerErrorAfter(error, socket, current)) return;
  // An error written now would land in the middle of another answer.
  if (error.code === "ECONNRESET" || !socket.writable || current?.headersSent === true) {
    socket.destroy();
    return;
  }
  const start = Buffer.isBuffer(error.rawPacket)
    ? error.rawPacket.subarray(0, 2048).toString("latin1")
    : "";
  answerOnSocket(socket, gatewayError(error), start);
  closeLingering(socket);
}

/** Writes an error as the last answer of a connection. `start` is the known start of the request: its path decides the error's shape. */
export function answerOnSocket(socket: Socket, error: GatewayError, start: string): void {
  const [, method = "", url = ""] = /^([A-Z]+) (\S*)/.exec(start) ?? [];
  const style = styleOf(matchRoute(method, url), {});
  const { headers, text } = errorAnswer({ style, error, requestId: newId("req") });
  const lines = Object.entries({ ...headers, connection: "close" }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  socket.end(
    `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}\r\n${lines.join("")}\r\n${text}`,
  );
}
