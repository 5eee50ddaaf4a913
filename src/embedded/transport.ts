/**
 * How the gateway reaches its own server: a Unix socket in a directory that only the server's user may enter; on Windows
 * loopback with a random password.
 */
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import type { Place } from "./data-lock.ts";
import { reachSocket, socketPort } from "./directory.ts";
import { makeOwned } from "./home.ts";
import { seenByServer, type Site } from "./programs.ts";
import type { ServerOptions } from "./server.ts";

const socketName = "socket";

export interface Transport {
  readonly listen: ServerOptions["listen"] | { readonly port: number };
  /** For other processes of this machine. */
  readonly place: Place;
  /** Of `initdb`; undefined where the socket's directory is the protection. */
  readonly passwordFile: string | undefined;
}

/** A port of loopback on which nobody listens just now. */
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
  return { listen: { port }, place: { host: "127.0.0.1", port, password }, passwordFile };
}

/** A new directory `name` for the socket of the site's server. */
export function prepareSocket(site: Site, directory: string, name: string) {
  const path = join(directory, name);
  // What a dead server left there would keep a new one from listening; the lock on the data directory is ours.
  rmSync(path, { recursive: true, force: true });
  makeOwned(path, site.identity);
  const seen = site.home.file === undefined ? reachSocket(path).path : seenByServer(site, name);
  return { listen: { socketDir: seen }, place: { host: path, port: socketPort } };
}

/** Prepares what the server of `directory` will listen on. */
export function prepareTransport(site: Site, directory: string): Promise<Transport> {
  if (process.platform === "win32") return loopback(directory);
  return Promise.resolve({
    ...prepareSocket(site, directory, socketName),
    passwordFile: undefined,
  });
}
