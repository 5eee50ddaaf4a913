/** Which parts of the program a process loads: it tells so itself, from before its first module. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "./postgres.ts";

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
      return new Set([...told.join("").matchAll(/\/src\/([\w-]+)\//g)].map(([, part]) => part!));
    },
  };
}
