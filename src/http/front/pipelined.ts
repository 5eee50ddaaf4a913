/**
 * Orders pipelined requests, which a client sends before it has read the previous answers (RFC 9112, section 9.3.2). Node passes on all
 * requests of one read, and 64 kB hold 1,500. Here each begins when the previous answer has left. So a connection holds one answer at
 * most, and other connections are served in between. The fast path does the same.
 */
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** Most waiting requests of one connection: HTTP clients that pipeline at all send some ten ahead. */
export const waitingMax = 32;

interface Waiting {
  readonly response: ServerResponse;
  readonly begin: () => void;
}

/** The waiting requests of each connection that has a request in flight. */
const queues = new WeakMap<Socket, Waiting[]>();

/**
 * Calls `begin` when the previous requests of its connection are answered: at once if there are none, never if the connection ends
 * first. With too many waiting requests it destroys the connection: an error for each would cost as much as an answer.
 */
export function answerInOrder(socket: Socket, response: ServerResponse, begin: () => void): void {
  // Its answer could not be sent any more.
  if (!socket.writable) return;
  const queue = queues.get(socket);
  if (queue === undefined) {
    queues.set(socket, []);
    start(socket, { response, begin });
  } else if (queue.length < waitingMax) queue.push({ response, begin });
  else socket.destroy();
}

function start(socket: Socket, { response, begin }: Waiting): void {
  // In a new turn: otherwise answers that the kernel takes at once would follow each other without a break.
  response.once("close", () => setImmediate(startNext, socket));
  begin();
}

function startNext(socket: Socket): void {
  const next = socket.writable ? queues.get(socket)?.shift() : undefined;
  if (next === undefined) queues.delete(socket);
  else start(socket, next);
}
