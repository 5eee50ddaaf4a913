/** The previous release, named by test/upgrade/previous.json: its tree from the history, with this release's packages. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { renameInPlace, temporaryDirectory } from "../support/postgres.ts";

const root = resolve(import.meta.dirname, "../..");

export interface Previous {
  readonly commit: string;
  readonly why: string;
  /** Earlier commits, which the long form tests too. */
  readonly earlier: readonly string[];
  readonly earlierWhy: string;
  /** Commits that start on a schema that a later release has expanded. */
  readonly restart: readonly string[];
}

export const previous = JSON.parse(
  readFileSync(new URL("previous.json", import.meta.url), "utf8"),
) as Previous;

/** True if the commit is available: a package, an archive and a shallow clone have no history. */
export function isInHistory(commit: string): boolean {
  try {
    const args = ["cat-file", "-e", `${commit}^{commit}`];
    execFileSync("git", args, { cwd: root, stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** Unpacks a commit, or only these paths of it. Returns the folder. */
export function unpackTree(commit: string, ...paths: string[]): string {
  const tree = temporaryDirectory();
  const archive = execFileSync("git", ["archive", commit, ...paths], {
    cwd: root,
    maxBuffer: 2 ** 30,
  });
  execFileSync("tar", ["-x", "-C", tree], { input: archive });
  return tree;
}

/**
 * Unpacks a commit once per machine, user and checkout. Returns the file that starts its command line. In a fixed folder Node
 * finds its compile cache again: each start in a new folder took three seconds of processor time.
 */
export function unpack(commit: string): string {
  const mark = createHash("sha256").update(`${root} ${commit}`).digest("hex").slice(0, 12);
  const tree = join(tmpdir(), `tollgate-test-release-${mark}-${process.getuid?.() ?? 0}`);
  if (!existsSync(tree)) {
    const fresh = unpackTree(commit);
    symlinkSync(join(root, "node_modules"), join(fresh, "node_modules"));
    renameInPlace(fresh, tree);
  }
  return join(tree, "src/cli/main.ts");
}
