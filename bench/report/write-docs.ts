/** `--docs`: stores the results in docs/performance.json. Page and charts are generated from it like all generated docs. */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { keptWith, type Kept } from "./page.ts";
import type { Report } from "./shown.ts";

/** Replaces the groups of this run, then runs `npm run docs`. `root` is the project's directory. */
export function writeDocs(root: string, report: Report): void {
  const file = join(root, "docs/performance.json");
  const kept = JSON.parse(readFileSync(file, "utf8")) as Kept;
  writeFileSync(file, `${JSON.stringify(keptWith(kept, report))}\n`);
  const format = join(root, "node_modules/oxfmt/bin/oxfmt");
  execFileSync(process.execPath, [format, file], { cwd: root, stdio: "ignore" });
  execFileSync(process.execPath, [join(root, "scripts/docs.ts")], { cwd: root, stdio: "inherit" });
}
