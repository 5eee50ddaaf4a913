/** Ending connections whose client does not read. */
import type { Socket } from "node:net";

/** The connection that TLS was put on, which Node keeps and does not show; undefined without TLS. */
export function rawOf(socket: Socket): Socket | undefined {
  const { _parent: raw } = socket as { _parent?: Socket };
  return raw;
}

/**
 * Closes a connection with what waits in it, by a reset. After an orderly end the system would keep what it had taken, some
 * megabytes of each connection, and offer it for minutes to a client that does not read.
 */
export function cut(socket: Socket): void {
  (rawOf(socket) ?? socket).resetAndDestroy();
  socket.destroy();
}
