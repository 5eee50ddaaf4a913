/** Signals that stop a gateway, or have it read its configuration again. */
import { closeSync, openSync } from "node:fs";
import { isatty } from "node:tty";
import type { Log } from "../base/log.ts";
import { onceMore } from "../base/once-more.ts";
import { explain } from "./explain.ts";

/**
 * The same Ctrl-C comes twice under `npm start`: from the terminal to the whole process group, and passed on by npm. A person
 * needs longer for a second one.
 */
export const sameSignalMs = 500;

/**
 * Whether input, output or errors are a terminal's. `nohup` leaves none of them there. That the signal is to be ignored, which it
 * asks for too, cannot be seen: Node takes it back before any of our code runs, and npm's Node before ours.
 */
const usesTerminal = (): boolean => [0, 1, 2].some((descriptor) => isatty(descriptor));

/** Whether this process has a terminal that it could be ended from. */
function hasTerminal(): boolean {
  try {
    closeSync(openSync("/dev/tty", "r"));
    return true;
  } catch {
    return false;
  }
}

interface OnHangUp {
  /** Reads the configuration again. @throws what keeps it from that, and all is as before */
  readonly reload: () => Promise<void>;
  /** The terminal was closed: nobody could stop the gateway any more. */
  readonly stop: () => void;
}

/** 128 and the signal's number, as a shell has it. */
const hungUp = 129;

/**
 * SIGHUP means "read again", one after the other; a signal that comes meanwhile, or before the gateway is ready, is one more. A
 * terminal that is closed sends it too, and then it means the end, as everywhere on Windows; but for who was started to
 * outlive its terminal.
 * @returns what is called when the gateway is ready
 */
export function listenForHangUps(log: Log): (on: OnHangUp) => void {
  const startedInTerminal = hasTerminal() && usesTerminal();
  let on: OnHangUp | undefined;
  let isEarly = false;
  const reads = onceMore(async () => {
    try {
      await on!.reload();
    } catch (error) {
      const { text: reason } = await explain(error);
      log.error({ reason, err: reason === undefined ? error : undefined }, "nothing was reloaded");
    }
  });
  process.on("SIGHUP", () => {
    if (process.platform === "win32" || (startedInTerminal && !hasTerminal())) {
      if (on === undefined) process.exit(hungUp);
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
