/** Where the gateway of a data directory answers: it tells so in a file there, for the commands that look for it. */
import { createHash } from "node:crypto";
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeInDataDirectory } from "../base/data-directory.ts";
import { hostInUrl } from "../base/listening-host.ts";
import { isAlive } from "../base/process-alive.ts";
import type { Environment } from "./environment.ts";

interface Announced {
  readonly url: string;
  readonly pid: number;
  /** Which database it works on: a hash of its URL; null for the embedded one. */
  readonly database: string | null;
}

const fileOf = (dataDir: string): string => join(dataDir, "address.json");

/** The URL holds a password, and is kept nowhere. */
const databaseName = (url: string | undefined): string | null =>
  url === undefined ? null : createHash("sha256").update(url).digest("base64url").slice(0, 22);

/** Says where this process's gateway answers. What is returned takes it back, unless another one has said so since. */
export function announceAddress(environment: Environment, url: string): () => void {
  const { dataDir, databaseUrl } = environment;
  const file = fileOf(dataDir);
  const announced: Announced = { url, pid: process.pid, database: databaseName(databaseUrl) };
  makeInDataDirectory(dataDir, dataDir);
  writeFileSync(`${file}.${process.pid}`, JSON.stringify(announced), { mode: 0o600 });
  renameSync(`${file}.${process.pid}`, file);
  return () => {
    if (read(file)?.url === url) rmSync(file, { force: true });
  };
}

function read(file: string): Announced | undefined {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Announced;
  } catch {
    return undefined;
  }
}

/** The process of a gateway that runs on the data directory and uses a server, where the environment names none. */
export function ofServer({ dataDir, databaseUrl }: Environment): number | undefined {
  const { database, pid } = read(fileOf(dataDir)) ?? {};
  const isForgotten = databaseUrl === undefined && typeof database === "string";
  return isForgotten && pid !== undefined && isAlive(pid) ? pid : undefined;
}

/** Where a gateway of this environment's database may answer, as far as files and variables tell. It may be gone. */
export function possibleAddresses(environment: Environment): string[] {
  const { dataDir, databaseUrl, host, variables } = environment;
  const announced = read(fileOf(dataDir));
  const ours =
    announced !== undefined &&
    (databaseUrl === undefined || announced.database === databaseName(databaseUrl));
  const port = variables["PORT"] || "0";
  return [
    ...(ours ? [announced.url] : []),
    ...(port === "0" ? [] : [`http://${hostInUrl(host)}:${port}`]),
  ];
}

/** The token the operator has: from the environment, else the one the gateway left in its data directory. */
export function knownToken({ adminToken, dataDir }: Environment): string | undefined {
  if (adminToken !== undefined) return adminToken;
  try {
    return readFileSync(join(dataDir, "admin-token"), "utf8").trim() || undefined;
  } catch {
    return undefined;
  }
}
