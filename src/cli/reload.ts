/**
 * SIGHUP with a single process: reads the settings again that can change while it runs, and logs those that need a restart. With
 * workers a reload replaces them (workers/supervise.ts). docs/operate.md "Starting and stopping".
 */
import type { Log } from "../base/log.ts";
import type { OpenCatalog } from "./catalog.ts";
import type { Environment } from "./environment.ts";
import { isSecretVariable } from "../base/secret-variables.ts";
import { logRestartNeeded, partsNeedingRestart } from "./restart-needed.ts";

/** Variables that are read only once, at the start. */
const startVariables = /^(?:TOLLGATE_|OTEL_)|^DATABASE_(?:READ_)?URL$|_PROXY$/i;

interface Reloading {
  readonly catalog: OpenCatalog;
  readonly log: Log;
}

/**
 * Reloads the configuration file, certificates, and secrets from files.
 * @throws UsageError where anything is wrong; then all stays as it was
 */
export async function reload({ catalog, log }: Reloading, next: Environment): Promise<void> {
  const before = catalog.variables();
  const now = next.variables;
  const reread = await catalog.reload(next);
  const changedSince = (then: Environment["variables"]): string[] =>
    [...new Set([...Object.keys(then), ...Object.keys(now)])]
      .filter((name) => isSecretVariable(name) && then[name] !== now[name])
      .sort();
  const waits = (name: string): boolean =>
    startVariables.test(name) && reread?.variables?.has(name) !== true;
  const restart = [
    ...(reread ? partsNeedingRestart(catalog.settings, reread.settings) : []),
    // Compare with the start, so that every reload reports the changes that still wait.
    ...changedSince(catalog.startVariables).filter(waits),
  ];
  const taken = changedSince(before).filter((name) => !waits(name));
  log.info(
    { path: reread?.path, models: catalog.current().models.size, secrets: taken, restart },
    "the configuration was read again",
  );
  logRestartNeeded(restart, log);
}
