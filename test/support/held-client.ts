/** A client that reads nothing of its answer until the test tells it to. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { eventually } from "./patience.ts";

/** Opens a connection to a gateway without reading from it. */
export async function connectUnread(url: string): Promise<Socket> {
  const { port, hostname } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, "connect");
  return socket.pause();
}

/** Reads the answer to its end and returns its last 2,000 characters. */
export async function restOf(socket: Socket): Promise<string> {
  let text = "";
  socket.setEncoding("utf8");
  socket.on("data", (data: string) => (text = (text + data).slice(-2_000)));
  socket.resume();
  await eventually(() => text.endsWith("0\r\n\r\n") || undefined, "the end of the answer");
  return text;
}
