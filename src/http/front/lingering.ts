/**
 * Closing a connection on which something may still arrive. Bytes that come to a closed socket are answered with a reset, and a
 * client that gets one before it has read the answer loses it. So our side is ended, and what still comes is read and forgotten
 * until the client has ended its side too, for a while. RFC 9112, section 9.6.
 */
import type { IncomingMessage } from "node:http";
import { Socket } from "node:net";

const lingerMsMax = 5_000;
const lingering = new WeakSet<Socket>();

// oxlint-disable-next-line typescript/unbound-method -- it is called with its socket
const { destroySoon } = Socket.prototype;

/** Whether a connection is over but for what is read and forgotten: nothing on it counts any more. */
export const isLingering = (socket: Socket): boolean => lingering.has(socket);

/** Closes a connection when what was written has left and the client has ended its side, or is too late with it. */
export function closeLingering(socket: Socket): void {
  if (lingering.has(socket) || socket.destroyed) return;
  lingering.add(socket);
  socket.end();
  const late = setTimeout(() => socket.destroy(), lingerMsMax);
  socket.once("close", () => clearTimeout(late));
  socket.once("end", () => destroySoon.call(socket));
  socket.resume();
}

/** Connections on which something came behind their last request. */
const followed = new WeakSet<Socket>();

/** Something came behind the last request: more may, when its answer has left. */
export const lingerFor = (socket: Socket): void => void followed.add(socket);

/** Where Node closes the connection with the answer to this request, it lingers while something is on its way. */
export function lingerBehind(request: IncomingMessage): void {
  const { socket } = request;
  socket.destroySoon = () => {
    if (request.complete && !followed.has(socket)) destroySoon.call(socket);
    else closeLingering(socket);
  };
}
