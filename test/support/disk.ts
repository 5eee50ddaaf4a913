/** A disk of limited size, to be filled: a file system in memory, where the system lets us mount one. */
import { execFileSync } from "node:child_process";
import {
  closeSync,
  mkdtempSync,
  openSync,
  rmdirSync,
  rmSync,
  statfsSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Mounts an empty disk on a directory. @throws Error if the system does not let us */
export function mountDisk(directory: string, megabytes: number): void {
  const options = ["-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", directory];
  execFileSync("mount", options, { stdio: "ignore" });
}

/** Makes a mounted disk read-only, as the system does after a disk fault, or writable again. */
export function remountDisk(directory: string, how: "ro" | "rw"): void {
  execFileSync("mount", ["-o", `remount,${how}`, directory], { stdio: "ignore" });
}

/** Stops a mounted disk from taking more files. The function that it returns allows `free` more files. */
export function limitInodes(directory: string, free = 10_000): () => void {
  const limit = (inodes: number): void => {
    const options = ["-o", `remount,nr_inodes=${inodes}`, directory];
    execFileSync("mount", options, { stdio: "ignore" });
  };
  const { files, ffree } = statfsSync(directory);
  limit(files - ffree);
  return () => limit(files - ffree + free);
}

/** Unmounts the disk, even while a process holds files on it open. */
export function unmountDisk(directory: string): void {
  execFileSync("umount", ["--lazy", directory]);
}

function tryMount(): boolean {
  if (process.platform !== "linux") return false;
  const directory = mkdtempSync(join(tmpdir(), "tollgate-mount-"));
  try {
    mountDisk(directory, 1);
    unmountDisk(directory);
    return true;
  } catch {
    return false;
  } finally {
    rmdirSync(directory);
  }
}

/** True if disks can be mounted here: on Linux, as root with that right. */
export const canMount = tryMount();

/** Writes until not one more byte fits. The function that it returns makes room again. */
export function fillDisk(directory: string): () => void {
  const path = join(directory, "filler");
  const file = openSync(path, "w");
  for (const bytes of [1 << 20, 4_096, 1]) writeUntilFull(file, Buffer.alloc(bytes));
  closeSync(file);
  return () => rmSync(path);
}

function writeUntilFull(file: number, piece: Buffer): void {
  try {
    for (;;) writeSync(file, piece);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
  }
}
