/**
 * The connection between the gateway and its own server: a Unix socket in a directory that only the server's user may enter. On
 * Windows: loopback with a random password.
 */
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import type { ServerLocation } from "./data-lock.ts";
import { openSocketPath, socketPort } from "./directory.ts";
import { createOwnedDirectory } from "./database-directory.ts";
import { pathForServer, type Site } from "./programs.ts";
import type { ServerOptions } from "./server.ts";

const socketName = "socket";

export interface Transport {
  readonly listen: ServerOptions["listen"] | { readonly port: number };
  /** The address for other processes of this machine. */
  readonly place: ServerLocation;
  /** Password file for `initdb`; undefined if the socket's directory protects the server. */
  readonly passwordFile: string | undefined;
  /** Releases a link or descriptor. Only after the server has ended: a restart needs it too. */
  close(): void;
}

/** Returns a free loopback port. Another process may still take it. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

async function loopback(directory: string): Promise<Transport> {
  const passwordFile = join(directory, "password");
  if (!existsSync(passwordFile))
    writeFileSync(passwordFile, randomBytes(24).toString("base64url"), { mode: 0o600 });
  const port = await freePort();
  const password = readFileSync(passwordFile, "utf8");
  const place = { host: "127.0.0.1", port, password };
  return { listen: { port }, place, passwordFile, close: () => undefined };
}

/** Creates the directory `name` for the socket of the site's server. `close` must be called after the server has ended. */
export function prepareSocket(site: Site, directory: string, name: string) {
  const path = join(directory, name);
  // Files of a dead server would keep a new one from listening. This process holds the lock on the data directory, so no server is
  // alive.
  rmSync(path, { recursive: true, force: true });
  createOwnedDirectory(path, site.identity);
  const place = { host: path, port: socketPort };
  if (site.home.file !== undefined)
    return { listen: { socketDir: pathForServer(site, name) }, place, close: () => undefined };
  const reached = openSocketPath(path);
  return { listen: { socketDir: reached.path }, place, close: () => reached.close() };
}

/** Prepares the socket, or on Windows the port and password, for the server of `directory`. */
export function prepareTransport(site: Site, directory: string): Promise<Transport> {
  if (process.platform === "win32") return loopback(directory);
  return Promise.resolve({
    ...prepareSocket(site, directory, socketName),
    passwordFile: undefined,
  });
}
