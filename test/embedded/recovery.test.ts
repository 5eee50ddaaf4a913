/** How long a start of the embedded server may take. A script plays the server, because a long recovery needs gigabytes. */
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { openDirectory } from "../../src/embedded/directory.ts";
import { startServer } from "../../src/embedded/server.ts";
import { silentLog, temporaryDirectory } from "../support/postgres.ts";

/** Starts a server that says `line` fifteen times, every 0.2 seconds, and is ready then. Two seconds without progress are too long. */
async function start(line: string) {
  const directory = temporaryDirectory();
  mkdirSync(join(directory, "18"));
  const pid = `$$\\n\\n\\n\\n\\n\\n\\nready\\n`;
  const script = `#!/bin/sh
for step in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do echo "${line}" >&2; sleep 0.2; done
printf "${pid}" > '${directory}/18/postmaster.pid'
exec sleep 60
`;
  writeFileSync(join(directory, "postgres"), script);
  chmodSync(join(directory, "postgres"), 0o755);
  const home = openDirectory(directory);
  onTestFinished(() => home.close());
  return startServer({
    site: { binaries: { directory, major: 18 }, identity: undefined, home },
    directory,
    cluster: "18",
    listen: { socketDir: directory },
    log: silentLog,
    silentMsMax: 2_000,
  });
}

it.skipIf(process.platform === "win32")(
  "a start goes on while the server tells of its recovery, and ends if it does not",
  async () => {
    const [recovered, stuck] = await Promise.allSettled([
      start("2026-11-30 LOG:  redo in progress, elapsed time: 10.00 s, current LSN: 0/1"),
      start("2026-11-30 FATAL:  the database system is starting up"),
    ]);
    expect(stuck).toMatchObject({
      reason: { message: expect.stringContaining("was not ready in time") },
    });
    expect(recovered).toMatchObject({ status: "fulfilled" });
    if (recovered.status === "fulfilled") await recovered.value.stop();
  },
);
