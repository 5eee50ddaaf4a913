/** The embedded database's messages that reach the gateway's log. docs/operate.md "Access log". */
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { chownSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import { createLogThrottle } from "../../src/base/log-throttle.ts";
import { keepServerLog } from "../../src/embedded/server-log.ts";
import { silentLog, temporaryDirectory } from "../support/postgres.ts";

it("a repeated error, as on a full disk, is logged once, without its own timestamp", async () => {
  const repeats = createLogThrottle(() => 0);
  const lines: object[] = [];
  const log = {
    ...silentLog,
    error: (fields: object, message: string) => {
      const written = repeats(fields, message);
      if (written !== undefined) lines.push(written);
    },
  };
  const stream = new PassThrough();
  const lastLines = keepServerLog(stream, join(temporaryDirectory(), "server.log"), log);
  for (let second = 10; second < 60; second += 1)
    stream.write(
      `2026-11-29 17:15:${second}.051 UTC [207${second}] FATAL:  could not write init file: No space left on device\n`,
    );
  stream.end();
  await once(stream, "end");
  await expect.poll(lastLines).toContain("17:15:59.051 UTC [20759] FATAL");
  expect(lines).toEqual([
    { database: "FATAL:  could not write init file: No space left on device" },
  ]);
});

it("messages of the server's own processes about an ordinary stop are not errors", async () => {
  const lines: object[] = [];
  const log = { ...silentLog, error: (fields: object) => void lines.push(fields) };
  const stream = new PassThrough();
  keepServerLog(stream, join(temporaryDirectory(), "server.log"), log);
  const time = "2026-11-29 19:16:22.252 UTC [315]";
  stream.end(`${time} FATAL:  terminating autovacuum process due to administrator command\n`);
  await once(stream, "end");
  expect(lines).toEqual([]);
});

it("connections that are refused during a recovery are not errors, and do not hide why the start failed", async () => {
  const said: object[] = [];
  const log = { ...silentLog, error: (fields: object) => void said.push(fields) };
  const stream = new PassThrough();
  const lastLines = keepServerLog(stream, join(temporaryDirectory(), "server.log"), log);
  const time = "2026-11-30 15:23:57.906 UTC [220]";
  stream.write(`${time} PANIC:  could not write to file "pg_wal/xlogtemp.9"\n`);
  for (const state of ["starting up", "not yet accepting connections", "in recovery mode"])
    for (let count = 0; count < 10; count += 1)
      stream.write(`${time} FATAL:  the database system is ${state}\n`);
  stream.end();
  await once(stream, "end");
  const cause = 'PANIC:  could not write to file "pg_wal/xlogtemp.9"';
  expect(said).toEqual([{ database: cause }]);
  expect(lastLines()).toBe(`${time} ${cause}`);
});

it.skipIf(process.getuid?.() !== 0)(
  "a file that a command under root begins belongs to the gateway's user, as the one before",
  async () => {
    const file = join(temporaryDirectory(), "server.log");
    writeFileSync(file, "x".repeat(1_000_001));
    chownSync(file, 4_242, 4_343);
    const stream = new PassThrough();
    keepServerLog(stream, file, silentLog);
    stream.end("the first line of the next file\n");
    await expect.poll(() => statSync(file).size).toBeLessThan(100);
    expect(statSync(`${file}.1`)).toMatchObject({ uid: 4_242, gid: 4_343 });
    expect(statSync(file)).toMatchObject({ uid: 4_242, gid: 4_343 });
  },
);

it.skipIf(process.getuid?.() !== 0)(
  "a gateway whose group has changed keeps the messages, and the file before",
  () => {
    const directory = temporaryDirectory();
    const file = join(directory, "server.log");
    const full = "x".repeat(1_000_001);
    writeFileSync(file, full);
    chownSync(file, 4_242, 4_343);
    chownSync(directory, 4_242, 4_242);
    const code = `
      import { PassThrough } from "node:stream";
      import { keepServerLog } from ${JSON.stringify(join(import.meta.dirname, "../../src/embedded/server-log.ts"))};
      process.setgroups([]);
      process.setgid(4_242);
      process.setuid(4_242);
      const stream = new PassThrough();
      const silent = () => undefined;
      keepServerLog(stream, ${JSON.stringify(file)}, { debug: silent, info: silent, warn: silent, error: silent });
      stream.end("one\\ntwo\\n");`;
    const options = ["--input-type=module-typescript", "--eval", code];
    const { status, stderr } = spawnSync(process.execPath, options);
    expect({ status, stderr: String(stderr) }).toMatchObject({ status: 0 });
    expect(readFileSync(file, "utf8")).toBe("one\ntwo\n");
    expect(readFileSync(`${file}.1`, "utf8").length).toBe(full.length);
  },
);
