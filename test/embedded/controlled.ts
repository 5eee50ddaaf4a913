/** Servers that run as on Windows: started by `pg_ctl`, on a port of loopback. */
import { chownSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findBinaries } from "../../src/embedded/binaries.ts";
import { prepareCluster } from "../../src/embedded/cluster.ts";
import { openDirectory } from "../../src/embedded/directory.ts";
import { prepareDatabaseDirectory } from "../../src/embedded/database-directory.ts";
import { serverIdentity } from "../../src/embedded/identity.ts";
import type { Server } from "../../src/embedded/server.ts";
import { startControlled } from "../../src/embedded/windows.ts";
import { silentLog } from "../support/postgres.ts";

/** Makes a database with its password in a data directory. @returns its paths and password, and a function that starts its server */
export async function prepareControlled(dataDir: string) {
  const identity = serverIdentity(dataDir);
  const give = (path: string): void => {
    if (identity !== undefined) chownSync(path, identity.uid, identity.gid);
  };
  give(dataDir);
  const directory = join(dataDir, "database");
  prepareDatabaseDirectory(directory, identity);
  const passwordFile = join(directory, "password");
  const password = `secret of ${dataDir}`;
  writeFileSync(passwordFile, password, { mode: 0o600 });
  give(passwordFile);
  const home = openDirectory(directory);
  const site = { binaries: findBinaries(dataDir, identity), identity, home };
  // As on Windows: a path, and no open file.
  const plain = { ...site, home: { ...home, file: undefined, childPath: () => directory } };
  await prepareCluster(plain, directory, passwordFile);
  const cluster = join(directory, String(site.binaries.major));
  const warned: string[] = [];
  const log = { ...silentLog, warn: (_: object, message: string) => void warned.push(message) };
  return {
    cluster,
    password,
    warned,
    pid: () => Number(readFileSync(join(cluster, "postmaster.pid"), "utf8").split("\n")[0]),
    said: () => readFileSync(join(directory, "server.log"), "utf8"),
    start(port: number): Promise<Server> {
      const name = String(site.binaries.major);
      return startControlled({ site: plain, directory, cluster: name, log }, port);
    },
  };
}
