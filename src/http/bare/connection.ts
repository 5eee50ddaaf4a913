/**
 * One connection that has not been given to Node's HTTP yet. Each read that is exactly one plain request is answered on the
 * socket itself; at the first read that is anything else the connection is handed over for the rest of its life.
 */
import type { Socket } from "node:net";
import type { CommonLines } from "./head.ts";
import { readWholeRequest, type WholeRequest } from "./request.ts";
import { BareResponse, type AnswerLine } from "./response.ts";

/** What a connection needs of its server. */
export interface BareServer {
  /** Answers a request, or leaves it untouched and returns false. */
  readonly take: (request: WholeRequest, response: BareResponse) => boolean;
  /** Gives the socket to Node, with what was read of it. */
  handOver(connection: BareConnection, bytes: Buffer): void;
  forget(connection: BareConnection): void;
  /** True once the gateway stops: connections close after their next answer. */
  leaving(): boolean;
  readonly common: CommonLines;
}

/** What may be kept of the next requests while a call runs; above it nothing more is read. */
const earlyBytesMax = 65_536;

/** `fresh`: nothing was read yet; `busy`: until the answer is written and has left; `idle`: after an answer. */
export type ConnectionState = "fresh" | "busy" | "idle";

export class BareConnection implements AnswerLine {
  readonly socket: Socket;
  readonly #server: BareServer;
  state: ConnectionState = "fresh";
  /** Since when it has been in this state, by `performance.now`; not kept while busy. */
  sinceMs = performance.now();
  closed = false;
  #response: BareResponse | undefined;
  /** Whether the answer under way told the client that the connection closes after it. */
  #last = false;
  /** What came while busy. */
  #early: Buffer[] = [];
  #earlyBytes = 0;

  constructor(socket: Socket, server: BareServer) {
    this.socket = socket;
    this.#server = server;
    socket.on("data", this.#onData);
    socket.on("end", this.#onEnd);
    socket.on("error", this.#onError);
    socket.on("drain", this.#onDrain);
    socket.on("close", this.#onClose);
  }

  commonLines(): string {
    this.#last = this.#server.leaving();
    return this.#server.common.at(Date.now(), this.#last);
  }

  get full(): boolean {
    return this.socket.writableNeedDrain;
  }

  send(text: string, encoding: "latin1" | "utf8"): void {
    // A client that has ended its side is told nothing more; `close` follows.
    if (this.socket.writable) this.socket.write(text, encoding);
  }

  answered(): void {
    this.#response = undefined;
    if (this.#last) {
      this.socket.destroySoon();
      return;
    }
    // A client that does not read its answers is asked for no more requests.
    if (!this.full) this.#beIdle();
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

  #beIdle(): void {
    this.state = "idle";
    this.sinceMs = performance.now();
    if (this.#earlyBytes === 0 || !this.socket.writable) return;
    this.#server.handOver(this, Buffer.concat(this.#early));
  }

  readonly #onData = (bytes: Buffer): void => {
    if (this.state === "busy") {
      this.#keep(bytes);
      return;
    }
    const request = readWholeRequest(bytes);
    if (request !== undefined) {
      const response = new BareResponse(this);
      const before = this.state;
      this.state = "busy";
      this.#response = response;
      if (this.#server.take(request, response)) return;
      this.state = before;
      this.#response = undefined;
    }
    this.#server.handOver(this, bytes);
  };

  /** Pipelined, or noise: for Node to judge when the answer is over. */
  #keep(bytes: Buffer): void {
    this.#early.push(bytes);
    this.#earlyBytes += bytes.length;
    if (this.#earlyBytes >= earlyBytesMax) this.socket.pause();
  }

  // As Node's server does: a client that ends its side is answered no more.
  readonly #onEnd = (): void => {
    this.socket.end();
  };

  readonly #onDrain = (): void => {
    if (this.#response !== undefined) this.#response.drained();
    else if (this.state === "busy") this.#beIdle();
  };

  // `close` follows.
  readonly #onError = (): void => {};

  readonly #onClose = (): void => {
    this.closed = true;
    this.#server.forget(this);
    this.#response?.broken();
  };
}
