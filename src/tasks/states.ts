/**
 * The six states of a task: meaning, effect on the ledger, and next states. Requirements: TASK.
 * docs/tasks.md is generated from this table, and every transition in the database names the state it leaves.
 */

interface State {
  readonly meaning: string;
  readonly terminal: boolean;
  /** The effect on the ledger. */
  readonly ledger: string;
  /** The states that may follow. */
  readonly next: readonly string[];
  /** The actors of the transitions. */
  readonly leftBy: string;
}

export const taskStates = {
  queued: {
    meaning: "Accepted and waiting: no vendor has accepted it yet.",
    terminal: false,
    ledger: "The upper bound is held.",
    next: ["running", "succeeded", "failed", "expired", "canceled"],
    leftBy:
      "the runner, when a vendor has accepted or refused it; the caller, by canceling; the deadline",
  },
  running: {
    meaning: "A vendor works on it.",
    terminal: false,
    ledger: "The upper bound is held.",
    next: ["succeeded", "failed", "expired", "canceled"],
    leftBy:
      "the runner, when the vendor reports the end; the deadline; the caller, if the vendor confirms the cancellation",
  },
  succeeded: {
    meaning: "The artifacts are in the gateway's storage.",
    terminal: true,
    ledger: "Charged by what was produced; the rest of the hold is released.",
    next: [],
    leftBy: "-",
  },
  failed: {
    meaning: "The vendor refused it or failed; `error` says why.",
    terminal: true,
    ledger: "Released, nothing charged.",
    next: [],
    leftBy: "-",
  },
  expired: {
    meaning: "It did not end before its deadline, or its vendor no longer knows it.",
    terminal: true,
    ledger: "Released, nothing charged.",
    next: [],
    leftBy: "-",
  },
  canceled: {
    meaning: "Its caller or its vendor canceled it before a result.",
    terminal: true,
    ledger: "Released, nothing charged.",
    next: [],
    leftBy: "-",
  },
} as const satisfies Record<string, State>;

export type TaskStatus = keyof typeof taskStates;

/** The final states. */
export type TerminalStatus = "succeeded" | "failed" | "expired" | "canceled";

/** True for the final states, which never change. */
export const isTerminal = (status: TaskStatus): status is TerminalStatus =>
  taskStates[status].terminal;

/** True for a word that names a state. */
export const isTaskStatus = (word: string): word is TaskStatus => Object.hasOwn(taskStates, word);
