/** What proxies in front of a database have alike. */
import type { Server } from "node:net";
import { listenOnLoopback } from "./loopback.ts";

/** Listens on a free port; the connection string of the database at `target`, by way of it. */
export async function listenBefore(server: Server, target: URL): Promise<string> {
  const port = await listenOnLoopback(server);
  const before = new URL(target);
  before.host = `127.0.0.1:${port}`;
  return before.href;
}
