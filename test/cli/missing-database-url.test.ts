/** A command without the DATABASE_URL of the gateway that runs on the data directory: it does not use another database. */
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, it } from "vitest";
import { announceAddress, gatewayOnServerPid, possibleAddresses } from "../../src/cli/address.ts";
import { readEnvironment } from "../../src/cli/environment.ts";
import { tollgateHere } from "../support/command.ts";
import { temporaryDirectory } from "../support/postgres.ts";

const dataDir = temporaryDirectory();
/** Outside the sources, where a backup that is not refused would stay. */
const backupFile = join(temporaryDirectory(), "new.backup");
const environment = { TOLLGATE_DATA_DIR: dataDir };
const server = { ...environment, DATABASE_URL: "postgres://root:hunter2@127.0.0.1:1/books" };
const refusalPattern = new RegExp(
  `process ${process.pid}\\) uses a server, and DATABASE_URL is not set here`,
);

it.each(["verify", "migrate", "backup NEW", "restore FILE", "keys list", "credits show"])(
  "%s without the running gateway's DATABASE_URL is refused, and creates no database",
  async (words) => {
    // Otherwise the command would create this directory's embedded database, or use one from before a move.
    const leave = announceAddress(readEnvironment(server), "http://127.0.0.1:1");
    const refused = await tollgateHere(
      words
        .replace("FILE", import.meta.filename)
        .replace("NEW", backupFile)
        .split(" "),
      environment,
    );
    expect(refused).toMatchObject({ code: 2, stdout: "" });
    expect(refused.stderr).toMatch(refusalPattern);
    const unreachable = await tollgateHere(["verify"], server);
    expect(unreachable.stderr).toContain("the database 127.0.0.1:1/books of DATABASE_URL");
    leave();
    expect(readdirSync(dataDir)).toEqual([]);
  },
);

it("doctor reports the missing DATABASE_URL; without a running gateway it says that there is no database yet", async () => {
  const leave = announceAddress(readEnvironment(server), "http://127.0.0.1:1");
  const beside = await tollgateHere(["doctor"], environment);
  expect(beside.code).toBe(1);
  expect(beside.stdout).toMatch(refusalPattern);
  leave();
  const alone = await tollgateHere(["doctor"], environment);
  expect(alone.stdout).toContain("database: none yet: the first start makes it");
});

it("commands send the admin token to no address whose gateway has ended", async () => {
  const asked: (string | undefined)[] = [];
  const stranger = createServer(({ headers }, answer) => {
    asked.push(headers.authorization);
    answer.end("{}");
  }).listen(0, "127.0.0.1");
  await once(stranger, "listening");
  const { port } = stranger.address() as AddressInfo;
  const place = temporaryDirectory();
  const variables = { TOLLGATE_DATA_DIR: place, TOLLGATE_ADMIN_TOKEN: "of-the-operator" };
  // A gateway that was killed leaves its file; PORT is the one that it had.
  announceAddress(readEnvironment(variables), `http://127.0.0.1:${port}`, 1e9);
  const file = join(place, "address.json");
  const left = JSON.parse(readFileSync(file, "utf8")) as object;
  writeFileSync(file, JSON.stringify({ ...left, pid: spawnSync("true").pid }));
  const command = await tollgateHere(["models", "gpt"], { ...variables, PORT: String(port) });
  stranger.close();
  expect(command.code).toBe(0);
  expect(asked).toEqual([]);
});

it("a gateway that still runs is found again after another one of its directory has ended or was killed", async () => {
  const place = temporaryDirectory();
  const of = (databaseUrl?: string) =>
    readEnvironment({
      TOLLGATE_DATA_DIR: place,
      ...(databaseUrl && { DATABASE_URL: databaseUrl }),
    });
  const leaveFirst = announceAddress(of(server.DATABASE_URL), "http://127.0.0.1:1", 5);
  const leaveSecond = announceAddress(of(server.DATABASE_URL), "http://127.0.0.1:2");
  expect(possibleAddresses(of(server.DATABASE_URL))).toEqual(["http://127.0.0.1:2"]);
  leaveSecond();
  await expect.poll(() => gatewayOnServerPid(of())).toBe(process.pid);
  expect(possibleAddresses(of(server.DATABASE_URL))).toEqual(["http://127.0.0.1:1"]);
  const killed = { url: "http://127.0.0.1:3", pid: spawnSync("true").pid, database: "other" };
  writeFileSync(join(place, "address.json"), JSON.stringify(killed));
  await expect.poll(() => gatewayOnServerPid(of())).toBe(process.pid);
  leaveFirst();
  expect(readdirSync(place)).toEqual([]);
});
