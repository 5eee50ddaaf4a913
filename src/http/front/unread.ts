/**
 * Connections whose client does not read. What waits in them is memory of ours: one that took nothing for a while is closed,
 * and when all of them together hold too much, those that stand still longest go first.
 */
import type { Socket } from "node:net";
import { cut } from "./cut.ts";

/**
 * What a stream that stands still holds beside its output, as measured: a read of its upstream as bytes, as a text of two bytes a
 * character, and converted. Each connection with output that waits counts so much more.
 */
export const besideBytes = 512 * 1024;

export interface UnreadRules {
  /** How long output may wait without one byte being taken, in milliseconds. */
  readonly unreadMs: number;
  /** What may be held for all connections together, in bytes. */
  readonly pendingBytesMax: number;
}

/** What was seen of a socket's output. */
interface Seen {
  /** Bytes of the writes that are over. */
  done: number;
  /** Bytes of the write under way that the kernel has not taken. */
  queued: number;
  /** When one of both last changed, by `performance.now`. */
  movedMs: number;
}

/** Why connections were closed in one look, for the log. */
export interface ClosedUnread {
  /** They stood still for too long. */
  readonly late: number;
  /** All of them held too much. */
  readonly crowded: number;
}

/** Looks at all connections of a server from time to time. */
export class UnreadWatch {
  readonly #rules: UnreadRules;
  /** Of sockets with output that waits: usually none. */
  readonly #seen = new Map<Socket, Seen>();

  constructor(rules: UnreadRules) {
    this.#rules = rules;
  }

  /** Cuts the sockets that are late or too many. `nowMs` is by `performance.now`. */
  look(sockets: Iterable<Socket>, nowMs: number): ClosedUnread {
    let held = 0;
    let late = 0;
    for (const socket of sockets) {
      if (socket.writableLength === 0) {
        if (this.#seen.size > 0) this.#seen.delete(socket);
        continue;
      }
      if (nowMs - this.#update(socket, nowMs) >= this.#rules.unreadMs) {
        cut(socket);
        late += 1;
      } else held += heldFor(socket);
    }
    return { late, crowded: this.#makeRoom(held) };
  }

  /** The connection is closed. */
  forget(socket: Socket): void {
    this.#seen.delete(socket);
  }

  /** When the socket's output last moved. */
  #update(socket: Socket, nowMs: number): number {
    const done = socket.bytesWritten - socket.writableLength;
    const queued = queuedIn(socket);
    const seen = this.#seen.get(socket);
    if (seen === undefined) {
      this.#seen.set(socket, { done, queued, movedMs: nowMs });
      return nowMs;
    }
    if (seen.done !== done || seen.queued !== queued) {
      seen.done = done;
      seen.queued = queued;
      seen.movedMs = nowMs;
    }
    return seen.movedMs;
  }

  #makeRoom(held: number): number {
    let over = held - this.#rules.pendingBytesMax;
    if (over <= 0) return 0;
    // Of two that moved in the same look, one may just have come; the other has taken some of it.
    const waiting = [...this.#seen].sort(
      ([a, aSeen], [b, bSeen]) =>
        aSeen.movedMs - bSeen.movedMs ||
        bSeen.queued - aSeen.queued ||
        b.writableLength - a.writableLength,
    );
    let closed = 0;
    for (const [socket] of waiting) {
      if (over <= 0) break;
      if (socket.destroyed) continue;
      over -= heldFor(socket);
      closed += 1;
      cut(socket);
    }
    return closed;
  }
}

const heldFor = ({ writableLength }: Socket): number => writableLength + besideBytes;

/**
 * What the kernel has not taken of the write under way. `writableLength` falls only when a write is over, and an answer of
 * many megabytes is one write. Node reads the same field for its own socket timeouts.
 */
function queuedIn(socket: Socket): number {
  const { _handle: handle } = socket as { _handle?: { writeQueueSize?: number } | null };
  return handle?.writeQueueSize ?? 0;
}
