/** What the command hands to one vitest process, and the lines that this writes back. */
import type { Switched } from "./weave.ts";

/** Tests of one file: those that are named, or all. */
export interface Unit {
  readonly file: string;
  readonly tests: readonly string[] | "all";
  /** How long they took without a mutant, in milliseconds. */
  readonly ms: number;
  /** Whether the mutant is reached while the file is imported. */
  readonly atImport: boolean;
}

/** One mutant and the tests that may notice it, the quickest first. */
export interface Trial {
  readonly mutant: number;
  /** It changes what runs on import: modules are evaluated anew for it. */
  readonly fresh: boolean;
  readonly units: readonly Unit[];
}

export type Switches = Record<
  string,
  { readonly text: string; readonly mutants: readonly Switched[] }
>;

export interface Job {
  /** Absolute path of the repository. */
  readonly root: string;
  /** Every file that mutants are compiled into, as it was when they were found. */
  readonly switches: Switches;
  /** Test files that are taken in, relative to the root. */
  readonly files: readonly string[];
  /** Without trials, all files run once, and each test says which mutants it reaches. */
  readonly trials?: readonly Trial[];
  /** A file to which lines of JSON are appended. */
  readonly results: string;
}

/** Which mutants one test reaches; without `test`, its file's import and hooks. */
export interface Reached {
  readonly kind: "reached";
  readonly file: string;
  readonly test?: string;
  readonly ms: number;
  readonly mutants: readonly number[];
  /** Of a file: those that its import reaches. */
  readonly imported?: readonly number[];
  readonly failed: boolean;
}

/** A sign of life: a trial begins, or time passes. */
export interface Alive {
  readonly kind: "begin" | "beat";
  readonly mutant?: number;
}

/**
 * How a trial ended. `doubtful`: the test that failed fails without the mutant too, so that this process is not to be
 * trusted any more; it ends.
 */
export interface Ended {
  readonly kind: "end";
  readonly mutant: number;
  readonly how: "killed" | "survived" | "doubtful";
  /** What killed it. */
  readonly by?: string;
}

export type Line = Reached | Alive | Ended;

/** The variable with the path of the job's file. */
export const jobVariable = "TOLLGATE_MUTANTS_JOB";
