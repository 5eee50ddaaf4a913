/** The parts of the configuration file that take effect at the next start only. docs/operate.md "Reloading". */
import type { Log } from "../base/log.ts";
import type { Settings } from "../catalog/index.ts";

/** Certificates take effect at once, but whether TLS is used at all is decided at the start. */
const startSettings = ({ server, ...rest }: Settings) => ({
  ...rest,
  tls: server.tls !== undefined,
  keepAlive: server.keepAliveMs,
});

/** The parts by their names in the file. */
const partNames: Readonly<Record<keyof ReturnType<typeof startSettings>, string>> = {
  limits: "limits",
  storage: "storage",
  console: "console",
  cors: "cors",
  tls: "server.tls",
  keepAlive: "server.keep_alive_s",
  accessLog: "access_log",
  retention: "retention",
  telemetry: "telemetry",
  exports: "exports",
  tags: "tags",
  hooks: "hooks",
  webhooks: "webhooks",
};

/** Returns the parts that differ from those at the start. */
export function partsNeedingRestart(started: Settings, said: Settings): string[] {
  const [before, now]: Record<string, unknown>[] = [startSettings(started), startSettings(said)];
  return Object.entries(partNames)
    .filter(([part]) => JSON.stringify(before![part]) !== JSON.stringify(now![part]))
    .map(([, name]) => name);
}

/** Logs a warning with the parts that need a restart, if there are any. */
export function logRestartNeeded(restart: readonly string[], log: Log): void {
  if (restart.length > 0)
    log.warn({ restart }, "changes that take effect at the next start, and not before");
}
