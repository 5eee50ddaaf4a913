/**
 * Ends the server when the gateway is gone, however it went: a shell that waits for the end of a pipe which only this
 * process holds. It costs no more memory than a shell.
 */
import { spawn, type ChildProcess } from "node:child_process";
import type { Identity } from "./identity.ts";

/** First the orderly end; a second later the one that leaves the rest to the recovery of the next start. */
const script = `read -r pid; read -r _; kill -INT "$pid" 2>/dev/null || exit 0
sleep 1; kill -QUIT "$pid" 2>/dev/null`;

export interface Watch {
  /** The server to end with this process. */
  guard(pid: number): void;
  /** The server has ended: there is nothing to watch. */
  end(): void;
}

/** Starts the watcher before the server, so that there is no moment without one. */
export function startWatch(identity: Identity | undefined): Watch {
  // No such shell there: the next start ends what is left.
  if (process.platform === "win32") return { guard: () => undefined, end: () => undefined };
  const shell: ChildProcess = spawn("/bin/sh", ["-c", script], {
    cwd: "/",
    env: { PATH: process.env["PATH"] },
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
    ...identity,
  });
  shell.on("error", () => undefined);
  shell.stdin!.on("error", () => undefined);
  shell.unref();
  return {
    guard: (pid) => void shell.stdin!.write(`${pid}\n`),
    end: () => void shell.kill("SIGKILL"),
  };
}
