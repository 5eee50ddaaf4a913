/** Which parts of the program a process loads: it tells so itself, from before its first module. */
import { globSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { temporaryDirectory } from "./postgres.ts";
import { main } from "./program.ts";

/** The sources in each file of the program that was put together. */
const together = JSON.parse(readFileSync(join(dirname(main), "parts.json"), "utf8")) as Readonly<
  Record<string, readonly string[]>
>;

/** Writes the address of each module into a file of the process. */
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

/** The variables of a process that tells, and what it and its like have told: names of folders of `src`. */
export function tellingParts() {
  const folder = temporaryDirectory();
  const script = `data:text/javascript,${encodeURIComponent(tell(folder))}`;
  return {
    environment: { NODE_OPTIONS: `--import=${script}` },
    /** Of one process, or of all there were. */
    parts(pid: number | "*" = "*"): Set<string> {
      const told = globSync(join(folder, String(pid))).map((file) => readFileSync(file, "utf8"));
      const files = told.flatMap((text) => text.trim().split("\n"));
      const sources = files.flatMap((url) => together[basename(url)] ?? []);
      return new Set(sources.flatMap((path) => /^src\/([\w-]+)\//.exec(path)?.[1] ?? []));
    },
  };
}
