/**
 * Ends the server when the gateway is gone, however it went: a shell that waits for the end of a pipe which only this
 * process holds. It costs no more memory than a shell. The server's own process says its number on that pipe before it
 * becomes the server: said by the gateway, one that was killed in between would leave a server that nobody ends.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import type { Writable } from "node:stream";
import type { Identity } from "./identity.ts";

const shellPath = "/bin/sh";

/** First the orderly end; a second later the one that leaves the rest to the recovery of the next start. */
const script = `read -r pid; read -r _; kill -INT "$pid" 2>/dev/null || exit 0
sleep 1; kill -QUIT "$pid" 2>/dev/null`;

export interface Watch {
  /** Where the server's process says its number; undefined without a watcher. */
  readonly pipe: Writable | undefined;
  /** The server has ended: there is nothing to watch. */
  end(): void;
}

/** Starts the watcher before the server, so that there is no moment without one. */
export function startWatch(identity: Identity | undefined): Watch {
  // No such shell there: the next start ends what is left.
  if (!existsSync(shellPath)) return { pipe: undefined, end: () => undefined };
  const shell: ChildProcess = spawn(shellPath, ["-c", script], {
    cwd: "/",
    env: { PATH: process.env["PATH"] },
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
    ...identity,
  });
  shell.on("error", () => undefined);
  shell.stdin!.on("error", () => undefined);
  shell.unref();
  return { pipe: shell.stdin!, end: () => void shell.kill("SIGKILL") };
}

/** The command line of a program that first says its number at descriptor `at`: a shell that then becomes the program. */
export const sayingItsNumber = (
  program: string,
  args: readonly string[],
  at: number,
): [string, string[]] => [
  shellPath,
  ["-c", `echo $$ >&${at}; exec "$0" "$@" ${at}>&-`, program, ...args],
];
