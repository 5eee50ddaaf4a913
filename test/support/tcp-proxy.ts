/** Shared by proxies in front of a database. */
import type { Server } from "node:net";
import { listenOnLoopback } from "./loopback.ts";

/** Listens on a free port. Returns the connection string of the database at `target` through this port. */
export async function listenBefore(server: Server, target: URL): Promise<string> {
  const port = await listenOnLoopback(server);
  const before = new URL(target);
  before.host = `127.0.0.1:${port}`;
  return before.href;
}
