/**
 * Bundles the program: the files of `src` and `sandbox`, which a start would load one by one, become a few JavaScript files. That
 * takes half the time. The code is the same, and packages stay separate. Plain JavaScript for Node 20: a fresh clone starts with it.
 * docs/architecture.md "Decisions worth knowing".
 */
import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { withLock, hash, root, say } from "./setup-lock.mjs";

const script = fileURLToPath(import.meta.url);
/** Each state of the sources has its own folder here: a running gateway keeps loading the parts that it was started with. */
const programs = join(root, "node_modules/.cache/tollgate-program");
/** How many states are kept; one has some three megabytes. */
const keptMax = 10;
const sources = ["src", "sandbox"];
/** The entry points of processes and threads; `ownEntry` of src/base/own-files.ts finds them by name. */
const entries = {
  main: "src/cli/main.ts",
  worker: "src/cli/workers/worker.ts",
  "module-worker": "src/hooks/module-worker.ts",
  "parquet-worker": "src/exports/parquet-worker.ts",
};

/** Matches imports of packages, which stay where npm has installed them. */
const packages = /^(?:node:|@?[\w-][\w.-]*(?:\/|$))/;

/** Identifies the state of the sources by names, sizes and times of all files: reading them would take as long as loading them. */
function stateOfSources() {
  const files = sources
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true }).map((name) => join(folder, name)),
    )
    .filter((name) => name.endsWith(".ts"));
  const lines = [relative(root, script), ...files.sort()].map((name) => {
    const { size, mtimeMs } = statSync(join(root, name));
    return `${name} ${size} ${mtimeMs}`;
  });
  return hash(`${rolldownVersion()}\n${lines.join("\n")}`).slice(0, 16);
}

const rolldownVersion = () =>
  JSON.parse(readFileSync(join(root, "node_modules/rolldown/package.json"), "utf8")).version;

/**
 * Bundles the program into `folder`, which it creates; `parts.json` lists the files of each part.
 * @throws Error if a file cannot be read or the files do not fit together
 */
async function make(folder) {
  const { rolldown } = await import("rolldown");
  const bundle = await rolldown({
    input: Object.fromEntries(
      Object.entries(entries).map(([name, path]) => [name, join(root, path)]),
    ),
    platform: "node",
    external: packages,
    treeshake: false,
    transform: { target: "node22.15" },
  });
  const comments = { legal: false, annotation: false, jsdoc: false };
  const { output } = await bundle.write({ dir: folder, format: "esm", comments });
  await bundle.close();
  const parts = output.map(({ fileName, moduleIds = [] }) => [
    fileName,
    moduleIds.map((path) => relative(root, path)),
  ]);
  writeFileSync(join(folder, "parts.json"), JSON.stringify(Object.fromEntries(parts), null, 1));
}

/** Bundles the program with the Node `binary`, in a separate process. @throws Error with the reason */
export function makeProgram(folder, binary) {
  const { status, stderr, error } = spawnSync(binary, [script, "--make", folder], {
    cwd: root,
    encoding: "utf8",
  });
  if (status !== 0) throw new Error((error?.message ?? stderr).trim());
}

/** Removes all but the newest states. */
function prune() {
  const ages = readdirSync(programs).map((name) => {
    const path = join(programs, name);
    return { path, madeMs: statSync(path).mtimeMs };
  });
  ages.sort((left, right) => right.madeMs - left.madeMs);
  for (const { path } of ages.slice(keptMax)) rmSync(path, { recursive: true, force: true });
}

function makeHere(folder, binary) {
  if (existsSync(folder)) return;
  mkdirSync(programs, { recursive: true });
  const fresh = `${folder}-${process.pid}`;
  try {
    // Here a refusal has a code; the bundler would print pages.
    mkdirSync(fresh);
    makeProgram(fresh, binary);
    renameSync(fresh, folder);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
  prune();
}

/**
 * Returns the file to run `tollgate` with, bundled by the Node `binary` if the sources have changed. If nothing can be written, it is
 * the entry point of the sources.
 */
export async function program(binary) {
  const main = join(root, entries.main);
  try {
    const folder = join(programs, stateOfSources());
    if (!existsSync(folder)) await withLock(() => makeHere(folder, binary));
    return join(folder, "main.js");
  } catch (error) {
    const isReadOnly = ["EACCES", "EPERM", "EROFS"].includes(error.code);
    if (!isReadOnly) say(`running the sources as they are: ${error.message}`);
    return main;
  }
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  await make(process.argv[3]);
}
