/**
 * A lock for set-up work: two commands started at once in a fresh clone must not install or build over each other. The lock is a file
 * that contains its holder's process id. Plain JavaScript for Node 20: this runs before anything is installed.
 */
import { createHash } from "node:crypto";
import { closeSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

export const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
export const hash = (text) => createHash("sha256").update(text).digest("hex");
export const say = (text) => process.stderr.write(`setup: ${text}\n`);

/** An expected reason to stop; it is printed without a stack trace. */
export class SetupError extends Error {}

const alive = (pid) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
};

/**
 * A process writes its id into its lock at once. A lock still empty after this many ms was left by a process that was killed, or
 * found the disk full.
 */
const emptyLockMsMax = 5_000;
const noticeAfterMs = 3_000;

/** @returns whether this process took the lock */
function takeLock(lock) {
  let file;
  try {
    file = openSync(lock, "wx");
    writeFileSync(file, String(process.pid));
    return true;
  } catch (error) {
    if (error.code === "EEXIST") return false;
    // An empty lock would block all other processes.
    if (file !== undefined) rmSync(lock, { force: true });
    throw new SetupError(`the file ${lock} could not be written (${error.code})`);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** The process id of the lock's holder. `isStale`: the holder no longer runs. */
function holderOf(lock) {
  try {
    const holder = Number(readFileSync(lock, "utf8"));
    if (holder > 0) return { holder, isStale: !alive(holder) };
    return { holder, isStale: Date.now() - statSync(lock).mtimeMs > emptyLockMsMax };
  } catch {
    return { holder: 0, isStale: false };
  }
}

function removeLock(lock) {
  try {
    rmSync(lock, { force: true });
  } catch (error) {
    throw new SetupError(`the file ${lock} is left of another user: remove it (${error.code})`);
  }
}

/** Runs `work` while no other process runs such work in this checkout; the second one waits. @throws SetupError */
export async function withLock(work) {
  const lock = join(tmpdir(), `tollgate-setup-${hash(root).slice(0, 16)}`);
  const beganMs = Date.now();
  let isReported = false;
  while (!takeLock(lock)) {
    await sleep(200);
    const { holder, isStale } = holderOf(lock);
    if (isStale) removeLock(lock);
    else if (!isReported && holder > 0 && Date.now() - beganMs > noticeAfterMs) {
      isReported = true;
      say(`waiting for process ${holder}, which does the same; where it does not, remove ${lock}`);
    }
  }
  try {
    await work();
  } finally {
    rmSync(lock, { force: true });
  }
}
