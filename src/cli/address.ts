/** The address of the gateway that uses a data directory. The gateway writes it to a file there, and commands read it. */
import { createHash } from "node:crypto";
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeInDataDirectory } from "../base/data-directory.ts";
import { hostInUrl } from "../base/listening-host.ts";
import { isAlive, pidNamespace } from "../base/process-alive.ts";
import type { Environment } from "./environment.ts";

interface Announced {
  readonly url: string;
  readonly pid: number;
  /** Where `pid` counts: another container may have the same directory. */
  readonly namespace?: string;
  /** Identifies the database: a hash of its URL; null for the embedded one. */
  readonly database: string | null;
}

const fileOf = (dataDir: string): string => join(dataDir, "address.json");

/** A hash, because the URL holds a password and must not be stored. */
const databaseName = (url: string | undefined): string | null =>
  url === undefined ? null : createHash("sha256").update(url).digest("base64url").slice(0, 22);

/** Milliseconds after which a gateway looks whether its directory still has an address. */
const againMs = 10_000;

/**
 * Announces this gateway's address, and again if there is none: several gateways of one database server may have the same directory,
 * and the last that started may have ended. The returned function removes the address, unless it is another gateway's by now.
 */
export function announceAddress(
  environment: Environment,
  url: string,
  everyMs = againMs,
): () => void {
  const { dataDir, databaseUrl } = environment;
  const file = fileOf(dataDir);
  const announced: Announced = {
    url,
    pid: process.pid,
    namespace: pidNamespace,
    database: databaseName(databaseUrl),
  };
  const write = (): void => {
    writeFileSync(`${file}.${process.pid}`, JSON.stringify(announced), { mode: 0o600 });
    renameSync(`${file}.${process.pid}`, file);
  };
  makeInDataDirectory(dataDir, dataDir);
  write();
  const timer = setInterval(() => {
    if (namesRunning(file)) return;
    try {
      write();
    } catch {
      // The disk may be full; try again at the next interval.
    }
  }, everyMs).unref();
  return () => {
    clearInterval(timer);
    if (read(file)?.url === url) rmSync(file, { force: true });
  };
}

/** True if the process that announced itself has ended: anything may listen at its address by now. */
const isOver = ({ pid, namespace }: Announced): boolean =>
  namespace === pidNamespace && !isAlive(pid);

function namesRunning(file: string): boolean {
  const announced = read(file);
  return announced !== undefined && isAlive(announced.pid);
}

function read(file: string): Announced | undefined {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Announced;
  } catch {
    return undefined;
  }
}

/** Process id of a running gateway that uses this data directory and a database server, if the environment names no server. */
export function gatewayOnServerPid({ dataDir, databaseUrl }: Environment): number | undefined {
  const { database, pid } = read(fileOf(dataDir)) ?? {};
  const isUrlMissing = databaseUrl === undefined && typeof database === "string";
  return isUrlMissing && pid !== undefined && isAlive(pid) ? pid : undefined;
}

/**
 * Addresses at which a gateway of this environment's database may answer, by file and variables. Commands send the admin token there,
 * so an address counts only while its gateway may run. With the embedded database a running gateway always has announced itself.
 */
export function possibleAddresses(environment: Environment): string[] {
  const { dataDir, databaseUrl, host, variables } = environment;
  const announced = read(fileOf(dataDir));
  const ours =
    announced !== undefined &&
    !isOver(announced) &&
    (databaseUrl === undefined || announced.database === databaseName(databaseUrl));
  const port = variables["PORT"] || "0";
  const byVariables =
    port === "0" || databaseUrl === undefined ? undefined : `http://${hostInUrl(host)}:${port}`;
  const known = ours ? [announced.url] : [];
  // If the gateway has its own TLS there, it would log a plain request as a failed handshake of a client.
  const isKnown = known[0]?.replace("https:", "http:") === byVariables;
  return byVariables === undefined || isKnown ? known : [...known, byVariables];
}

/** Returns the operator's admin token: from the environment, else the one that the gateway wrote to its data directory. */
export function knownToken({ adminToken, dataDir }: Environment): string | undefined {
  if (adminToken !== undefined) return adminToken;
  try {
    return readFileSync(join(dataDir, "admin-token"), "utf8").trim() || undefined;
  } catch {
    return undefined;
  }
}
