/** Handles signals that stop a gateway, or make it reload its configuration. */
import { closeSync, openSync } from "node:fs";
import { isatty } from "node:tty";
import type { Log } from "../base/log.ts";
import { coalesce } from "../base/coalesce.ts";
import { explain } from "./explain.ts";

/**
 * Signals within this time count as one. Under `npm start` one Ctrl-C arrives twice: from the terminal to the process group, and
 * forwarded by npm. A person needs longer to press it twice.
 */
export const sameSignalMs = 500;

/**
 * True if input, output or errors are connected to a terminal. `nohup` disconnects all three. It also makes the process ignore the
 * signal, but that cannot be detected: Node resets it before our code runs, and npm's Node does so before ours.
 */
const usesTerminal = (): boolean => [0, 1, 2].some((descriptor) => isatty(descriptor));

/** True if this process has a controlling terminal. */
function hasTerminal(): boolean {
  try {
    closeSync(openSync("/dev/tty", "r"));
    return true;
  } catch {
    return false;
  }
}

/**
 * Ignores SIGUSR1 and SIGUSR2, which scripts written for other servers send: nginx opens its logs again at the first, and runs a new
 * program at the second. At SIGUSR1 Node would open a debugger: a port without a password, where any user of the machine can run code in
 * the gateway. SIGUSR2 would end the gateway at once.
 */
export function ignoreUserSignals(): void {
  for (const signal of ["SIGUSR1", "SIGUSR2"] as const) {
    process.off(signal, ignore);
    process.on(signal, ignore);
  }
}

const ignore = (): void => undefined;

interface OnHangUp {
  /** Reloads the configuration. @throws the error that prevents it; nothing has changed then */
  readonly reload: () => Promise<void>;
  /** Called when the terminal was closed, and the gateway could no longer be stopped from there. */
  readonly stop: () => void;
}

/** 128 plus the signal's number, as in a shell. */
const hangUpExitCode = 129;

/**
 * Handles SIGHUP as a request to reload. Reloads run one after the other; a signal during a reload, or before the gateway is ready,
 * causes one more. A closed terminal sends SIGHUP too, and on Windows that is its only meaning: then the gateway stops. A process
 * started to outlive its terminal reloads instead.
 * @returns a function to call when the gateway is ready
 */
export function listenForHangUps(log: Log): (on: OnHangUp) => void {
  const startedInTerminal = hasTerminal() && usesTerminal();
  let on: OnHangUp | undefined;
  let isEarly = false;
  const reads = coalesce(async () => {
    try {
      await on!.reload();
    } catch (error) {
      const { text: reason } = await explain(error);
      log.error({ reason, err: reason === undefined ? error : undefined }, "nothing was reloaded");
    }
  });
  process.on("SIGHUP", () => {
    if (process.platform === "win32" || (startedInTerminal && !hasTerminal())) {
      if (on === undefined) process.exit(hangUpExitCode);
      return on.stop();
    }
    if (on === undefined) isEarly = true;
    else reads.ask();
  });
  return (ready) => {
    on = ready;
    if (isEarly) reads.ask();
  };
}
