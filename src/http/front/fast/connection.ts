/**
 * One connection that has not been given to Node's HTTP yet. A read that is one plain request, or begins one with all of its
 * head, is answered on the socket itself, and the rest of its body is read here. At the first read that is anything else the
 * connection is handed over for the rest of its life.
 */
import type { Socket } from "node:net";
import { Pieces } from "../../../base/pieces.ts";
import type { RequestBody } from "../../exchange.ts";
import { forgetBody } from "../../bodies/paced.ts";
import { closeLingering, isLingering } from "../lingering.ts";
import { emptyBytes, FastBody } from "./body.ts";
import type { CommonLines } from "./head.ts";
import { readPlainRequest, type PlainRequest } from "./request.ts";
import { FastResponse, type AnswerLine } from "./response.ts";

export type Take = (
  request: PlainRequest,
  response: FastResponse,
  body: RequestBody,
  socket: Socket,
) => boolean;

/** What a connection needs of its server. */
export interface FastServer {
  /** Answers a request, or leaves it untouched and returns false. */
  readonly take: Take;
  /** A fault of the client in the middle of its request, as Node tells it. */
  clientError(error: Error, socket: Socket): void;
  /** Gives the socket to Node, with what was read of it. */
  handOver(connection: FastConnection, bytes: Buffer): void;
  forget(connection: FastConnection): void;
  /** True once the gateway stops: connections close after their next answer. */
  leaving(): boolean;
  readonly common: CommonLines;
}

/** What may be kept of the next requests while a call runs; above it nothing more is read. */
const earlyBytesMax = 65_536;

/** `fresh`: nothing was read yet; `busy`: until the body is read, and the answer written and little of it waits; `idle`: after that. */
export type ConnectionState = "fresh" | "busy" | "idle";

export class FastConnection implements AnswerLine {
  readonly socket: Socket;
  readonly #server: FastServer;
  state: ConnectionState = "fresh";
  /** Since when it has been in this state, by `performance.now`. */
  sinceMs = performance.now();
  closed = false;
  #response: FastResponse | undefined;
  /** What of a request is still on its way. */
  #body: FastBody | undefined;
  /** Whether the request, or the answer in flight, says that the connection closes after it. */
  #last = false;
  /** What came while busy. */
  #early: Pieces | undefined;

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
    this.#last ||= this.#server.leaving();
    return this.#server.common.at(Date.now(), this.#last);
  }

  get full(): boolean {
    return this.socket.writableNeedDrain;
  }

  send(text: string, encoding: "latin1" | "utf8"): void {
    // A client that has ended its side gets nothing more; `close` follows.
    if (this.socket.writable) this.socket.write(text, encoding);
  }

  answered(): void {
    this.#response = undefined;
    if (this.#body !== undefined) forgetBody(this.#body);
    if (!this.#last) this.#rest();
    else if (this.#body === undefined && this.#early === undefined) this.socket.destroySoon();
    else closeLingering(this.socket);
  }

  /** Whether the body of a request is on its way. */
  get isReceiving(): boolean {
    return this.#body !== undefined;
  }

  /** A body that cannot be read to its end: the client gets an error where no answer has begun, and the connection ends. */
  fail(error: Error): void {
    if (this.#response?.headersSent === true) this.socket.destroy();
    else this.#server.clientError(error, this.socket);
  }

  /** Gives the socket back as it was found. */
  release(): Socket {
    const { socket } = this;
    socket.removeListener("data", this.#onData);
    socket.removeListener("end", this.#onEnd);
    socket.removeListener("error", this.#onError);
    socket.removeListener("drain", this.#onDrain);
    socket.removeListener("close", this.#onClose);
    return socket;
  }

  /** Goes idle where nothing is left of the last request. A client that does not read its answers is asked for no more. */
  #rest(): void {
    if (this.#response !== undefined || this.#body !== undefined || this.full) return;
    this.state = "idle";
    this.sinceMs = performance.now();
    if (this.#early === undefined || !this.socket.writable) return;
    this.#server.handOver(this, this.#early.join());
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
    this.#last = request.last;
    this.#response = response;
    if (length > body.length) this.#body = new FastBody(this.socket, length, body);
    const wasIdleMs = this.sinceMs;
    this.sinceMs = performance.now();
    if (this.#server.take(request, response, this.#body ?? body, this.socket)) {
      // Nothing is read before the caller is known.
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
    const taken = body.take(bytes);
    if (!body.readableEnded) return;
    this.#body = undefined;
    if (taken < bytes.length) this.#keep(bytes.subarray(taken));
    this.#rest();
  }

  /** Pipelined, or noise: for Node to judge when the answer is over. */
  #keep(bytes: Buffer): void {
    if (isLingering(this.socket)) return;
    this.#early ??= new Pieces();
    this.#early.add(bytes);
    if (this.#early.length >= earlyBytesMax) this.socket.pause();
  }

  // As Node's server does: a client that ends its side is answered no more.
  readonly #onEnd = (): void => {
    if (this.#body === undefined) this.socket.end();
    else this.fail(cutOff());
  };

  readonly #onDrain = (): void => {
    if (this.#response !== undefined) this.#response.drained();
    else if (this.state === "busy") this.#rest();
  };

  // `close` follows.
  readonly #onError = (): void => {};

  readonly #onClose = (): void => {
    this.closed = true;
    this.#server.forget(this);
    this.#response?.broken();
    this.#body?.broken();
  };
}

/** Node's error for the same. */
const cutOff = (): Error =>
  Object.assign(new Error("Parse Error: Invalid EOF state"), { code: "HPE_INVALID_EOF_STATE" });
