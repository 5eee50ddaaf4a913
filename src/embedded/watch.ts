/**
 * Ends the server when the gateway ends, in whatever way. A shell waits for the end of a pipe that only this process holds; it needs no
 * more memory than a shell. The server's process itself writes its process id to that pipe before it becomes the server. If the gateway
 * wrote it, a gateway killed in between would leave a server running forever.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import type { Writable } from "node:stream";
import type { Identity } from "./identity.ts";

const shellPath = "/bin/sh";

/** A fast shutdown first. A second later an immediate one, after which the next start runs recovery. */
const script = `read -r pid; read -r _; kill -INT "$pid" 2>/dev/null || exit 0
sleep 1; kill -QUIT "$pid" 2>/dev/null`;

export interface Watch {
  /** The pipe to which the server's process writes its process id; undefined without a watcher. */
  readonly pipe: Writable | undefined;
  /** Ends the watcher, because the server has ended. */
  end(): void;
}

/** Starts the watcher; the server starts after it, and so never runs without one. */
export function startWatch(identity: Identity | undefined): Watch {
  // This system has no such shell. The next start ends a server that is left.
  if (!existsSync(shellPath)) return { pipe: undefined, end: () => undefined };
  const shell: ChildProcess = spawn(shellPath, ["-c", script], {
    cwd: "/",
    env: { PATH: process.env["PATH"] },
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
    ...identity,
  });
  shell.on("error", () => undefined);
  // Absent if this process may open no more files: the server's own start fails then.
  const pipe = shell.stdin ?? undefined;
  pipe?.on("error", () => undefined);
  shell.unref();
  return { pipe, end: () => void shell.kill("SIGKILL") };
}

/** Returns the command of a program that first writes its process id to descriptor `at`: a shell that then becomes the program. */
export const withPidReport = (
  program: string,
  args: readonly string[],
  at: number,
): [string, string[]] => [
  shellPath,
  ["-c", `echo $$ >&${at}; exec "$0" "$@" ${at}>&-`, program, ...args],
];
