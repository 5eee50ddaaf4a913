/**
 * Builds the console into console/dist if its sources differ from those of the existing build. Plain JavaScript for Node 20: it may
 * run right after the packages were installed. docs/console.md.
 *
 * `npm start` runs it beside the gateway, which already answers; the tests wait for it.
 */
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { withLock, nodeBinary, root, setup } from "./setup.mjs";

const script = fileURLToPath(import.meta.url);
const folder = join(root, "console");
const dist = join(folder, "dist");
/** The last build error. The gateway shows it if there is no build. */
const failure = join(folder, "dist-failed.txt");
const say = (text) => process.stderr.write(`console: ${text}\n`);

/** The files that a build depends on, in the same order everywhere. */
function sources() {
  const apart = new Set(["dist", "tools", "node_modules"]);
  const within = readdirSync(folder)
    .filter((name) => !apart.has(name) && !name.startsWith("dist"))
    .flatMap((name) =>
      name === "src"
        ? readdirSync(join(folder, name), { recursive: true, withFileTypes: true })
            .filter((entry) => entry.isFile())
            .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
        : [join(folder, name)],
    );
  return [...within.sort(), join(root, "package-lock.json"), script];
}

function fingerprint() {
  const hash = createHash("sha256");
  for (const path of sources()) hash.update(path.slice(root.length)).update(readFileSync(path));
  return hash.digest("hex");
}

/** True if the build matches these sources, and if there are no sources: in the published package. */
export function isConsoleCurrent() {
  if (!existsSync(join(folder, "src"))) return true;
  const stamp = join(dist, ".stamp");
  return existsSync(stamp) && readFileSync(stamp, "utf8") === fingerprint();
}

/** The first path segments of the pages: at these the gateway answers with the console. */
function pages() {
  const paths = sources()
    .filter((path) => /route\w*\.ts$/.test(path))
    .flatMap((path) => [...readFileSync(path, "utf8").matchAll(/^\s+path: "\/([a-z-]+)/gm)])
    .map(([, first]) => first);
  return [...new Set(paths)].sort();
}

/** Builds in a Node that runs TypeScript, as the configuration is TypeScript: into a fresh folder, which then replaces the old one. */
async function make() {
  const fresh = join(folder, `dist-${process.pid}`);
  try {
    const stamp = fingerprint();
    const { build } = await import("vite");
    const { default: config } = await import(pathToFileURL(join(folder, "vite.config.ts")).href);
    const output = { ...config.build, outDir: fresh, emptyOutDir: true };
    await build({ ...config, build: output, logLevel: "warn" });
    compress(join(fresh, "assets"));
    writeFileSync(join(fresh, "pages.json"), JSON.stringify(pages()));
    writeFileSync(join(fresh, ".stamp"), stamp);
    replace(fresh);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

function compress(assets) {
  for (const name of readdirSync(assets).filter((name) => /\.(?:js|css|svg)$/.test(name))) {
    const file = join(assets, name);
    const bytes = readFileSync(file);
    const params = { [constants.BROTLI_PARAM_QUALITY]: 9 };
    writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params }));
    writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }));
  }
}

/** The assets of the previous build stay, because open pages still load them. */
function replace(fresh) {
  const old = join(folder, `dist-old-${process.pid}`);
  if (existsSync(dist)) {
    cpSync(join(dist, "assets"), join(fresh, "previous"), { recursive: true });
    renameSync(dist, old);
  }
  renameSync(fresh, dist);
  rmSync(old, { recursive: true, force: true });
}

/** Builds the console if needed. A failed build is reported here and on the console's page, and stops nothing else. */
export async function buildConsole() {
  if (isConsoleCurrent()) return;
  await withLock(() => {
    // Another process may have built it while this one waited.
    if (isConsoleCurrent()) return;
    const started = Date.now();
    const { status, stderr, error } = spawnSync(nodeBinary(), [script, "--make"], {
      cwd: folder,
      encoding: "utf8",
      env: { ...process.env, NODE_ENV: "production" },
    });
    if (status === 0) {
      rmSync(failure, { force: true });
      say(`built in ${((Date.now() - started) / 1000).toFixed(1)} s`);
    } else {
      const reason = (error?.message ?? stderr).trim();
      say(`could not be built; the API is served without it.\n${reason}`);
      writeFileSync(failure, reason.slice(-10_000));
    }
  });
}

/** Builds in the background with low priority: the gateway must not wait for its pages. */
export function buildConsoleBeside() {
  if (isConsoleCurrent()) return;
  const command = [process.execPath, script];
  if (process.platform === "win32") {
    spawn(command[0], [script], { stdio: "ignore", detached: true }).unref();
  } else {
    // Started through a shell that ends at once: this process becomes the gateway, which must have no unknown children.
    spawnSync("sh", ["-c", 'nice "$0" "$1" &', ...command], {
      stdio: ["ignore", "ignore", "inherit"],
    });
  }
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  if (process.argv.includes("--make")) {
    await make();
  } else {
    await setup();
    await buildConsole();
  }
}
