/** How long a start of the embedded server may take. A script plays the server, because a long recovery needs gigabytes. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { isAlive } from "../../src/base/process-alive.ts";
import { keepAlive } from "../../src/embedded/engine.ts";
import { openDirectory } from "../../src/embedded/directory.ts";
import { startServer, type Server } from "../../src/embedded/server.ts";
import { startControlled } from "../../src/embedded/windows.ts";
import { eventually } from "../support/patience.ts";
import { silentLog, temporaryDirectory } from "../support/postgres.ts";

const redo = "redo in progress, elapsed time: 10.00 s, current LSN: 0/1";

interface Recovery {
  /** The server says it every 0.2 seconds, before many lines about connections that it refuses. */
  readonly line: string;
  readonly times?: number;
  readonly directory?: string;
  readonly signal?: AbortSignal;
}

/** Writes a program that says a line some times and is ready then, and returns the options to start it. Two seconds without progress are too long. */
function serverOf({ line, times = 15, directory = temporaryDirectory(), signal }: Recovery) {
  mkdirSync(join(directory, "18"));
  const ready = `$$\\n\\n\\n\\n\\n\\n\\nready\\n`;
  const file = `${directory}/18/postmaster.pid`;
  const server = `#!/bin/sh
echo $$ > '${file}'
for step in $(seq ${times}); do
  echo "2026-11-30 LOG:  ${line}" >&2
  for connection in $(seq 60); do echo "2026-11-30 FATAL:  the database system is starting up" >&2; done
  sleep 0.2
done
printf "${ready}" > '${file}'
exec sleep 60
`;
  // As pg_ctl of a server that is not ready in its time.
  const control = `#!/bin/sh
if [ "$1" = stop ]; then kill -9 $(head -n 1 '${file}'); exit 0; fi
'${directory}/postgres' 2>> '${directory}/server.log' > /dev/null &
until [ -s '${file}' ]; do sleep 0.01; done
exit 1
`;
  for (const [name, text] of Object.entries({ postgres: server, pg_ctl: control }))
    writeFileSync(join(directory, name), text, { mode: 0o755 });
  const home = openDirectory(directory);
  onTestFinished(() => home.close());
  return {
    site: { binaries: { directory, major: 18 }, identity: undefined, home },
    directory,
    cluster: "18",
    listen: { socketDir: directory },
    log: silentLog,
    silentMsMax: 2_000,
    signal,
  };
}

const starts: readonly (readonly [string, (recovery: Recovery) => Promise<Server>])[] = [
  ["our child", (recovery) => startServer(serverOf(recovery))],
  ["started by pg_ctl", (recovery) => startControlled(serverOf(recovery), 1)],
];

describe.skipIf(process.platform === "win32").each(starts)(
  "a server that recovers, %s",
  (_how, start) => {
    it("is waited for while it tells of its recovery, and ended if it does not", async () => {
      const [syncing, recovering, stuck] = await Promise.allSettled([
        start({
          line: "syncing data directory (fsync), elapsed time: 10.00 s, current path: ./base/1/3164",
        }),
        start({ line: redo }),
        start({ line: "FATAL:  the database system is starting up" }),
      ]);
      expect(stuck).toMatchObject({
        reason: { message: expect.stringMatching(/was not ready in time|did not start/) },
      });
      for (const each of [syncing, recovering]) {
        expect(each).toMatchObject({ status: "fulfilled" });
        if (each.status === "fulfilled") await each.value.stop();
      }
    });

    it("is ended by a stop", async () => {
      const dead = { ended: Promise.resolve(), stop: () => Promise.resolve() };
      const directory = temporaryDirectory();
      const close = keepAlive(
        dead,
        (signal) => start({ line: redo, times: 300, directory, signal }),
        silentLog,
      );
      const file = join(directory, "18/postmaster.pid");
      const pid = await eventually(() => pidIn(file), "the server to begin");
      const beganMs = performance.now();
      await close();
      expect(performance.now() - beganMs).toBeLessThan(30_000);
      await expect.poll(() => isAlive(pid)).toBe(false);
    });
  },
);

const pidIn = (file: string): number | undefined =>
  existsSync(file) ? Number.parseInt(readFileSync(file, "utf8"), 10) || undefined : undefined;
