#!/usr/bin/env node
// `npx tollgate <command>` of the published package: needs only Node, and runs the program that scripts/pack.mjs made from the
// source.
import module from "node:module";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { becomeProgram, isServe, heapFlags, stopWithNpx } from "../become-node.mjs";

const dist = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const main = join(dist, "program/main.js");
const args = process.argv.slice(2);
/** The first release with all required features: `zstd`, `execve`. Same as `engines` of the package. */
const [majorMin, minorMin] = [22, 15];

/** Caches Node's compiled code beside the sources if that folder is writable: the next start takes half the time. */
function keepCompiled() {
  const modules = resolve(dist, "../..");
  if (basename(modules) !== "node_modules") return;
  process.env.NODE_COMPILE_CACHE ??= join(modules, ".cache/tollgate");
  module.enableCompileCache();
}

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < majorMin || (major === majorMin && minor < minorMin)) {
  process.stderr.write(
    `tollgate: this is Node ${process.versions.node}; it needs ${majorMin}.${minorMin} or newer (https://nodejs.org).\n`,
  );
  process.exit(1);
}
keepCompiled();
const underNpx = stopWithNpx(isServe(args));
if (underNpx || !isServe(args)) {
  process.argv[1] = main;
  await import(pathToFileURL(main).href);
} else {
  becomeProgram(process.execPath, [...heapFlags, main, ...args]);
}
