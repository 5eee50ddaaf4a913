/**
 * One connection to an upstream, with one exchange at a time: it sends the request, reads the answer, and keeps the deadlines. RFC 9112;
 * docs/architecture.md.
 */
import type { Socket } from "node:net";
import { proxyRefusal, refusedBy } from "../dial/tunnel.ts";
import { connectError, type ExchangeError } from "../exchange-error.ts";
import { BodyReader } from "./body.ts";
import { brokenBy, closedEarly, tooSlow, type State } from "./failures.ts";
import { framingOf } from "./framing.ts";
import { MalformedAnswerError, parseHead } from "./head.ts";
import type { Carrier, Job } from "./job.ts";
import type { HeadText } from "./request.ts";
import type { Dialler } from "./socket.ts";
import type { Watched } from "./watch.ts";

/** The pool, as its connections see it. */
export interface Owner {
  readonly dialler: Dialler;
  /** Timeout of the handshakes of TCP and TLS together, in ms. */
  readonly connectMs: number;
  /** Reports a deadline that is new, or sooner than before. */
  note(dueMs: number): void;
  /** False if connections must not be reused at all. */
  readonly mayReuse: boolean;
  /** The connection may be reused; it has been silent since `sinceMs`. */
  release(connection: Connection, sinceMs: number): void;
  /** The server sent bytes without a request. */
  surplus(): void;
  /** The connection is closed. */
  forget(connection: Connection): void;
  /** Nothing of this exchange was sent, because its connection closed before: send it over another one. */
  resend(job: Job): void;
}

/** Up to this many characters or bytes, head and body are joined for one write. Longer bodies are not copied. */
const joinedMax = 16 * 1024;
const never = Number.POSITIVE_INFINITY;

const emptyLine = Buffer.from("\r\n\r\n");

/** The index after the first empty line in `length` bytes; `length` if there is none. */
function headEnd(buffer: Buffer, length: number): number {
  const at = buffer.indexOf(emptyLine);
  return at === -1 ? length : Math.min(at + emptyLine.length, length);
}

export class Connection implements Watched, Carrier {
  readonly #owner: Owner;
  #socket: Socket;
  readonly #body = new BodyReader();
  #state: State = "connecting";
  #job: Job | undefined;
  /** The part of a head that has arrived, as Latin-1. */
  #held = "";
  #isPaused = false;
  /** Time of the last read, and the limit of the current state; milliseconds of `performance.now`. */
  #lastReadMs = 0;
  #limitMs: number;
  /** Milliseconds that it may be idle after this exchange; 0: it must not be reused. */
  #idleMs = 0;

  /** Connects, and then sends the first exchange. */
  constructor(owner: Owner, job: Job) {
    this.#owner = owner;
    this.#job = job;
    job.carrier = this;
    this.#limitMs = performance.now() + owner.connectMs;
    this.#socket = owner.dialler.open({
      read: (buffer, length) => this.#read(buffer, length),
      opened: () => this.send(),
      moved: (socket) => this.#move(socket),
      failed: (error) => this.#break(error),
      ended: () => this.#ended(),
      closed: () => {
        if (this.#state !== "closed") this.#break(closedEarly());
      },
    });
    owner.note(this.dueMs);
  }

  #move(socket: Socket): void {
    this.#socket = socket;
    if (this.#state === "closed") socket.destroy();
  }

  get dueMs(): number {
    if (this.#job === undefined) return this.#state === "idle" ? this.#limitMs : never;
    const isBounded = !this.#isPaused && this.#state !== "reserved";
    return isBounded ? Math.min(this.#limitMs, this.#job.endsMs) : this.#job.endsMs;
  }

  /** True while its reserved exchange is not sent. */
  get isReserved(): boolean {
    return this.#state === "reserved";
  }

  /** Assigns an exchange to an idle connection; false if its idle time is over. */
  reserve(job: Job): boolean {
    if (this.#limitMs <= job.beginsMs) {
      this.close();
      return false;
    }
    this.#state = "reserved";
    this.#job = job;
    job.carrier = this;
    this.#owner.note(job.endsMs);
    return true;
  }

  /** Sends the request. */
  send(): void {
    const job = this.#job;
    if (job === undefined) return;
    const { head, body } = job;
    job.body = "";
    this.#state = "head";
    this.#limitMs = performance.now() + job.firstByteMs;
    this.#owner.note(this.dueMs);
    if (typeof body !== "string") return this.#sendPieces(head, body);
    const length = Buffer.byteLength(body);
    const text = `${head.text}${length}\r\n\r\n`;
    // As many bytes as characters means ASCII, which is written fastest as Latin-1.
    const isAscii = length === body.length;
    const encoding = isAscii ? "latin1" : "utf8";
    if (body.length <= joinedMax && (isAscii || head.isAscii))
      return void this.#socket.write(text + body, encoding);
    this.#socket.write(text, "latin1");
    this.#socket.write(body, encoding);
  }

  #sendPieces(head: HeadText, pieces: readonly Uint8Array[]): void {
    let length = 0;
    for (const piece of pieces) length += piece.length;
    const all = [Buffer.from(`${head.text}${length}\r\n\r\n`, "latin1"), ...pieces];
    if (length <= joinedMax) return void this.#socket.write(Buffer.concat(all));
    // Sent in one write, without copies.
    this.#socket.cork();
    for (const piece of all) this.#socket.write(piece);
    this.#socket.uncork();
  }

  pause(): void {
    if (this.#state !== "body" || this.#isPaused) return;
    this.#isPaused = true;
    this.#socket.pause();
  }

  resume(): void {
    if (this.#job === undefined || !this.#isPaused) return;
    this.#isPaused = false;
    this.#limitMs = performance.now() + this.#job.idleMs;
    this.#owner.note(this.dueMs);
    this.#socket.resume();
  }

  /** Closes it if it is idle, or reserved and its request is not sent yet. */
  retire(): void {
    if (this.#state === "idle" || this.#state === "reserved") this.#break(closedEarly());
  }

  close(): void {
    if (this.#state === "closed") return;
    this.#state = "closed";
    this.#job = undefined;
    this.#held = "";
    this.#owner.forget(this);
    this.#socket.destroy();
  }

  /** Closes it, and fails the exchange that it may carry. */
  fail(error: ExchangeError): void {
    const job = this.#job;
    this.close();
    if (job !== undefined) tell(job, error);
  }

  expire(): void {
    const job = this.#job;
    if (job === undefined) this.close();
    else this.fail(job.endsMs <= performance.now() ? job.late() : tooSlow(this.#state, this.#host));
  }

  /** Must not throw: an error would end the process. */
  #read(buffer: Buffer, length: number): void {
    try {
      this.#lastReadMs = performance.now();
      if (this.#state === "head") this.#takeHead(buffer, length);
      else if (this.#state === "body") this.#takeBody(buffer, 0, length);
      // There is no request: the bytes would be taken for the next answer.
      else this.#takeSurplus();
    } catch (error) {
      this.#break(error as Error);
    }
  }

  #takeSurplus(): void {
    if (this.#state === "closed") return;
    this.#owner.surplus();
    this.#break(new MalformedAnswerError("bytes before they were asked for"));
  }

  #takeHead(buffer: Buffer, length: number): void {
    const job = this.#job!;
    const held = this.#held;
    // Convert only the head: otherwise its fields would keep the text of the whole read in memory.
    let to = headEnd(buffer, length);
    let text = held + buffer.toString("latin1", 0, to);
    let from = 0;
    let head = parseHead(text, 0);
    while (head === undefined || head.status < 200) {
      if (head?.status === 101) throw new MalformedAnswerError("a change of protocol");
      if (head !== undefined) from = head.end;
      else if (to === length) return void (this.#held = text.slice(from));
      else {
        text += buffer.toString("latin1", to, length);
        to = length;
      }
      head = parseHead(text, from);
    }
    this.#held = "";
    const { forwarder } = this.#owner.dialler;
    if (forwarder && head.status === proxyRefusal) throw refusedBy(forwarder);
    const framing = framingOf(head);
    const bodyFrom = head.end - held.length;
    this.#state = "body";
    this.#idleMs = framing.idleMs;
    this.#limitMs = this.#lastReadMs + job.idleMs;
    this.#owner.note(this.dueMs);
    job.answered(head.status, head.headers);
    // Do not wait for a body that cannot be decoded.
    if (this.#job !== job) return;
    if (framing.kind === "none") return this.#finish(length - bodyFrom);
    this.#body.begin(framing);
    if (bodyFrom < length) this.#takeBody(buffer, bodyFrom, length);
  }

  #takeBody(buffer: Buffer, from: number, to: number): void {
    const job = this.#job!;
    const body = this.#body;
    this.#limitMs = this.#lastReadMs + job.idleMs;
    body.take(buffer, from, to);
    if (body.to > body.from) job.data(buffer, body.from, body.to);
    // The consumer may have aborted.
    if (this.#job !== job) return;
    if (body.fault !== undefined) throw new MalformedAnswerError(body.fault);
    if (body.end !== -1) this.#finish(to - body.end);
  }

  /** Ends a complete answer. The answer is valid whatever follows, but a reused connection must not have surplus bytes. */
  #finish(surplusBytes: number): void {
    const job = this.#job!;
    this.#job = undefined;
    const isWholeRequestOut = this.#socket.writableLength === 0;
    if (surplusBytes > 0) this.#owner.surplus();
    if (this.#idleMs === 0 || !isWholeRequestOut || !this.#owner.mayReuse) this.close();
    else {
      if (this.#isPaused) this.#socket.resume();
      this.#isPaused = false;
      this.#state = "idle";
      this.#limitMs = this.#lastReadMs + this.#idleMs;
      this.#owner.release(this, this.#lastReadMs);
      this.#owner.note(this.#limitMs);
    }
    job.end();
  }

  #ended(): void {
    if (this.#state !== "body" || !this.#body.endsWithConnection) return this.#break(closedEarly());
    try {
      this.#finish(0);
    } catch {
      this.close();
    }
  }

  #break(error: Error): void {
    const [state, job] = [this.#state, this.#job];
    this.close();
    if (job === undefined) return;
    if (state === "reserved") this.#owner.resend(job);
    else
      tell(
        job,
        state === "connecting" ? connectError(error, this.#host) : brokenBy(error, this.#host),
      );
  }

  get #host(): string {
    return this.#owner.dialler.host;
  }
}

/** Fails the exchange. An error that its consumer throws has no receiver, and must not end the process. */
function tell(job: Job, error: ExchangeError): void {
  try {
    job.fail(error);
  } catch {}
}
