/** Hot reload: a configuration file that changes under a running gateway. docs/configuration.md. */
import { watch, type FSWatcher } from "node:fs";
import { basename, dirname } from "node:path";
import { readFile, stat } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { inTurns } from "../base/in-turn.ts";
import { fileText } from "../base/text.ts";
import { checkConfig, type Config, type ConfigOptions, type ConfigResult } from "./config.ts";
import type { Mistake } from "./mistakes.ts";

export interface WatchOptions extends ConfigOptions {
  /** What is in force when watching begins. */
  readonly initial: Config;
  /** Called once for each change that passes every check. */
  readonly onChange: (config: Config) => void;
  /** Called once for each change that does not; the old configuration stays in force. */
  readonly onMistakes: (mistakes: readonly Mistake[]) => void;
  /** How long the file must be quiet before it is read: editors write in steps. */
  readonly quietMs?: number | undefined;
  /** How often the file is looked at where the system tells of no change. */
  readonly pollMs?: number | undefined;
}

export interface ConfigWatch {
  /** The configuration in force: the last one that passed every check. */
  current(): Config;
  /**
   * Reads the file as soon as it is quiet, with these variables from here on. Mistakes change nothing, and only the caller hears of them.
   * @throws Error of the system where it cannot be read
   */
  reread(environment: ConfigOptions["environment"]): Promise<ConfigResult>;
  close(): void;
}

/** A file that somebody writes for longer is read as it is. */
const settleMsMax = 2_000;

/** The text of a file that is quiet: the half of a configuration may be a right one, with half of the models. */
async function settledText(path: string, quietMs: number): Promise<string> {
  const endMs = performance.now() + settleMsMax;
  let changedMs: number | undefined;
  for (;;) {
    const before = await stat(path);
    // Reading a pipe or a device may never end, and would keep every later reading waiting.
    if (!before.isFile()) throw new Error("it is no file");
    const text = fileText(await readFile(path));
    const { mtimeMs } = await stat(path);
    const ageMs = Date.now() - mtimeMs;
    // Written by another machine's clock, it never gets old: that it did not change for as long says the same.
    const isQuiet = ageMs >= quietMs || mtimeMs === changedMs;
    // What was written after the reading may be quiet by now, where this process was busy.
    if ((isQuiet && before.mtimeMs === mtimeMs) || performance.now() > endMs) return text;
    changedMs = mtimeMs;
    await sleep(Math.max(0, quietMs - Math.max(0, ageMs)));
  }
}

/** A command that writes into the file, and is slow to begin, leaves it empty: its models must not be gone meanwhile. */
const emptied = (file: string): Mistake => ({
  file,
  line: 1,
  column: 1,
  path: "",
  message: "is empty",
  fix: "write {} for a configuration that says nothing",
});

/** The directory is watched, not the file: editors and mounted volumes replace the file by another. */
function watchDirectory(path: string, onEvent: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(dirname(path), { persistent: false }, onEvent);
    // Polling goes on without it, as on file systems that tell nothing.
    watcher.on("error", () => watcher.close());
    return watcher;
  } catch {
    return undefined;
  }
}

/**
 * Watches a configuration file. A file that is absent for a moment, or wrong, changes nothing.
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

  // A text that was read before another is not to be in force after it.
  const inTurn = inTurns(1);

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
  // A change between loading and watching would otherwise wait for the next one.
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
