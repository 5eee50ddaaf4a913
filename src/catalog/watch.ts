/** Hot reload of the configuration file while the gateway runs. docs/configuration.md. */
import { watch, type FSWatcher } from "node:fs";
import { basename, dirname } from "node:path";
import { readFile, stat } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { limitConcurrency } from "../base/concurrency-limit.ts";
import { fileText } from "../base/text.ts";
import { checkConfig, type Config, type ConfigOptions, type ConfigResult } from "./config.ts";
import type { Mistake } from "./mistakes.ts";

export interface WatchOptions extends ConfigOptions {
  /** The configuration in force when watching begins. */
  readonly initial: Config;
  /** Called once for each change that passes all checks. */
  readonly onChange: (config: Config) => void;
  /** Called once for each change with mistakes; the old configuration stays in force. */
  readonly onMistakes: (mistakes: readonly Mistake[]) => void;
  /** Milliseconds without changes before the file is read: editors write in steps. */
  readonly quietMs?: number | undefined;
  /** Milliseconds between checks of the file, in case the system reports no events. */
  readonly pollMs?: number | undefined;
}

export interface ConfigWatch {
  /** The configuration in force: the last one that passed all checks. */
  current(): Config;
  /**
   * Reads the file as soon as it is quiet, and uses these variables from then on. If there are mistakes, it keeps the old
   * configuration and variables, and returns the mistakes only to the caller.
   * @throws Error of the system if the file cannot be read
   */
  reread(environment: ConfigOptions["environment"]): Promise<ConfigResult>;
  close(): void;
}

/** Milliseconds after which a file that is still being written is read as it is. */
const settleMsMax = 2_000;

/** The text of a quiet file: the first half of a configuration may be valid, but lack models. */
async function settledText(path: string, quietMs: number): Promise<string> {
  const endMs = performance.now() + settleMsMax;
  let changedMs: number | undefined;
  for (;;) {
    const lookMs = Date.now();
    const before = await stat(path);
    // Reading a pipe or a device may never end, and would block all later reads.
    if (!before.isFile()) throw new Error("it is no file");
    const text = fileText(await readFile(path));
    const { mtimeMs } = await stat(path);
    // The age when the look began. If this process was busy since then, a write after the read would look old by now.
    const ageMs = lookMs - mtimeMs;
    // With another machine's clock the file may never look old enough, so an unchanged time since the last look counts as quiet too.
    const isQuiet = ageMs >= quietMs || mtimeMs === changedMs;
    // A quiet file was written longer ago than the steps in which file times advance, so a write since then has another time.
    if ((isQuiet && before.mtimeMs === mtimeMs) || performance.now() > endMs) return text;
    changedMs = mtimeMs;
    await sleep(Math.max(0, quietMs - Math.max(0, ageMs)));
  }
}

/** A slow command that writes into the file leaves it empty at first. Its models must not vanish meanwhile. */
const emptied = (file: string): Mistake => ({
  file,
  line: 1,
  column: 1,
  path: "",
  message: "is empty",
  fix: "write {} for a configuration that says nothing",
});

/** Watches the directory, not the file: editors and mounted volumes replace the file. */
function watchDirectory(path: string, onEvent: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(dirname(path), { persistent: false }, onEvent);
    // Polling continues without it, as on file systems without events.
    watcher.on("error", () => watcher.close());
    return watcher;
  } catch {
    return undefined;
  }
}

/**
 * Watches a configuration file. A file that is briefly absent, or wrong, changes nothing.
 * `close` ends it; nothing is called afterwards.
 */
export function watchConfig(path: string, options: WatchOptions): ConfigWatch {
  const { quietMs = 100, pollMs = 5_000 } = options;
  let current = options.initial;
  let { environment } = options;
  let { files } = current;
  let seen: string | undefined;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  const check = (text: string, variables: ConfigOptions["environment"]): ConfigResult => {
    const file = options.file ?? basename(path);
    const given = { folder: dirname(path), ...options, file, environment: variables };
    const result = checkConfig(text, given);
    seen = text;
    files = "mistakes" in result ? result.files : result.config.files;
    const isEmptied = text.trim() === "" && "config" in result;
    return isEmptied && result.config.digest !== current.digest
      ? { mistakes: [emptied(file)], files }
      : result;
  };

  const take = (config: Config): void => {
    if (config.digest === current.digest) return;
    current = config;
    options.onChange(config);
  };

  // One read at a time, so that an older text never replaces a newer one.
  const inTurn = limitConcurrency(1);

  const reload = async (): Promise<void> => {
    const text = await settledText(path, quietMs).catch(() => undefined);
    if (closed || text === undefined) return;
    if (text === seen && (files?.isCurrent() ?? true)) return;
    const result = check(text, environment);
    if ("mistakes" in result) options.onMistakes(result.mistakes);
    else take(result.config);
  };

  const schedule = (): void => {
    clearTimeout(timer);
    if (!closed) timer = setTimeout(() => void inTurn(reload), quietMs);
  };

  const watcher = watchDirectory(path, schedule);
  const poll = setInterval(() => void inTurn(reload), pollMs);
  poll.unref();
  // Catches a change between loading and watching.
  schedule();

  return {
    current: () => current,
    reread: (variables) =>
      inTurn(async () => {
        const result = check(await settledText(path, quietMs), variables);
        if ("mistakes" in result) return result;
        environment = variables;
        if (!closed) take(result.config);
        return result;
      }),
    close() {
      closed = true;
      clearTimeout(timer);
      clearInterval(poll);
      watcher?.close();
    },
  };
}
