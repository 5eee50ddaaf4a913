/** A client that holds its answer back: it reads nothing until it is told to. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { eventually } from "./patience.ts";

/** A connection to a gateway from which nothing is read yet. */
export async function connectUnread(url: string): Promise<Socket> {
  const { port, hostname } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, "connect");
  return socket.pause();
}

/** The end of what the client gets, once it reads. */
export async function restOf(socket: Socket): Promise<string> {
  let text = "";
  socket.setEncoding("utf8");
  socket.on("data", (data: string) => (text = (text + data).slice(-2_000)));
  socket.resume();
  await eventually(() => text.endsWith("0\r\n\r\n") || undefined, "the end of the answer");
  return text;
}
