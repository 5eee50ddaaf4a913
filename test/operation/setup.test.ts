/** Steps before the gateway runs: the lock of the setup, and the command of a checkout in any place. docs/cli.md. */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { useDirectory } from "./support.ts";

const root = new URL("../..", import.meta.url).pathname.replace(/\/$/, "");
const directory = useDirectory();
const lockName = `tollgate-setup-${createHash("sha256").update(root).digest("hex").slice(0, 16)}`;
const script = `import { withLock } from ${JSON.stringify(`${root}/scripts/setup.mjs`)};
try { await withLock(() => console.log("done")); } catch (error) { console.log(error.message); }`;

/** Runs some work of the setup with its lock in a directory. */
function workIn(place: string): string {
  const { stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", script], {
    encoding: "utf8",
    env: { ...process.env, TMPDIR: place },
    timeout: 20_000,
  });
  return stdout;
}

it("an empty lock, or the lock of a killed process, does not block the setup", () => {
  for (const [name, text] of [
    ["empty", ""],
    ["killed", "4194300"],
  ] as const) {
    const place = join(directory, name);
    mkdirSync(place);
    const lock = join(place, lockName);
    writeFileSync(lock, text);
    utimesSync(lock, 1, 1);
    expect(workIn(place)).toBe("done\n");
    expect(existsSync(lock)).toBe(false);
  }
});

it("a lock that cannot be written is reported with its path and error code", () => {
  expect(workIn(join(directory, "nonesuch"))).toBe(
    `the file ${join(directory, "nonesuch", lockName)} could not be written (ENOENT)\n`,
  );
});

it("a checkout in a folder with # and % in its name runs commands", () => {
  const place = join(directory, "c# %41");
  mkdirSync(place);
  symlinkSync(root, join(place, "checkout"));
  const words = ["--preserve-symlinks", "--preserve-symlinks-main"];
  const command = join(place, "checkout/bin/tollgate.mjs");
  const ran = spawnSync(process.execPath, [...words, command, "config", "schema"], {
    encoding: "utf8",
    timeout: 60_000,
  });
  expect(ran).toMatchObject({ status: 0, stderr: "" });
  expect(JSON.parse(ran.stdout)).toHaveProperty("$schema");
});

/** A checkout whose packaged Node lacks a library, as on a small Debian; runs its setup with a Node that reports `version`. */
function setUpWithoutLibrary(name: string, version: string) {
  const place = join(directory, name);
  const modules = join(place, "node_modules");
  const binary = join(modules, `node-${process.platform}-${process.arch}`, "bin/node");
  mkdirSync(join(binary, ".."), { recursive: true });
  cpSync(join(root, "scripts"), join(place, "scripts"), { recursive: true });
  writeFileSync(join(place, "package-lock.json"), JSON.stringify({ packages: { "": {} } }));
  writeFileSync(join(modules, ".package-lock.json"), JSON.stringify({ packages: {} }));
  writeFileSync(binary, `#!/bin/sh\necho "node: ${libraryError}" >&2\nexit 127\n`, { mode: 0o755 });
  const versions = `{ ...process.versions, node: "${version}" }`;
  const older = `data:text/javascript,Object.defineProperty(process, "versions", { value: ${versions} })`;
  const words = ["--import", older, join(place, "scripts/setup.mjs")];
  const run = () => spawnSync(process.execPath, words, { encoding: "utf8", timeout: 20_000 });
  return { run, binary };
}
const libraryError = "error while loading shared libraries: libatomic.so.1: cannot open it";

it.skipIf(process.platform === "win32")(
  "a packaged Node that lacks a library is reported with what to install, and kept for the next try",
  () => {
    const { run, binary } = setUpWithoutLibrary("old", "22.15.0");
    for (const attempt of [run(), run()]) {
      expect(attempt.stderr).toContain(libraryError);
      expect(attempt.stderr).toContain("Install libatomic1 (apt)");
      expect(attempt.status).toBe(1);
    }
    writeFileSync(binary, "#!/bin/sh\n");
    expect(run()).toMatchObject({ status: 0, stderr: "" });
  },
);

it.skipIf(process.platform === "win32")(
  "a packaged Node that lacks a library is replaced by the installed one, with the reason",
  () => {
    const { run, binary } = setUpWithoutLibrary("new", "24.1.0");
    const { status, stderr } = run();
    expect(stderr).toContain(`(node: ${libraryError}); using the installed Node`);
    expect(status).toBe(0);
    expect(existsSync(binary)).toBe(false);
  },
);
