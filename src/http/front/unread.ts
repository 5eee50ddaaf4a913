/**
 * Closes connections whose client does not read, because their waiting output takes our memory. A connection that took nothing for a
 * while is closed. When all together hold too much, those go first that have stood still longest.
 */
import type { Socket } from "node:net";
import { resetConnection } from "./reset-connection.ts";

/**
 * Memory that a stalled stream holds beside its output, as measured: a read of its upstream as bytes, as a text of two bytes a
 * character, and converted. Each connection with waiting output counts this much more.
 */
export const streamOverheadBytes = 512 * 1024;

export interface UnreadRules {
  /** Milliseconds that output may wait while the client takes no byte. */
  readonly unreadMs: number;
  /** Bytes that all connections together may hold. */
  readonly pendingBytesMax: number;
}

/** The last observed state of a socket's output. */
interface OutputProgress {
  /** Bytes of finished writes. */
  done: number;
  /** Bytes of the current write that the kernel has not taken. */
  queued: number;
  /** When one of these last changed, by `performance.now`. */
  movedMs: number;
}

/** How many connections one check closed, by reason, for the log. */
export interface ClosedUnread {
  /** Connections that stood still for too long. */
  readonly late: number;
  /** Connections closed because all together held too much. */
  readonly crowded: number;
}

/** Checks all connections of a server; the caller calls `closeStalled` at intervals. */
export class UnreadWatch {
  readonly #rules: UnreadRules;
  /** Per socket with waiting output; usually empty. */
  readonly #progress = new Map<Socket, OutputProgress>();

  constructor(rules: UnreadRules) {
    this.#rules = rules;
  }

  /** Cuts the sockets that are late, or above the total. `nowMs` is by `performance.now`. */
  closeStalled(sockets: Iterable<Socket>, nowMs: number): ClosedUnread {
    let held = 0;
    let late = 0;
    for (const socket of sockets) {
      if (socket.writableLength === 0) {
        if (this.#progress.size > 0) this.#progress.delete(socket);
        continue;
      }
      if (nowMs - this.#update(socket, nowMs) >= this.#rules.unreadMs) {
        resetConnection(socket);
        late += 1;
      } else held += pendingBytes(socket);
    }
    return { late, crowded: this.#makeRoom(held) };
  }

  /** Call it when the connection is closed. */
  forget(socket: Socket): void {
    this.#progress.delete(socket);
  }

  /** When the socket's output last moved. */
  #update(socket: Socket, nowMs: number): number {
    const done = socket.bytesWritten - socket.writableLength;
    const queued = queuedIn(socket);
    const progress = this.#progress.get(socket);
    if (progress === undefined) {
      this.#progress.set(socket, { done, queued, movedMs: nowMs });
      return nowMs;
    }
    if (progress.done !== done || progress.queued !== queued) {
      progress.done = done;
      progress.queued = queued;
      progress.movedMs = nowMs;
    }
    return progress.movedMs;
  }

  #makeRoom(held: number): number {
    let over = held - this.#rules.pendingBytesMax;
    if (over <= 0) return 0;
    // If two moved in the same check, the one with more in the queue goes first: the other client may have read some.
    const waiting = [...this.#progress].sort(
      ([a, aProgress], [b, bProgress]) =>
        aProgress.movedMs - bProgress.movedMs ||
        bProgress.queued - aProgress.queued ||
        b.writableLength - a.writableLength,
    );
    let closed = 0;
    for (const [socket] of waiting) {
      if (over <= 0) break;
      if (socket.destroyed) continue;
      over -= pendingBytes(socket);
      closed += 1;
      resetConnection(socket);
    }
    return closed;
  }
}

const pendingBytes = ({ writableLength }: Socket): number => writableLength + streamOverheadBytes;

/**
 * Bytes of the current write that the kernel has not taken. `writableLength` falls only when a write is over, and an answer of many
 * megabytes is one write. Node reads the same field for its own socket timeouts.
 */
function queuedIn(socket: Socket): number {
  const { _handle: handle } = socket as { _handle?: { writeQueueSize?: number } | null };
  return handle?.writeQueueSize ?? 0;
}
