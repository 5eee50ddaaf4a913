/** The release before this one, as test/upgrade/previous.json names it: its tree out of the history, on the packages of this one. */
import { execFileSync } from "node:child_process";
import { readFileSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import { temporaryDirectory } from "../support/postgres.ts";

const root = resolve(import.meta.dirname, "../..");

export interface Previous {
  readonly commit: string;
  /** Whether it starts on a schema that a later version has expanded. */
  readonly restarts: boolean;
  readonly why: string;
}

export const previous = JSON.parse(
  readFileSync(new URL("previous.json", import.meta.url), "utf8"),
) as Previous;

/** Whether its commit is there: a package, an archive and a shallow clone have no history. */
export function hasHistory(): boolean {
  try {
    const args = ["cat-file", "-e", `${previous.commit}^{commit}`];
    execFileSync("git", args, { cwd: root, stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** Unpacks it; returns the file that starts its command line. */
export function unpackPrevious(): string {
  const tree = temporaryDirectory();
  const archive = execFileSync("git", ["archive", previous.commit], {
    cwd: root,
    maxBuffer: 2 ** 30,
  });
  execFileSync("tar", ["-x", "-C", tree], { input: archive });
  symlinkSync(join(root, "node_modules"), join(tree, "node_modules"));
  return join(tree, "src/cli/main.ts");
}
