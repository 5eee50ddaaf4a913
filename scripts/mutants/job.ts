/** The job that the command gives to one vitest process, and the lines that the process writes back. */
import type { Switched } from "./weave.ts";

/** Tests of one file: the named ones, or all. */
export interface Unit {
  readonly file: string;
  readonly tests: readonly string[] | "all";
  /** Their duration without a mutant, in milliseconds. */
  readonly ms: number;
  /** True if importing the file reaches the mutant. */
  readonly atImport: boolean;
}

/** One mutant and the tests that may notice it, fastest first. */
export interface Trial {
  readonly mutant: number;
  /** True if the mutant changes code that runs on import: modules are evaluated anew for it. */
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
  /** Every file that mutants are compiled into, with its text when they were found. */
  readonly switches: Switches;
  /** Test files of the job, relative to the root. */
  readonly files: readonly string[];
  /** Absent: all files run once, and each test reports the mutants it reaches. */
  readonly trials?: readonly Trial[];
  /** The file to which the process appends lines of JSON. */
  readonly results: string;
}

/** The mutants that one test reaches; without `test`, those that the file's import and hooks reach. */
export interface Reached {
  readonly kind: "reached";
  readonly file: string;
  readonly test?: string;
  readonly ms: number;
  readonly mutants: readonly number[];
  /** For a file: the mutants that its import reaches. */
  readonly imported?: readonly number[];
  readonly failed: boolean;
}

/** A sign of life: a trial begins, or the process still runs. */
export interface Alive {
  readonly kind: "begin" | "beat";
  readonly mutant?: number;
}

/**
 * The result of a trial. `doubtful`: the failed test also fails without the mutant, so this process can no longer be trusted; it
 * ends.
 */
export interface Ended {
  readonly kind: "end";
  readonly mutant: number;
  readonly how: "killed" | "survived" | "doubtful";
  /** The test that killed it. */
  readonly by?: string;
}

export type Line = Reached | Alive | Ended;

/** The environment variable with the path of the job's file. */
export const jobVariable = "TOLLGATE_MUTANTS_JOB";
