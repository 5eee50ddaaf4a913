/**
 * The tasks of one vendor, in memory. A task has no timer: what state it is in follows from the clock whenever
 * somebody asks. docs/sandbox.md.
 */
import { scriptedFailure } from "./reply.ts";
import type { Script } from "./script-fields.ts";
import type { Failure } from "./refusal.ts";

export type JobState =
  | "queued"
  | "running"
  | "succeeded"
  | "failed"
  | "blocked"
  | "expired"
  | "canceled";

export interface Job<Detail> {
  readonly id: string;
  readonly script: Script;
  readonly detail: Detail;
  readonly submittedAt: Date;
  /** When it began to run and when it ended, as planned. */
  readonly startsAt: Date;
  readonly endsAt: Date;
  state(): JobState;
  /** Cancels it; false when it is too late. */
  cancel(): boolean;
  /** The troubles of the question now asked; each call of this counts as one. */
  pollTroubles(): Script;
}

export interface Jobs<Detail> {
  add(id: string, detail: Detail, script: Script): Job<Detail>;
  /** Undefined for ids that never were, were removed, or are told to vanish. */
  find(id: string): Job<Detail> | undefined;
  remove(id: string): void;
}

const secondsUsual = 0.05;
const jobsRemembered = 20_000;

/** An empty list of tasks. The oldest are forgotten beyond twenty thousand. */
export function createJobs<Detail>(): Jobs<Detail> {
  const jobs = new Map<string, Job<Detail>>();
  return {
    add(id, detail, script) {
      const job = createJob(id, detail, script);
      jobs.set(id, job);
      if (jobs.size > jobsRemembered) jobs.delete(jobs.keys().next().value!);
      return job;
    },
    find(id) {
      const job = jobs.get(id);
      const vanished = job?.script.task_outcome === "vanished" && Date.now() >= +job.endsAt;
      return vanished ? undefined : job;
    },
    remove: (id) => void jobs.delete(id),
  };
}

/** Why a task that was told to fail has failed; without a code of its own, the vendor has one. */
export const failureToldBy = (script: Script): Failure =>
  scriptedFailure(script, "The sandbox was told to fail.");

function createJob<Detail>(id: string, detail: Detail, script: Script): Job<Detail> {
  const submittedMs = Date.now();
  const tookMs = (script.task_seconds ?? secondsUsual) * 1000;
  const startsAt = new Date(submittedMs + tookMs / 2);
  const endsAt = new Date(submittedMs + tookMs);
  let canceled = false;
  let polls = 0;

  function state(): JobState {
    const now = Date.now();
    if (canceled) return "canceled";
    if (now < +startsAt) return "queued";
    if (now < +endsAt) return "running";
    const outcome = script.task_outcome ?? "succeeded";
    return outcome === "vanished" ? "running" : outcome;
  }

  return {
    id,
    script,
    detail,
    submittedAt: new Date(submittedMs),
    startsAt,
    endsAt,
    state,
    cancel() {
      if (state() !== "queued") return false;
      canceled = true;
      return true;
    },
    pollTroubles() {
      const { poll = {} } = script;
      polls += 1;
      return poll.times !== undefined && polls > poll.times ? {} : poll;
    },
  };
}
