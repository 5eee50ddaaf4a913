/** Removes files after a restore, which no row names any more. docs/data.md. */
import { limitConcurrency } from "../base/concurrency-limit.ts";
import type { Log } from "../base/log.ts";
import { adviceOnFiles, type FileStore } from "../files/index.ts";

/** Files that are removed at once. */
const removalsMax = 8;

/** Names of files that could not be removed, as a warning shows them. */
const shownMax = 10;

/** Removes files by name. Those that stay are named in a warning with the reason: no sweep will find them, as no row names them. Never throws. */
export async function removeFiles(
  files: FileStore | undefined,
  names: readonly string[],
  log?: Pick<Log, "warn">,
): Promise<void> {
  const inTurn = limitConcurrency(removalsMax);
  const left: string[] = [];
  let error: unknown;
  await Promise.all(
    names.map((name) =>
      inTurn(async () => files?.remove(name)).catch((reason: unknown) => {
        left.push(name);
        error ??= reason;
      }),
    ),
  );
  if (left.length === 0) return;
  const fields = { failed: left.length, names: left.slice(0, shownMax), ...adviceOnFiles(error) };
  log?.warn(fields, "could not remove files that no row names any more; remove them yourself");
}
