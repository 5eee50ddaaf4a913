/**
 * The admin token: `TOLLGATE_ADMIN_TOKEN`, else one derived from the master key, so that every node of an installation
 * has the same without telling each other. The derived one is kept in a file for the operator to read. docs/operate.md.
 */
import { chmod, writeFile } from "node:fs/promises";
import path from "node:path";
import { makeDirectory } from "../base/data-directory.ts";
import type { Log } from "../base/log.ts";
import type { Secrets } from "../tenancy/index.ts";

export interface AdminTokenOptions {
  /** The value of TOLLGATE_ADMIN_TOKEN; empty counts as absent. */
  readonly adminToken?: string | undefined;
  readonly dataDir: string;
  readonly secrets: Pick<Secrets, "adminToken" | "adminTokens">;
  readonly log: Pick<Log, "warn">;
}

/**
 * The admin tokens in force: the environment's, else those of the master keys that are held, which are two while the master
 * key is replaced. Without one in the environment that of the master key in force is written to `<data directory>/admin-token`.
 */
export async function openAdminToken(options: AdminTokenOptions): Promise<readonly string[]> {
  if (options.adminToken) return [options.adminToken];
  const token = options.secrets.adminToken();
  try {
    await keep(options.dataDir, token);
  } catch (error) {
    // A gateway that has all it needs elsewhere may run without a writable directory.
    options.log.warn({ err: error }, "the admin token cannot be kept; set TOLLGATE_ADMIN_TOKEN");
  }
  return options.secrets.adminTokens();
}

async function keep(dataDir: string, token: string): Promise<void> {
  const file = path.join(dataDir, "admin-token");
  makeDirectory(dataDir);
  await writeFile(file, `${token}\n`, { mode: 0o600 });
  // The mode above is for a new file only.
  await chmod(file, 0o600);
}
