/**
 * Tracks what a power failure would take from a directory: a new name until its directory is synced, and the bytes of a file
 * until the file is synced. It watches this process's own calls of `node:fs`.
 */
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { dirname, join, resolve } from "node:path";

export interface DiskModel {
  /** Names below the directory that are not on the disk yet, and files with bytes that are not; empty is safe. */
  readonly atRisk: () => string[];
  /** Stops watching. */
  readonly end: () => void;
}

type Call = (...values: unknown[]) => unknown;

/** Watches changes below `root` from now on. */
export function watchDisk(root: string): DiskModel {
  const names = new Set<string>();
  const contents = new Set<string>();
  const paths = new Map<number, string>();
  const restore: (() => void)[] = [];

  const isBelow = (path: string): boolean => path.startsWith(`${root}/`);
  const named = (path: string): void => void (isBelow(path) && names.add(path));
  const gone = (path: string): void => {
    names.delete(path);
    contents.delete(path);
  };
  const opened = (fd: number, path: string, flags: unknown): void => {
    paths.set(fd, path);
    if (typeof flags !== "string" || !/[wa]/.test(flags) || !isBelow(path)) return;
    named(path);
    contents.add(path);
  };
  const synced = (fd: number): void => {
    const path = paths.get(fd);
    if (path === undefined) return;
    contents.delete(path);
    for (const name of names) if (dirname(name) === path) names.delete(name);
  };
  const moved = (from: string, to: string, stays: boolean): void => {
    if (contents.has(from)) contents.add(to);
    if (!stays) gone(from);
    named(to);
  };
  /** Calls `after` after each call of a function, with the arguments and the result. */
  const watch = (
    place: object,
    name: string,
    after: (given: unknown[], result: unknown) => void,
  ) => {
    const real = Reflect.get(place, name) as Call;
    const watched: Call = (...given) => {
      const result = Reflect.apply(real, place, given);
      if (!(result instanceof Promise)) {
        after(given, result);
        return result;
      }
      return (result as Promise<unknown>).then((value) => {
        after(given, value);
        return value;
      });
    };
    Reflect.set(place, name, watched);
    restore.push(() => Reflect.set(place, name, real));
  };
  const at = (path: unknown): string => resolve(String(path));

  watch(fs, "openSync", ([path, flags], fd) => opened(Number(fd), at(path), flags));
  watch(fs, "fsyncSync", ([fd]) => synced(Number(fd)));
  watch(fs, "fsync", ([fd]) => synced(Number(fd)));
  watch(fs, "mkdirSync", ([path]) => named(at(path)));
  watch(fs, "renameSync", ([from, to]) => moved(at(from), at(to), false));
  watch(fs.promises, "rename", ([from, to]) => moved(at(from), at(to), false));
  watch(fs.promises, "link", ([from, to]) => moved(at(from), at(to), true));
  watch(fs.promises, "unlink", ([path]) => gone(at(path)));
  watch(fs.promises, "open", ([path, flags], handle) => {
    const { fd } = handle as fs.promises.FileHandle;
    opened(fd, at(path), flags);
    watch(handle as object, "sync", () => synced(fd));
  });
  syncBuiltinESMExports();
  return {
    atRisk: () =>
      [...new Set([...names, ...contents])]
        .map((path) => path.slice(join(root, "/").length))
        .sort(),
    end() {
      for (const one of restore.reverse()) one();
      syncBuiltinESMExports();
    },
  };
}
