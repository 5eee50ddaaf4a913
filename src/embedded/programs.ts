/** Runs PostgreSQL's programs as the server's user, with the database's directory as an open file. */
import { spawn, type ChildProcess } from "node:child_process";
import type { Writable } from "node:stream";
import type { Binaries } from "./binaries.ts";
import type { OpenDirectory } from "./directory.ts";
import type { Identity } from "./identity.ts";
import { withPidReport } from "./watch.ts";

/** Settings that all programs of one database share. */
export interface Site {
  readonly binaries: Binaries;
  readonly identity: Identity | undefined;
  /** `database` in the data directory: everything that belongs to the server. */
  readonly home: OpenDirectory;
}

/** Descriptor of the database's directory in a child process. */
const homeAt = 3;
/** Descriptor of the watcher's pipe in a child process. */
const watchAt = 4;

/** Keeps our own environment (PGOPTIONS, PGDATA, a locale) from the server. */
const environment = (): NodeJS.ProcessEnv => ({
  PATH: process.env["PATH"],
  LC_ALL: "C",
  TZ: "UTC",
  // Windows programs do not start without it.
  ...(process.platform === "win32" ? { SystemRoot: process.env["SystemRoot"] } : {}),
});

/** Returns the path at which the programs see `name` of the database's directory. */
export const pathForServer = ({ home }: Site, name: string): string =>
  `${home.childPath(homeAt)}/${name}`;

/**
 * Starts `name`; its errors appear on `stderr`. `watcher`: the pipe to which the program writes its process id. A Ctrl-C in the
 * terminal does not reach the program: it has its own session, or on Windows its own hidden console.
 */
export function startProgram(
  site: Site,
  name: string,
  args: readonly string[],
  watcher?: Writable,
): ChildProcess {
  const { binaries, identity, home } = site;
  const program = `${binaries.directory}/${name}`;
  const [file, given] =
    watcher === undefined ? [program, args] : withPidReport(program, args, watchAt);
  return spawn(file, given, {
    cwd: "/",
    env: environment(),
    detached: process.platform !== "win32",
    windowsHide: true,
    stdio: ["ignore", "ignore", "pipe", home.file ?? "ignore", watcher ?? "ignore"],
    ...identity,
  });
}

/** Runs `name` to its end. @throws Error with its output if it fails or does not end in time */
export async function runProgram(
  site: Site,
  name: string,
  args: readonly string[],
  msMax: number,
): Promise<void> {
  const child = startProgram(site, name, args);
  let output = "";
  // A process that may open no more files starts none, and has no pipe to it.
  child.stderr?.on("data", (bytes: Buffer) => (output = (output + bytes.toString()).slice(-2_000)));
  const late = setTimeout(() => child.kill("SIGKILL"), msMax);
  try {
    const code = await new Promise<number | string>((done, fail) => {
      child.once("error", fail);
      child.once("close", (status, signal) => done(status ?? signal ?? "no status"));
    });
    if (code !== 0) throw new Error(`${name} ended with ${code}: ${output.trim()}`);
  } finally {
    clearTimeout(late);
  }
}
