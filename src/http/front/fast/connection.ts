/**
 * One connection that the fast path has not handed over to Node's HTTP yet. A read that holds one plain request, or its whole head and
 * part of its body, is answered on the socket itself. The rest of such a body is read here. At the first other read the connection is
 * handed over for the rest of its life.
 */
import type { Socket } from "node:net";
import { ChunkBuffer } from "../../../base/chunk-buffer.ts";
import type { RequestBody } from "../../exchange.ts";
import { discardBody } from "../../bodies/paced.ts";
import { closeLingering, isLingering } from "../lingering.ts";
import { emptyBytes, FastBody } from "./body.ts";
import type { CommonLines } from "./head.ts";
import { readPlainRequest, type PlainRequest } from "./request.ts";
import { FastResponse, type ResponseConnection } from "./response.ts";

export type RequestHandler = (
  request: PlainRequest,
  response: FastResponse,
  body: RequestBody,
  socket: Socket,
) => boolean;

/** The parts of the server that a connection uses. */
export interface FastServer {
  /** Answers a request, or leaves it untouched and returns false. */
  readonly handle: RequestHandler;
  /** Reports a client's fault in the middle of its request, as Node reports it. */
  clientError(error: Error, socket: Socket): void;
  /** Hands the socket over to Node, with the bytes that were read of it. */
  handOver(connection: FastConnection, bytes: Buffer): void;
  forget(connection: FastConnection): void;
  /** True once the gateway stops: connections close after their next answer. */
  leaving(): boolean;
  readonly common: CommonLines;
}

/** Bytes of further requests that are kept while a call runs; above this, reading pauses. */
const pipelinedBytesMax = 65_536;

/** `fresh`: nothing was read yet. `busy`: until the body is read, the answer is written, and little of it waits. `idle`: after that. */
export type ConnectionState = "fresh" | "busy" | "idle";

export class FastConnection implements ResponseConnection {
  readonly socket: Socket;
  readonly #server: FastServer;
  state: ConnectionState = "fresh";
  /** When it entered this state, by `performance.now`. */
  sinceMs = performance.now();
  closed = false;
  #response: FastResponse | undefined;
  /** The body of the current request, while it is still arriving. */
  #body: FastBody | undefined;
  /** True if the request, or the answer in flight, says that the connection closes after it. */
  #closeAfter = false;
  /** Bytes that came while busy. */
  #pipelined: ChunkBuffer | undefined;

  constructor(socket: Socket, server: FastServer) {
    this.socket = socket;
    this.#server = server;
    socket.on("data", this.#onData);
    socket.on("end", this.#onEnd);
    socket.on("error", this.#onError);
    socket.on("drain", this.#onDrain);
    socket.on("close", this.#onClose);
  }

  commonLines(): string {
    this.#closeAfter ||= this.#server.leaving();
    return this.#server.common.at(Date.now(), this.#closeAfter);
  }

  get needsDrain(): boolean {
    return this.socket.writableNeedDrain;
  }

  send(text: string, encoding: "latin1" | "utf8"): void {
    // A client that has closed its side gets nothing more; `close` follows.
    if (this.socket.writable) this.socket.write(text, encoding);
  }

  responseEnded(): void {
    this.#response = undefined;
    if (this.#body !== undefined) discardBody(this.#body);
    if (!this.#closeAfter) this.#becomeIdle();
    else if (this.#body === undefined && this.#pipelined === undefined) this.socket.destroySoon();
    else closeLingering(this.socket);
  }

  /** True while the body of a request is arriving. */
  get isReceiving(): boolean {
    return this.#body !== undefined;
  }

  /** Ends the connection because a body cannot be read to its end. The client gets an error if no answer has begun. */
  fail(error: Error): void {
    if (this.#response?.headersSent === true) this.socket.destroy();
    else this.#server.clientError(error, this.socket);
  }

  /** Removes all listeners and returns the socket. */
  release(): Socket {
    const { socket } = this;
    socket.removeListener("data", this.#onData);
    socket.removeListener("end", this.#onEnd);
    socket.removeListener("error", this.#onError);
    socket.removeListener("drain", this.#onDrain);
    socket.removeListener("close", this.#onClose);
    return socket;
  }

  /** Goes idle if nothing is left of the last request. Nothing more is read from a client that does not read its answers. */
  #becomeIdle(): void {
    if (this.#response !== undefined || this.#body !== undefined || this.needsDrain) return;
    this.state = "idle";
    this.sinceMs = performance.now();
    if (this.#pipelined === undefined || !this.socket.writable) return;
    this.#server.handOver(this, this.#pipelined.join());
  }

  readonly #onData = (bytes: Buffer): void => {
    if (this.#body !== undefined) this.#receive(this.#body, bytes);
    else if (this.state === "busy") this.#keep(bytes);
    else this.#begin(bytes);
  };

  #begin(bytes: Buffer): void {
    const request = readPlainRequest(bytes);
    if (request === undefined) return this.#server.handOver(this, bytes);
    const { length, body } = request;
    request.body = emptyBytes;
    const response = new FastResponse(this);
    const before = this.state;
    this.state = "busy";
    this.#closeAfter = request.closeAfter;
    this.#response = response;
    if (length > body.length) this.#body = new FastBody(this.socket, length, body);
    const wasIdleMs = this.sinceMs;
    this.sinceMs = performance.now();
    if (this.#server.handle(request, response, this.#body ?? body, this.socket)) {
      // The body is not read before the caller is known.
      if (this.#body?.listenerCount("data") === 0) this.socket.pause();
      return;
    }
    this.state = before;
    this.sinceMs = wasIdleMs;
    this.#response = undefined;
    this.#body = undefined;
    this.#server.handOver(this, bytes);
  }

  #receive(body: FastBody, bytes: Buffer): void {
    const taken = body.push(bytes);
    if (!body.readableEnded) return;
    this.#body = undefined;
    if (taken < bytes.length) this.#keep(bytes.subarray(taken));
    this.#becomeIdle();
  }

  /** Keeps bytes after the request, pipelined or malformed: Node reads them when the answer is over. */
  #keep(bytes: Buffer): void {
    if (isLingering(this.socket)) return;
    this.#pipelined ??= new ChunkBuffer();
    this.#pipelined.add(bytes);
    if (this.#pipelined.length >= pipelinedBytesMax) this.socket.pause();
  }

  // As Node's server does: a client that closes its side gets no further answers.
  readonly #onEnd = (): void => {
    if (this.#body === undefined) this.socket.end();
    else this.fail(cutOff());
  };

  readonly #onDrain = (): void => {
    if (this.#response !== undefined) this.#response.drained();
    else if (this.state === "busy") this.#becomeIdle();
  };

  // `close` follows.
  readonly #onError = (): void => {};

  readonly #onClose = (): void => {
    this.closed = true;
    this.#server.forget(this);
    this.#response?.connectionClosed();
    this.#body?.connectionClosed();
  };
}

/** The same error as Node's. */
const cutOff = (): Error =>
  Object.assign(new Error("Parse Error: Invalid EOF state"), { code: "HPE_INVALID_EOF_STATE" });
