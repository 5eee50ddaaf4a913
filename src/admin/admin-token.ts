/**
 * The admin token: `TOLLGATE_ADMIN_TOKEN`, or else one derived from the master key, so that all nodes of an installation have the
 * same without communicating. A derived token is kept in a file for the operator to read. docs/operate.md.
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
 * Returns the valid admin tokens: the one of the environment, or else those derived from the held master keys. During a master key
 * rotation there are two. Without a token in the environment, writes that of the current master key to `<data
 * directory>/admin-token`.
 */
export async function openAdminToken(options: AdminTokenOptions): Promise<readonly string[]> {
  if (options.adminToken) return [options.adminToken];
  const token = options.secrets.adminToken();
  try {
    await keep(options.dataDir, token);
  } catch (error) {
    // A gateway that stores all its data elsewhere may run without a writable directory.
    options.log.warn({ err: error }, "the admin token cannot be kept; set TOLLGATE_ADMIN_TOKEN");
  }
  return options.secrets.adminTokens();
}

async function keep(dataDir: string, token: string): Promise<void> {
  const file = path.join(dataDir, "admin-token");
  makeDirectory(dataDir);
  await writeFile(file, `${token}\n`, { mode: 0o600 });
  // The mode above applies only to a new file.
  await chmod(file, 0o600);
}
