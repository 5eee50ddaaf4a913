/** The dashscope-like vendor's tasks, of whatever kind: asked for at `/api/v1/tasks/{id}`, always with status 200. */
import { randomUUID } from "node:crypto";
import type { Job, JobState } from "../jobs.ts";
import { createJobs, failureToldBy } from "../jobs.ts";
import type { Json } from "../json.ts";
import type { Script } from "../script-fields.ts";
import type { Call, Check, MediaRoute, Reply } from "../vendor.ts";
import { Refusal } from "../refusal.ts";

/** What a task comes to. */
export interface Making {
  /** What the answer's `output` holds beside the state, once it succeeded. */
  output(call: Call): Json;
  readonly usage: Json;
}

export interface Tasks {
  /** Takes a task in and answers as on submission. */
  submit(making: Making, script: Script): Reply;
  poll(id: string): MediaRoute;
  cancel(id: string): MediaRoute;
}

const statuses: Readonly<Record<JobState, string>> = {
  queued: "PENDING",
  running: "RUNNING",
  succeeded: "SUCCEEDED",
  failed: "FAILED",
  blocked: "FAILED",
  // The vendor has no state for it: it forgets.
  expired: "UNKNOWN",
  canceled: "CANCELED",
};

export function createTasks(): Tasks {
  const jobs = createJobs<Making>();
  return {
    submit(making, script) {
      const { id } = jobs.add(randomUUID(), making, script);
      const output = { task_id: id, task_status: "PENDING" };
      return { status: 200, body: { output, request_id: randomUUID() } };
    },
    poll: (id) => ({
      kind: "media",
      name: "tasks",
      strict: [],
      script: () => jobs.find(id)?.pollTroubles() ?? {},
      answer: (call) => ({ status: 200, body: shown(call, id, jobs.find(id)) }),
    }),
    cancel: (id) => ({
      kind: "media",
      name: "tasks",
      strict: [],
      takes: "nothing",
      script: () => ({}),
      answer() {
        if (jobs.find(id)?.cancel()) return { status: 200, body: { request_id: randomUUID() } };
        throw new Refusal(400, {
          code: "UnsupportedOperation",
          message: "Failed to cancel the task, please confirm if the task is in PENDING status.",
        });
      },
    }),
  };
}

/** Submission is refused unless it says that it will not wait: the vendor makes neither kind while one waits. */
export const refuseSynchronous: Check = ({ headers }) => {
  if (headers["x-dashscope-async"] === "enable") return;
  throw new Refusal(403, {
    code: "AccessDenied",
    message: "current user api does not support synchronous calls.",
  });
};

function shown(call: Call, id: string, job: Job<Making> | undefined): Json {
  const state = job?.state() ?? "expired";
  const about = { task_id: id, task_status: statuses[state] };
  const request = { request_id: randomUUID() };
  if (!job || state === "expired") return { ...request, output: about };
  const times = {
    submit_time: beijingTime(job.submittedAt),
    ...(state === "queued" ? {} : { scheduled_time: beijingTime(job.startsAt) }),
    ...(state === "queued" || state === "running" ? {} : { end_time: beijingTime(job.endsAt) }),
  };
  const output = { ...about, ...times };
  if (state === "failed") {
    const { code = "InternalError.Algo", message } = failureToldBy(job.script);
    return { ...request, output: { ...output, code, message } };
  }
  if (state === "blocked") return { ...request, output: { ...output, ...filtered } };
  if (state !== "succeeded") return { ...request, output };
  const { detail, script } = job;
  const usage = script.usage === null ? {} : { usage: detail.usage };
  return { ...request, output: { ...output, ...detail.output(call) }, ...usage };
}

const filtered = {
  code: "DataInspectionFailed",
  message: "Output data may contain inappropriate content.",
};

const beijingOffsetMs = 8 * 60 * 60 * 1000;

/** `2026-11-01 10:00:00.123`, in Beijing. */
const beijingTime = (moment: Date): string =>
  new Date(+moment + beijingOffsetMs).toISOString().replace("T", " ").replace("Z", "");
