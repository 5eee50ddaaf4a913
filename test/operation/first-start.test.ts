/** The first minutes: how long a start takes, what it prints, and whether the printed commands work. docs/operate.md. */
import { execFile } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { parseKey } from "../../src/tenancy/key-format.ts";
import { serverProcesses } from "../support/embedded.ts";
import { shortOrLong } from "../support/long.ts";
import { tollgate } from "../support/process.ts";
import { chat, keyOf, start, useDirectory, type KeptProcess } from "./support.ts";

const directory = useDirectory();
/** The long form has the targets for a machine of usual speed. `npm test` runs on slow and busy machines, and finds only hangs. */
const firstMsMax = shortOrLong(60_000, 3_500);
const laterMsMax = shortOrLong(30_000, 1_200);
const idleBytesMax = 300e6;

/** The memory of a process in bytes (PSS): shared memory counts in proportion. */
function proportionalBytes(pid: number): number {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
  return Number(/^Pss:\s+(\d+) kB/m.exec(text)![1]) * 1024;
}

describe("the first start", () => {
  let dataDir: string;
  let first: KeptProcess;
  let answered: { stdout: string };
  let key: string;
  let attempt = 0;

  beforeAll(async () => {
    // Repeat if the machine was busy: the test measures the program.
    for (;;) {
      attempt += 1;
      dataDir = join(directory, `data-${attempt}`);
      first = await start({ TOLLGATE_DATA_DIR: dataDir, TOLLGATE_LOG_LEVEL: "warn" });
      if (first.startMs < firstMsMax || attempt === 2) break;
      await first.stop();
    }
    key = keyOf(first);
    const [line] = /^curl .*$/m.exec(first.banner)!;
    answered = await promisify(execFile)("/bin/sh", ["-c", `${line} --silent --include`]);
  });

  it("is ready within seconds", () => {
    expect(first.startMs).toBeLessThan(firstMsMax);
  });

  it.skipIf(process.platform !== "linux")(
    "idles in at most 300 MB, its database included",
    async () => {
      const bytes = (): number =>
        [first.child.pid!, ...serverProcesses(dataDir)]
          .map((pid) => proportionalBytes(pid))
          .reduce((sum, one) => sum + one, 0);
      // The memory for the start is released after a while.
      await expect.poll(bytes, { interval: 500 }).toBeLessThan(idleBytesMax);
    },
  );

  it("prints its address, the administrator, a key, its credit, and a call", () => {
    const { banner, url } = first;
    expect(banner).toMatch(/Tollgate is ready at http:\/\/127\.0\.0\.1:\d+ \(in \d+\.\d s\)/);
    expect(banner).toContain(`${url}/docs`);
    expect(banner).toContain(dataDir);
    expect(banner).toMatch(
      /Administrator\s+\S+@\S+, one-time password \S{12,} \(it works until you choose/,
    );
    expect(banner).toMatch(/API key\s+gw_live_\w{49}\n/);
    expect(banner).toMatch(/Credit\s+\$100; more with/);
    expect(banner).toMatch(/Models\s+sandbox\/chat, .* more \(http/);
    expect(parseKey(key)).toBeDefined();
  });

  it("prints a curl line that a shell runs with status 200", () => {
    expect(answered.stdout).toMatch(/^HTTP\/1\.1 200 /);
    const body = JSON.parse(/\r?\n\r?\n(\{.*)/s.exec(answered.stdout)![1]!) as {
      choices: { message: { content: string } }[];
    };
    expect(body.choices[0]?.message.content).toMatch(/\w/);
  });

  it("makes the master key and the data readable by its user only", () => {
    expect(statSync(dataDir).mode & 0o777).toBe(0o700);
    expect(statSync(join(dataDir, "master-key")).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(dataDir, "master-key"), "utf8")).toMatch(/^[\w+/=-]{44}\n$/);
  });

  it("the second start is ready at once, finds the key, and prints no secret", async () => {
    expect(await first.stop()).toBe(0);
    let second = await start({ TOLLGATE_DATA_DIR: dataDir, TOLLGATE_LOG_LEVEL: "warn" });
    if (second.startMs >= laterMsMax) {
      await second.stop();
      second = await start({ TOLLGATE_DATA_DIR: dataDir, TOLLGATE_LOG_LEVEL: "warn" });
    }
    expect(second.startMs).toBeLessThan(laterMsMax);
    expect(second.banner).not.toMatch(/gw_live_|password|Administrator/);
    expect(second.banner).toContain("tollgate keys create");
    expect(await chat(second.url, key, "sandbox/chat")).toBe("200 ok");
    expect(await second.stop()).toBe(0);
    expect(second.printed()).toBe("");
  });

  it("the stopped gateway's ledger has no difference", async () => {
    const verified = await tollgate(["verify"], { TOLLGATE_DATA_DIR: dataDir });
    expect(verified).toMatchObject({ code: 0, stdout: "no difference\n" });
  });
});
