/**
 * Closes a connection on which bytes may still arrive. The kernel answers bytes to a closed socket with a reset, and a client that gets
 * one before it has read the answer loses the answer. So we end our side, and discard further bytes until the client has ended its side
 * too, for a while. RFC 9112, section 9.6.
 */
import type { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { lingering } from "../bodies/late.ts";

const lingerMsMax = 5_000;

// oxlint-disable-next-line typescript/unbound-method -- it is called with its socket
const { destroySoon } = Socket.prototype;

/** True if a connection only lingers: its further bytes are discarded. */
export const isLingering = (socket: Socket): boolean => lingering.has(socket);

/** Closes a connection when its output has left and the client has ended its side, or after five seconds. */
export function closeLingering(socket: Socket): void {
  if (lingering.has(socket) || socket.destroyed) return;
  lingering.add(socket);
  socket.end();
  const late = setTimeout(() => socket.destroy(), lingerMsMax);
  socket.once("close", () => clearTimeout(late));
  socket.once("end", () => destroySoon.call(socket));
  socket.resume();
}

/** Connections with bytes after their last request. */
const withTrailingBytes = new WeakSet<Socket>();

/** Marks a connection with bytes after its last request: more may follow when its answer has left. */
export const markTrailingBytes = (socket: Socket): void => void withTrailingBytes.add(socket);

/** Where Node closes the connection after the answer to this request, makes it linger if more bytes may arrive. */
export function lingerAfter(request: IncomingMessage): void {
  const { socket } = request;
  socket.destroySoon = () => {
    if (request.complete && !withTrailingBytes.has(socket)) destroySoon.call(socket);
    else closeLingering(socket);
  };
}
