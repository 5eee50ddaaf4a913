/**
 * `npm pack`: makes the published package, which runs by `npx tollgate` on Node 22 and contains no sources. The program is bundled as
 * in a checkout (program.mjs), and the built console is included. docs/deployment.md.
 *
 * npm packs this folder as it is. So during packing `dist/` is in it and package.json is the package's own (`--prepack`); afterwards
 * both are restored (`--postpack`). `--into FOLDER` writes the same files elsewhere. Plain JavaScript for Node 20: a fresh clone may
 * be packed.
 */
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { buildConsole, isConsoleCurrent } from "./console.mjs";
import { makeProgram } from "./program.mjs";
import { withLock, nodeBinary, root, setup } from "./setup.mjs";

/** A package larger than this contains something that it should not. */
const bytesMax = 10_000_000;
const packageFile = join(root, "package.json");
/** A copy of the checkout's package.json while the package's own replaces it. */
const aside = join(root, "dist-package.json");

/** Files that the program's messages and README link to: the pages, and their pictures. */
const pages = ["docs/*.md", "docs/screenshots/overview-*.webp", "CHANGELOG.md"];

/** The package.json with the packages that a gateway needs: no development packages, and no Node, which users have. */
function packageJson(checkout) {
  const { name, version, description, license, type, dependencies } = checkout;
  const optionalDependencies = Object.fromEntries(
    Object.entries(checkout.optionalDependencies).filter(([one]) => !one.startsWith("node-")),
  );
  return {
    name,
    version,
    description,
    license,
    type,
    bin: { tollgate: "dist/bin/tollgate.mjs" },
    files: ["dist", ...pages],
    engines: { node: ">=22.15" },
    dependencies,
    optionalDependencies,
  };
}

/** Writes `dist` below `folder`: all files needed at run time. */
function writeDist(folder, { name, version, type }) {
  const dist = join(folder, "dist");
  rmSync(dist, { recursive: true, force: true });
  mkdirSync(dist, { recursive: true });
  makeProgram(join(dist, "program"), nodeBinary());
  const copy = (from, to = from) => cpSync(join(root, from), join(dist, to), { recursive: true });
  copy("src/storage/baseline");
  copy("src/storage/migrations");
  copy("catalog");
  copy("scripts/package/tollgate.mjs", "bin/tollgate.mjs");
  copy("scripts/become-node.mjs", "become-node.mjs");
  if (!isConsoleCurrent()) throw new Error("the console could not be built; its reason is above");
  copy("console/dist");
  // Assets of the previous build serve open pages; a new package has none.
  rmSync(join(dist, "console/dist/previous"), { recursive: true, force: true });
  // The fields that the program reads about itself.
  writeFileSync(join(dist, "package.json"), `${JSON.stringify({ name, version, type })}\n`);
}

/** The files that match a pattern with at most one `*`, in its last part; Node 20 has no `globSync`. */
function filesLike(pattern) {
  const [before, after] = basename(pattern).split("*");
  const folder = dirname(pattern);
  return readdirSync(join(root, folder))
    .filter((name) =>
      after === undefined ? name === before : name.startsWith(before) && name.endsWith(after),
    )
    .map((name) => join(folder, name));
}

/** All files below a folder, with their sizes in bytes. */
function filesOf(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => {
      const path = join(entry.parentPath ?? entry.path, entry.name);
      return { path: relative(folder, path), bytes: statSync(path).size };
    });
}

/** Prints the sizes of the parts of `dist`. @throws Error if the total is too large */
function report(dist) {
  const parts = new Map();
  for (const { path, bytes } of filesOf(dist)) {
    const name = path.split(/[\\/]/)[0];
    const { count, sum } = parts.get(name) ?? { count: 0, sum: 0 };
    parts.set(name, { count: count + 1, sum: sum + bytes });
  }
  const rows = [...parts].sort((left, right) => right[1].sum - left[1].sum);
  const total = rows.reduce((all, [, { sum }]) => all + sum, 0);
  for (const [name, { count, sum }] of [...rows, ["in all", { count: "", sum: total }]])
    process.stderr.write(
      `pack: ${name.padEnd(14)}${String(count).padStart(5)} ${(sum / 1000).toFixed(0).padStart(6)} kB\n`,
    );
  if (total > bytesMax)
    throw new Error(
      `the package has ${total} bytes, and may have ${bytesMax}: what is it that grew?`,
    );
}

/** Restores the checkout's own package.json, also after an interrupted packing. */
function restore() {
  if (!existsSync(aside)) return;
  writeFileSync(packageFile, readFileSync(aside));
  rmSync(aside);
}

async function build(folder) {
  const checkout = JSON.parse(readFileSync(packageFile, "utf8"));
  await buildConsole();
  await withLock(async () => {
    writeDist(folder, checkout);
    report(join(folder, "dist"));
  });
  return packageJson(checkout);
}

const asText = (value) => `${JSON.stringify(value, null, 2)}\n`;

async function prepack() {
  restore();
  await setup();
  const own = await build(root);
  cpSync(packageFile, aside);
  // npm reads its scripts after packing from this file.
  const { prepack, postpack } = JSON.parse(readFileSync(aside, "utf8")).scripts;
  writeFileSync(packageFile, asText({ ...own, scripts: { prepack, postpack } }));
}

async function into(folder) {
  await setup();
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), asText(await build(folder)));
  for (const name of ["README.md", "LICENSE", ...pages.flatMap(filesLike)])
    cpSync(join(root, name), join(folder, name));
}

const [word, folder] = process.argv.slice(2);
try {
  if (word === "--prepack") await prepack();
  else if (word === "--postpack") {
    restore();
    rmSync(join(root, "dist"), { recursive: true, force: true });
  } else if (word === "--into" && folder !== undefined) await into(resolve(folder));
  else throw new Error("run `npm pack`, or this with --into FOLDER");
} catch (error) {
  restore();
  process.stderr.write(`pack: ${error.message}\n`);
  process.exitCode = 1;
}
