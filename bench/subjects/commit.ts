/** An earlier commit to compare with: its tree in a temporary directory, with the packages of its own lock file. */
import { execFile, execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

export interface CommitTree {
  /** The abbreviated hash. */
  readonly commit: string;
  readonly root: string;
  remove(): void;
}

/**
 * Unpacks a commit of the repository at `root` and makes it runnable. If the lock files are the same, the packages are links to ours;
 * otherwise the commit's own set-up installs them.
 * @throws Error when there is no such commit, or its packages cannot be installed
 */
export async function unpackCommit(
  name: string,
  root: string,
  signal: AbortSignal,
): Promise<CommitTree> {
  const git = (...args: string[]): string =>
    execFileSync("git", args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  const commit = git("rev-parse", "--short", `${name}^{commit}`).trim();
  const tree = mkdtempSync(join(tmpdir(), `tollgate-bench-${commit}-`));
  const remove = (): void => rmSync(tree, { recursive: true, force: true });
  try {
    const archive = execFileSync("git", ["archive", commit], { cwd: root, maxBuffer: 2 ** 30 });
    execFileSync("tar", ["-x", "-C", tree], { input: archive });
    const lock = "package-lock.json";
    const isSame = readFileSync(join(root, lock)).equals(readFileSync(join(tree, lock)));
    if (isSame) await linkModules(root, tree);
    // Installs missing packages.
    await run(process.execPath, [join(tree, "scripts/setup.mjs")], { cwd: tree, signal });
    return { commit, root: tree, remove };
  } catch (error) {
    remove();
    throw error;
  }
}

/** Links or copies the packages: hard links if the file system allows them, otherwise copies. */
async function linkModules(root: string, tree: string): Promise<void> {
  const from = join(root, "node_modules");
  const to = join(tree, "node_modules");
  try {
    await run("cp", ["-al", from, to]);
  } catch {
    rmSync(to, { recursive: true, force: true });
    await run("cp", ["-a", from, to]);
  }
}
