/** A gateway as its own process, as an operator runs it: for tests that need a real process, such as kill -9. */
import { execFile, spawn, type ChildProcess, type StdioOptions } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import type { MemoryGroup } from "./memory-group.ts";
import { main } from "./program.ts";

const setup = new URL("../../scripts/setup.mjs", import.meta.url).pathname;
const { gatewayFlags } = (await import(setup)) as { readonly gatewayFlags: readonly string[] };

export interface GatewayProcess {
  readonly url: string;
  readonly sandboxUrl: string | undefined;
  /** Its output until it was ready. */
  readonly banner: string;
  readonly child: ChildProcess;
  /** Milliseconds from the process's start to the first line that says ready. */
  readonly readyMs: number;
  /** SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>;
  /** SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>;
}

/** Limits the open files, soft and hard, as an operator does for a service. `sh` then becomes the command that follows. */
const limited = (openFiles: number): string[] => [
  "sh",
  "-c",
  `ulimit -n ${openFiles}; exec "$0" "$@"`,
];

/** The same for a group of processes that share a memory limit (memory-group.ts). */
const grouped = (group: MemoryGroup): string[] => [
  "sh",
  "-c",
  `echo $$ > ${group.members}; exec "$0" "$@"`,
];

/** The same with other names in /etc/hosts (Linux, as root). */
const knowing = (hosts: string): string[] => [
  "unshare",
  "--mount",
  "sh",
  "-c",
  `mount --bind ${hosts} /etc/hosts; exec "$0" "$@"`,
];

const bin = new URL("../../bin/tollgate.mjs", import.meta.url).pathname;

interface SpawnOptions {
  readonly openFiles?: number;
  /** A file that replaces /etc/hosts. */
  readonly hosts?: string;
  readonly program?: string;
  /** The working directory. */
  readonly cwd?: string;
  /** The group that limits its memory. The gateway is then started by the `tollgate` command, which reads that limit. */
  readonly group?: MemoryGroup;
}

/** Starts `tollgate serve` with these variables on top of this process's own, on a free port unless they set one. */
export async function spawnGateway(
  environment: Record<string, string>,
  { openFiles, hosts, program = main, cwd, group }: SpawnOptions = {},
): Promise<GatewayProcess> {
  const started = performance.now();
  // As `npm start` runs it.
  const serve = [...gatewayFlags, ...(program === main ? [main, "serve"] : [program])];
  const line = group
    ? [...grouped(group), process.execPath, bin, "serve"]
    : [
        ...(hosts === undefined ? [] : knowing(hosts)),
        ...(openFiles === undefined ? [] : limited(openFiles)),
        process.execPath,
        ...serve,
      ];
  const child = spawn(line[0]!, line.slice(1), {
    // A test kills or examines one process, unless it says otherwise.
    env: { ...process.env, PORT: "0", TOLLGATE_WORKERS: "1", ...environment },
    cwd,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let banner = "";
  let errors = "";
  child.stderr.on("data", (chunk: Buffer) => (errors = (errors + chunk.toString()).slice(-4_000)));
  await new Promise<void>((resolve, reject) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      banner += `${line}\n`;
      if (/tollgate keys|Try it|API key/.test(line)) setTimeout(resolve, 50);
    });
    child.once("exit", (code) =>
      reject(new Error(`the gateway ended with code ${code}: ${errors}`)),
    );
  });
  const gone = once(child, "exit") as Promise<[number | null]>;
  return {
    url: /ready at (https?:\/\/\S+)/.exec(banner)![1]!,
    sandboxUrl: /Sandbox\s+(http:\/\/[^/\s]+)/.exec(banner)?.[1],
    banner,
    child,
    readyMs: performance.now() - started,
    async kill() {
      child.kill("SIGKILL");
      await gone;
    },
    async stop() {
      child.kill("SIGTERM");
      return (await gone)[0];
    },
  };
}

/** Starts one `tollgate` command with the given streams. */
export const startTollgate = (
  args: readonly string[],
  environment: Record<string, string>,
  stdio: StdioOptions,
): ChildProcess =>
  spawn(process.execPath, [main, ...args], { env: { ...process.env, ...environment }, stdio });

const run = promisify(execFile);

/** Runs one `tollgate` command; returns the exit code and the output. */
export async function tollgate(
  args: readonly string[],
  environment: Record<string, string>,
  /** The working directory. */
  cwd?: string,
): Promise<{ code: number; stdout: string; stderr: string }> {
  try {
    const { stdout, stderr } = await run(process.execPath, [main, ...args], {
      env: { ...process.env, ...environment },
      ...(cwd !== undefined && { cwd }),
    });
    return { code: 0, stdout, stderr };
  } catch (error) {
    const failed = error as { code?: number; stdout?: string; stderr?: string };
    return { code: failed.code ?? -1, stdout: failed.stdout ?? "", stderr: failed.stderr ?? "" };
  }
}
