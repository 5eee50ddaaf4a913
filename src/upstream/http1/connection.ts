/**
 * One connection to an upstream and the one exchange it carries at a time: request out, answer in, deadlines.
 * RFC 9112; docs/architecture.md.
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

/** What a connection needs of its pool. */
export interface Owner {
  readonly dialler: Dialler;
  /** For the handshakes of TCP and TLS together. */
  readonly connectMs: number;
  /** A deadline that is new, or sooner than before. */
  note(dueMs: number): void;
  /** Whether connections may carry another exchange at all. */
  readonly mayRest: boolean;
  /** The connection may carry another exchange. It has been silent since `sinceMs`. */
  rest(connection: Connection, sinceMs: number): void;
  /** The server sent bytes that nobody asked for. */
  surplus(): void;
  /** The connection is closed. */
  forget(connection: Connection): void;
  /** Of this exchange nothing was sent: the connection it was to go over went away before. */
  again(job: Job): void;
}

/** Up to so many characters or bytes, head and body are joined. Longer bodies are not copied for it. */
const joinedMax = 16 * 1024;
const never = Number.POSITIVE_INFINITY;

const emptyLine = Buffer.from("\r\n\r\n");

/** Where the first empty line of `length` bytes ends; at their end where there is none. */
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
  /** What has arrived of a head, as Latin-1. */
  #held = "";
  #isPaused = false;
  /** When the last read was, and until when the present state may last; milliseconds of `performance.now`. */
  #heardMs = 0;
  #limitMs: number;
  /** How long it may lie idle after this exchange, milliseconds; 0: not at all. */
  #restMs = 0;

  /** Connects for the sake of a first exchange. */
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

  /** Whether it still waits for what it was reserved for. */
  get isReserved(): boolean {
    return this.#state === "reserved";
  }

  /** Gives an idle connection an exchange to carry; false where its rest is over. */
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
    // As many bytes as characters: all of it is ASCII, which is written fastest as Latin-1.
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
    // They leave in one write, and none is copied.
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

  /** Closes it where it carries nothing yet. */
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

  /** Closes it under an exchange that may be on its way. */
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

  /** Nothing may throw out of here: it would end the process. */
  #read(buffer: Buffer, length: number): void {
    try {
      this.#heardMs = performance.now();
      if (this.#state === "head") this.#takeHead(buffer, length);
      else if (this.#state === "body") this.#takeBody(buffer, 0, length);
      // Nobody has asked: it would be taken for the next answer.
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
    // No further than the head: its fields would keep the text of all that came with it.
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
    this.#restMs = framing.idleMs;
    this.#limitMs = this.#heardMs + job.idleMs;
    this.#owner.note(this.dueMs);
    job.answered(head.status, head.headers);
    // A body in a coding that nobody can read is not waited for.
    if (this.#job !== job) return;
    if (framing.kind === "none") return this.#finish(length - bodyFrom);
    this.#body.begin(framing);
    if (bodyFrom < length) this.#takeBody(buffer, bodyFrom, length);
  }

  #takeBody(buffer: Buffer, from: number, to: number): void {
    const job = this.#job!;
    const body = this.#body;
    this.#limitMs = this.#heardMs + job.idleMs;
    body.take(buffer, from, to);
    if (body.to > body.from) job.data(buffer, body.from, body.to);
    // Whoever was given the bytes may have had enough of them.
    if (this.#job !== job) return;
    if (body.fault !== undefined) throw new MalformedAnswerError(body.fault);
    if (body.end !== -1) this.#finish(to - body.end);
  }

  /** The answer is whole. It stands whatever follows it, but nothing may follow it on a connection that is used again. */
  #finish(surplusBytes: number): void {
    const job = this.#job!;
    this.#job = undefined;
    const isWholeRequestOut = this.#socket.writableLength === 0;
    if (surplusBytes > 0) this.#owner.surplus();
    if (this.#restMs === 0 || !isWholeRequestOut || !this.#owner.mayRest) this.close();
    else {
      if (this.#isPaused) this.#socket.resume();
      this.#isPaused = false;
      this.#state = "idle";
      this.#limitMs = this.#heardMs + this.#restMs;
      this.#owner.rest(this, this.#heardMs);
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
    if (state === "reserved") this.#owner.again(job);
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

/** Whoever throws on hearing of a failure has nobody left to hear of his own, and must not end the process. */
function tell(job: Job, error: ExchangeError): void {
  try {
    job.fail(error);
  } catch {}
}
