/** Reports which parts of the program a process loads. The process records it itself, from before its first module. */
import { globSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { temporaryDirectory } from "./postgres.ts";
import { main } from "./program.ts";

/** The source files in each file of the bundled program. */
const together = JSON.parse(readFileSync(join(dirname(main), "parts.json"), "utf8")) as Readonly<
  Record<string, readonly string[]>
>;

/** A script that appends the URL of each loaded module to a file of the process. */
const tell = (folder: string): string => `
  import { appendFileSync } from "node:fs";
  import { registerHooks } from "node:module";
  const file = ${JSON.stringify(folder)} + "/" + process.pid;
  registerHooks({
    load(url, context, next) {
      appendFileSync(file, url + "\\n");
      return next(url, context);
    },
  });`;

/** The environment of a process that reports, and the reports so far, as names of folders of `src`. */
export function recordLoadedParts() {
  const folder = temporaryDirectory();
  const script = `data:text/javascript,${encodeURIComponent(tell(folder))}`;
  return {
    environment: { NODE_OPTIONS: `--import=${script}` },
    /** The parts that one process has loaded, or all of them. */
    parts(pid: number | "*" = "*"): Set<string> {
      const told = globSync(join(folder, String(pid))).map((file) => readFileSync(file, "utf8"));
      const files = told.flatMap((text) => text.trim().split("\n"));
      const sources = files.flatMap((url) => together[basename(url)] ?? []);
      return new Set(sources.flatMap((path) => /^src\/([\w-]+)\//.exec(path)?.[1] ?? []));
    },
  };
}
