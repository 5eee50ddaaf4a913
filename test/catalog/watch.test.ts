import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  formatMistakes,
  loadConfig,
  watchConfig,
  type Config,
  type ConfigWatch,
} from "../../src/catalog/index.ts";
import { patiently } from "../support/patience.ts";

const environment = {};
const withGlobal = (count: number) => `limits: { queue: { global: ${count} } }\n`;

let directory: string;
let path: string;
let watching: ConfigWatch | undefined;
let reported: string[];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "tollgate-watch-"));
  path = join(directory, "tollgate.yaml");
  reported = [];
});
afterEach(() => {
  watching?.close();
  watching = undefined;
  rmSync(directory, { recursive: true, force: true });
});

async function load(): Promise<Config> {
  const result = await loadConfig(path, { environment });
  if ("mistakes" in result) throw new Error(formatMistakes(result.mistakes));
  return result.config;
}

async function start(text: string, pollMs = 60_000, quietMs = 20): Promise<ConfigWatch> {
  writeFileSync(path, text);
  watching = watchConfig(path, {
    environment,
    initial: await load(),
    quietMs,
    pollMs,
    onChange: (config) => reported.push(`global ${config.settings.limits.queue.global}`),
    onMistakes: (mistakes) => reported.push(formatMistakes(mistakes)),
  });
  return watching;
}

const until = (check: () => void) => vi.waitFor(check, patiently);
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe("watchConfig", () => {
  it("applies a file written in place, and reports it once", async () => {
    const watch = await start(withGlobal(1));
    writeFileSync(path, withGlobal(2));
    await until(() => expect(watch.current().settings.limits.queue.global).toBe(2));
    await pause(100);
    expect(reported).toEqual(["global 2"]);
  });

  it("reads a file that is replaced by renaming, and the next one too", async () => {
    const watch = await start(withGlobal(1));
    for (const count of [3, 4]) {
      writeFileSync(`${path}.tmp`, withGlobal(count));
      renameSync(`${path}.tmp`, path);
      await until(() => expect(watch.current().settings.limits.queue.global).toBe(count));
    }
    expect(reported).toEqual(["global 3", "global 4"]);
  });

  it("reports endless aliases, or aliases of millions of values, as a mistake, and takes the corrected file", async () => {
    const nested = Array.from(
      "bcdefg",
      (name, at) => `${name}: &${name} [${`*${"abcdef"[at]},`.repeat(9)}]`,
    );
    const wrong = ["models: &a [*a]", ["a: &a [x,x,x]", ...nested, "models: *g"].join("\n")];
    const watch = await start(withGlobal(1));
    for (const [at, text] of wrong.entries()) {
      writeFileSync(path, `${text}\n`);
      await until(() => expect(reported).toHaveLength(at + 1));
    }
    expect(await watch.reread(environment)).toHaveProperty("mistakes");
    expect(reported[0]).toContain("tollgate.yaml:1:1 cannot be read: it has no end");
    expect(reported[1]).toContain("tollgate.yaml:1:1 cannot be read: Excessive alias count");
    writeFileSync(path, withGlobal(3));
    await until(() => expect(reported.slice(2)).toEqual(["global 3"]));
  });

  it("reads later files after a pipe stood at the path", async () => {
    const watch = await start(withGlobal(1));
    rmSync(path);
    execFileSync("mkfifo", [path]);
    await expect(watch.reread(environment)).rejects.toThrow("it is no file");
    rmSync(path);
    writeFileSync(path, withGlobal(4));
    await until(() => expect(watch.current().settings.limits.queue.global).toBe(4));
  });

  it("reports a wrong file once and keeps the old configuration, until the file is corrected", async () => {
    const watch = await start(withGlobal(1));
    writeFileSync(path, withGlobal(-5));
    await until(() => expect(reported).toHaveLength(1));
    expect(reported[0]).toBe(
      "tollgate.yaml:1:28 limits.queue.global: must be at least 1; tasks in flight; 1000 if absent",
    );
    expect(watch.current().settings.limits.queue.global).toBe(1);
    writeFileSync(path, withGlobal(6));
    await until(() => expect(watch.current().settings.limits.queue.global).toBe(6));
    expect(reported).toHaveLength(2);
  });

  it("reports a wrong file once, even if it polls often", async () => {
    await start(withGlobal(1), 20);
    writeFileSync(path, withGlobal(-5));
    await until(() => expect(reported).toHaveLength(1));
    await pause(200);
    expect(reported).toHaveLength(1);
  });

  it("keeps the configuration while the file is absent", async () => {
    const watch = await start(withGlobal(1));
    rmSync(path);
    await pause(150);
    expect(reported).toEqual([]);
    expect(watch.current().settings.limits.queue.global).toBe(1);
    writeFileSync(path, withGlobal(7));
    await until(() => expect(reported).toEqual(["global 7"]));
  });

  it("keeps the configuration while the file is empty, as when a slow command writes it", async () => {
    const watch = await start(withGlobal(1));
    // The state that `sops -d config.enc.yaml > tollgate.yaml` leaves until it writes its first byte.
    writeFileSync(path, "");
    const emptied = "tollgate.yaml:1:1 is empty; write {} for a configuration that says nothing";
    await until(() => expect(reported).toEqual([emptied]));
    expect(watch.current().settings.limits.queue.global).toBe(1);
    expect(await watch.reread(environment)).toHaveProperty("mistakes");
    writeFileSync(path, withGlobal(1));
    expect(await watch.reread(environment)).toHaveProperty("config");
    expect(reported).toEqual([emptied]);
    writeFileSync(path, "{}\n");
    await until(() => expect(reported).toEqual([emptied, "global 1000"]));
  });

  it("accepts a file that was empty from the start", async () => {
    const watch = await start("\n");
    expect(await watch.reread(environment)).toHaveProperty("config");
    writeFileSync(path, withGlobal(2));
    await until(() => expect(watch.current().settings.limits.queue.global).toBe(2));
    expect(reported).toEqual(["global 2"]);
  });

  it("notices a change made between loading and watching", async () => {
    writeFileSync(path, withGlobal(1));
    const initial = await load();
    writeFileSync(path, withGlobal(8));
    watching = watchConfig(path, {
      environment,
      initial,
      onChange: (config) => reported.push(`global ${config.settings.limits.queue.global}`),
      onMistakes: () => reported.push("mistakes"),
    });
    await until(() => expect(reported).toEqual(["global 8"]));
  });

  it("finds a change by polling if the system reports none", async () => {
    // A directory that does not exist yet cannot be watched.
    writeFileSync(path, withGlobal(1));
    const initial = await load();
    const later = join(directory, "later", "tollgate.yaml");
    watching = watchConfig(later, {
      environment,
      initial,
      pollMs: 30,
      onChange: (config) => reported.push(`global ${config.settings.limits.queue.global}`),
      onMistakes: () => reported.push("mistakes"),
    });
    renameSync(path, join(directory, "moved.yaml"));
    mkdirSync(join(directory, "later"));
    writeFileSync(later, withGlobal(9));
    await until(() => expect(reported).toEqual(["global 9"]));
  });

  it("reads a file that is being written only when it is complete, for rereads on request too", async () => {
    const watch = await start(withGlobal(1), 60_000, 1_500);
    // Half of the file is a valid configuration, so the content does not show that it is incomplete.
    writeFileSync(path, "");
    const reading = [watch.reread(environment), watch.reread(environment)];
    expect(await readFile(path, "utf8")).toBe("");
    writeFileSync(path, withGlobal(5));
    for (const result of await Promise.all(reading))
      expect(result).toMatchObject({ config: { settings: { limits: { queue: { global: 5 } } } } });
    await until(() => expect(reported).toEqual(["global 5"]));
  });

  it.each([
    ["later", false],
    // The system's file times advance in steps of up to 10 ms.
    ["within the same step of the file's time", true],
  ])(
    "reads a file again that was written %s while a busy process read it",
    async (_when, isSame) => {
      await start(withGlobal(1));
      const config = await load();
      // A directory that does not exist yet is not watched, so that only the rereads read the file.
      path = join(directory, "later", "tollgate.yaml");
      watching?.close();
      const ignore = (): void => undefined;
      const own = { onChange: ignore, onMistakes: ignore };
      const quietMs = 20;
      watching = watchConfig(path, { environment, initial: config, quietMs, ...own });
      mkdirSync(join(directory, "later"));
      const write = (text: string, time: Date): void => {
        writeFileSync(path, text);
        if (isSame) utimesSync(path, time, time);
      };
      // The process stalls at any point of the reading, for longer than a file must be quiet.
      let afterMs = 0;
      while (afterMs < 0.5) {
        const time = new Date();
        write("", time);
        const reading = watching.reread(environment);
        for (const untilMs = performance.now() + afterMs; performance.now() < untilMs;)
          await new Promise(setImmediate);
        write(withGlobal(7), time);
        const isHeldUp = Date.now() - time.getTime() >= quietMs;
        for (const untilMs = performance.now() + 30; performance.now() < untilMs;);
        const result = await reading;
        // On a busy machine the empty file may have been quiet before the second write.
        if (isHeldUp) continue;
        expect(result).toMatchObject({
          config: { settings: { limits: { queue: { global: 7 } } } },
        });
        afterMs += 0.025;
      }
    },
  );

  it("waits for the whole file even if the file's time is ahead of this clock", async () => {
    const watch = await start(withGlobal(1), 60_000, 1_500);
    const ahead = new Date(Date.now() + 3_600_000);
    writeFileSync(path, "");
    utimesSync(path, ahead, ahead);
    const reading = watch.reread(environment);
    // Longer than it takes to read the half.
    for (let count = 0; count < 20; count += 1) expect(await readFile(path, "utf8")).toBe("");
    writeFileSync(path, withGlobal(6));
    utimesSync(path, ahead, new Date(ahead.getTime() + 1_000));
    expect(await reading).toMatchObject({
      config: { settings: { limits: { queue: { global: 6 } } } },
    });
  });

  it("reads a file that is rewritten endlessly", async () => {
    const watch = await start(withGlobal(1), 60_000, 300);
    let count = 1;
    // In one step, since a reader could find nothing between emptying a file and writing it.
    const replace = (): void => {
      writeFileSync(`${path}.new`, withGlobal((count += 1)));
      renameSync(`${path}.new`, path);
    };
    const writing = setInterval(replace, 20);
    try {
      expect(await watch.reread(environment)).toHaveProperty("config");
      expect(watch.current().settings.limits.queue.global).toBeGreaterThan(1);
    } finally {
      clearInterval(writing);
    }
  });

  it("reports nothing after close", async () => {
    const watch = await start(withGlobal(1), 20);
    watch.close();
    writeFileSync(path, withGlobal(2));
    await pause(150);
    expect(reported).toEqual([]);
  });
});

it("a file with a list that contains itself is a mistake with that explanation", async () => {
  writeFileSync(path, "models: &a [*a]\n");
  const result = await loadConfig(path, { environment });
  const said = "an alias such as *name stands within what &name marks";
  expect(result).toMatchObject({ mistakes: [{ message: expect.stringContaining(said) }] });
});

it("a file that cannot be read is a mistake", async () => {
  const result = await loadConfig(join(directory, "absent.yaml"), { environment });
  expect(result).toMatchObject({
    mistakes: [{ file: "absent.yaml", message: expect.stringContaining("ENOENT") }],
  });
});
