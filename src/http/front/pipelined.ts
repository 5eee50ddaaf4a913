/**
 * Requests that a client sends before it has read the answers to those before (pipelining, RFC 9112, section 9.3.2). Node hands
 * over all that came in one read, and 64 kB hold 1,500 requests. Each begins when the answer before it has left, so a connection
 * holds one answer at most, and others are served in between. The fast path does the same.
 */
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** Requests of one connection that may wait: HTTP clients that pipeline at all send some ten ahead. */
export const waitingMax = 32;

interface Waiting {
  readonly response: ServerResponse;
  readonly begin: () => void;
}

/** What waits on each connection that has a request under way. */
const lines = new WeakMap<Socket, Waiting[]>();

/**
 * Calls `begin` when the requests before it on its connection are answered: at once where there are none, and never where the
 * connection ends first. It ends here where too many wait: to answer each would cost as much as the rest.
 */
export function inOrder(socket: Socket, response: ServerResponse, begin: () => void): void {
  // Its answer could not get out any more.
  if (!socket.writable) return;
  const line = lines.get(socket);
  if (line === undefined) {
    lines.set(socket, []);
    start(socket, { response, begin });
  } else if (line.length < waitingMax) line.push({ response, begin });
  else socket.destroy();
}

function start(socket: Socket, { response, begin }: Waiting): void {
  // In a turn of its own: answers that the system takes at once would else follow each other without an end.
  response.once("close", () => setImmediate(goOn, socket));
  begin();
}

function goOn(socket: Socket): void {
  const next = socket.writable ? lines.get(socket)?.shift() : undefined;
  if (next === undefined) lines.delete(socket);
  else start(socket, next);
}
