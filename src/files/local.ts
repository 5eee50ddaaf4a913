/**
 * Files in a local directory. A file is written under another name in the same directory, synced and renamed, so that a name always leads
 * to a whole file. The next start removes half-written files after a crash. Requirements: STORE.
 */
import { randomBytes } from "node:crypto";
import {
  access,
  constants,
  open,
  readdir,
  rename,
  rm,
  stat,
  statfs,
  type FileHandle,
} from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { makeDirectory } from "../base/data-directory.ts";
import { dayMs } from "../base/durations.ts";
import { isAlive, pidNamespace } from "../base/process-alive.ts";
import { syncDirectory } from "../base/sync-directory.ts";
import { checkFileName, countBytes, type FileSource, type FileStore } from "./store.ts";

/** Begins the names of half-written files; no file's own name begins with a dot. */
const partPrefix = ".part-";
/** Distinguishes this process from an earlier one with the same number. */
const instance = randomBytes(6).toString("hex");
const host = hostname().replaceAll(/[^a-z0-9]/gi, "");
/** Age at which a half-written file of another container with this host name is removed: a write in flight touches it more often. */
const samePlacePartMsMax = 10 * 60_000;
/** The same for another host, whose clock may differ. */
const foreignPartMsMax = dayMs;

/** Opens the directory, creates it if missing, and removes half-written files of earlier processes. */
export async function openLocalFiles(directory: string): Promise<FileStore> {
  makeDirectory(directory, 0o700);
  await removeLeftovers(directory);
  const place = (name: string): string => {
    checkFileName(name);
    return join(directory, name);
  };
  return {
    heldBytes: 0,
    async put(name, source, { bytesMax }) {
      const path = place(name);
      const part = join(directory, partName());
      try {
        const bytes = await writeSynced(part, source, bytesMax);
        await rename(part, path);
        await syncDirectory(directory);
        return { bytes };
      } catch (error) {
        await rm(part, { force: true });
        throw error;
      }
    },
    async open(name, range) {
      const handle = await openIfThere(place(name));
      if (handle === undefined) return undefined;
      try {
        const { size } = await handle.stat();
        const start = range?.start ?? 0;
        const end = Math.min(range?.end ?? size, size - 1);
        if (range !== undefined && start > end)
          throw new RangeError(`byte ${start} of ${size} is asked for`);
        const bytes = end - start + 1;
        // With `end` below `start` the stream would read the whole file.
        const stream =
          bytes > 0 ? handle.createReadStream({ start, end }) : handle.createReadStream();
        return { stream, bytes };
      } catch (error) {
        await handle.close();
        throw error;
      }
    },
    async size(name) {
      // An unreadable file throws, as in `open`.
      const handle = await openIfThere(place(name));
      try {
        return (await handle?.stat())?.size;
      } finally {
        await handle?.close();
      }
    },
    remove: (name) => rm(place(name), { force: true }),
    look: () => checkPlace(directory),
    close: () => Promise.resolve(),
  };
}

/** @throws Error of the system where the directory cannot be written, or its disk is full */
async function checkPlace(directory: string): Promise<void> {
  await access(directory, constants.W_OK | constants.X_OK);
  const { bavail, files, ffree } = await statfs(directory);
  const isFull = bavail === 0 || (files > 0 && ffree === 0);
  if (isFull) throw Object.assign(new Error("no space left on device"), { code: "ENOSPC" });
}

async function writeSynced(path: string, source: FileSource, bytesMax: number): Promise<number> {
  let bytes = 0;
  const handle = await open(path, "wx", 0o600);
  try {
    await handle.writeFile(countBytes(source, bytesMax, (count) => (bytes = count)));
    await handle.sync();
  } finally {
    await handle.close();
  }
  return bytes;
}

async function openIfThere(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, "r");
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

const isMissing = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "ENOENT";

const partName = (): string =>
  `${partPrefix}${host}-${process.pid}-${instance}-${randomBytes(8).toString("hex")}-${pidNamespace}`;

async function removeLeftovers(directory: string): Promise<void> {
  const names = await readdir(directory);
  const parts = names.filter((name) => name.startsWith(partPrefix));
  for (const name of parts) {
    const path = join(directory, name);
    if (await isLeftover(name, path)) await rm(path, { force: true });
  }
}

/** Several gateways may share a directory: only a file that no process still writes is a leftover. */
async function isLeftover(name: string, path: string): Promise<boolean> {
  const [owner, pid, ownerInstance, , namespace] = name.slice(partPrefix.length).split("-");
  const isSameHost = owner === host;
  if (isSameHost && namespace === pidNamespace && ownerInstance !== instance)
    return Number(pid) === process.pid || !isAlive(Number(pid));
  try {
    const quietMs = Date.now() - (await stat(path)).mtimeMs;
    return quietMs > (isSameHost ? samePlacePartMsMax : foreignPartMsMax);
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}
