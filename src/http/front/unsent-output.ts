/**
 * Node counts a connection as idle once its last answer has been written, even if its client has read only a part of it. So a stopping
 * server would cut answers. Here a connection is idle only when its answer has left, too.
 */
import type { Server } from "node:http";
import type { Socket } from "node:net";

/** Makes the server's `closeIdleConnections` spare the sockets of `open` with waiting output. */
export function keepUnsentOpen(server: Server, open: ReadonlySet<Socket>): void {
  const closeIdle = server.closeIdleConnections.bind(server);
  server.closeIdleConnections = () => {
    const waiting = [...open].filter((socket) => socket.writableLength > 0);
    // Only Node knows which connections are idle, and it destroys them at once: disable `destroy` meanwhile.
    for (const socket of waiting) socket.destroy = () => socket;
    closeIdle();
    for (const socket of waiting) Reflect.deleteProperty(socket, "destroy");
  };
}
