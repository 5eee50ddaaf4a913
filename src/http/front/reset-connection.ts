/** Closes connections whose client does not read. */
import type { Socket } from "node:net";

/** Returns the TCP socket under a TLS socket, a private field of Node; undefined without TLS. */
export function tcpSocketOf(socket: Socket): Socket | undefined {
  const { _parent: raw } = socket as { _parent?: Socket };
  return raw;
}

/**
 * Resets a connection and drops its unsent output. After an orderly close the kernel would keep its buffers, some megabytes of each
 * connection, and offer them for minutes to a client that does not read.
 */
export function resetConnection(socket: Socket): void {
  (tcpSocketOf(socket) ?? socket).resetAndDestroy();
  socket.destroy();
}
