/** What proxies in front of a database have alike. */
import { once } from "node:events";
import type { AddressInfo, Server } from "node:net";

/** Listens on a free port; the connection string of the database at `target`, by way of it. */
export async function listenBefore(server: Server, target: URL): Promise<string> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const before = new URL(target);
  before.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return before.href;
}
