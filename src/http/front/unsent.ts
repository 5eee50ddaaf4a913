/**
 * Node takes a connection for idle once its last answer has been given, though its client may have read only a part of it. So a
 * server that stops would cut answers that are on their way. A connection is idle here when its answer has left, too.
 */
import type { Server } from "node:http";
import type { Socket } from "node:net";

/** The server's `closeIdleConnections` leaves those of `open` alone whose output waits. */
export function keepUnsent(server: Server, open: ReadonlySet<Socket>): void {
  const closeIdle = server.closeIdleConnections.bind(server);
  server.closeIdleConnections = () => {
    const waiting = [...open].filter((socket) => socket.writableLength > 0);
    // Only Node knows which connections are idle, and it destroys them at once.
    for (const socket of waiting) socket.destroy = () => socket;
    closeIdle();
    for (const socket of waiting) Reflect.deleteProperty(socket, "destroy");
  };
}
