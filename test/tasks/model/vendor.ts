/**
 * The vendors of a history, with the true state of each job. Each request waits until the history decides its answer.
 */
import type { ServerResponse } from "node:http";
import { startRecorder, type Recorded, type Recorder } from "../../support/recorder.ts";
import { mp4 } from "../../support/task-life.ts";

/** A job with its true state. */
export interface Job {
  readonly id: string;
  readonly prompt: string;
  readonly tokens: number;
  state: "running" | "done" | "failed" | "canceled";
  /** True if the gateway got the job's id. */
  isAcknowledged: boolean;
}

/** A request that waits for its answer. */
export interface Question {
  readonly kind: "submit" | "poll" | "cancel";
  /** The step that sent the request; undefined: a cancellation. */
  readonly step: string | undefined;
  readonly prompt: string;
  readonly job: Job | undefined;
  readonly request: Recorded;
  readonly response: ServerResponse;
  /** True for the vendor that answers with pictures. */
  readonly isPainter: boolean;
}

export interface Vendors {
  readonly recorder: Recorder;
  readonly jobs: Job[];
  readonly questions: Set<Question>;
  /** The answers to the next downloads, one each; after them, downloads succeed. */
  readonly files: ("ok" | "away" | "cut" | "page" | "gone")[];
}

const promptOf = ({ body }: Recorded): string => {
  const [first] = (body["content"] ?? []) as { readonly text: string }[];
  return first?.text ?? (body["prompt"] as string);
};

function sendFile(how: Vendors["files"][number], response: ServerResponse): void {
  switch (how) {
    case "away":
      return void response.writeHead(503).end();
    case "gone":
      return void response.writeHead(404).end();
    case "page":
      return void response.writeHead(200, { "content-length": 6 }).end("<html>");
    case "cut":
      response.writeHead(200, { "content-length": mp4.length });
      return void response.write(mp4.subarray(0, 40), () => response.destroy());
    case "ok":
      response.writeHead(200, { "content-length": mp4.length }).end(mp4);
  }
}

/** Starts the vendors: Ark's API at `/api/v3`, xAI's pictures at `/v1`. */
export async function startVendors(): Promise<Vendors> {
  const vendors: Omit<Vendors, "recorder"> = { jobs: [], questions: new Set(), files: [] };
  const recorder = await startRecorder((request, response) => {
    if (request.path.endsWith(".mp4")) return sendFile(vendors.files.shift() ?? "ok", response);
    const id = request.path.split("/").at(-1)!;
    const job = vendors.jobs.find((one) => one.id === id);
    const kind =
      request.method === "POST" ? "submit" : request.method === "GET" ? "poll" : "cancel";
    const prompt = job?.prompt ?? promptOf(request);
    const step = request.headers["traceparent"] as string | undefined;
    const isPainter = request.path.startsWith("/v1");
    const question: Question = { kind, step, prompt, job, request, response, isPainter };
    vendors.questions.add(question);
  });
  return { ...vendors, recorder };
}

const answer = ({ response }: Question, status: number, body: unknown, headers = {}): void =>
  void response
    .writeHead(status, { "content-type": "application/json", ...headers })
    .end(JSON.stringify(body));

const png = Buffer.concat([
  Buffer.from("89504e470d0a1a0a0000000d49484452000004000000040008020000", "hex"),
  Buffer.alloc(40),
]).toString("base64");

const canceled = { status: "cancelled" };

/** The possible answers per kind of request. `refused`: the vendor says that it began nothing. */
export const answers = {
  submit: [
    ...(["taken", "taken", "taken", "taken", "taken", "taken", "taken", "taken"] as const),
    ...(["refused", "refused", "busy", "wrong", "hidden", "lost"] as const),
  ],
  poll: ["truth", "truth", "truth", "truth", "trouble", "missing", "other", "page", "lost", "back"],
  cancel: ["truth", "truth", "refused", "lost"],
} as const;
export type AnswerName = (typeof answers)[Question["kind"]][number];

let jobCount = 0;

function begin({ jobs }: Vendors, { prompt, isPainter }: Question): Job {
  jobCount += 1;
  const state = isPainter ? "done" : "running";
  const job: Job = {
    id: `job-${jobCount}`,
    prompt,
    tokens: 900 + jobCount,
    state,
    isAcknowledged: false,
  };
  jobs.push(job);
  return job;
}

const truthOf = ({ recorder }: Vendors, { id, tokens, state }: Job): object => {
  if (state === "running") return { id, status: "running" };
  if (state === "failed")
    return { id, status: "failed", error: { code: "Trouble", message: "no" } };
  if (state === "canceled") return { id, ...canceled };
  return {
    id,
    status: "succeeded",
    content: { video_url: `${recorder.url}/${id}.mp4` },
    usage: { completion_tokens: tokens },
  };
};

/** Answers a waiting request. */
export function reply(vendors: Vendors, question: Question, how: AnswerName): void {
  vendors.questions.delete(question);
  const { kind, response, job } = question;
  if (kind === "submit") return replyToSubmit(vendors, question, how);
  switch (how) {
    case "truth":
      if (job === undefined) return answer(question, 404, {});
      if (kind === "poll") return answer(question, 200, truthOf(vendors, job));
      if (job.state !== "running") return answer(question, 409, { error: { code: "Ended" } });
      job.state = "canceled";
      return answer(question, 200, {});
    case "trouble":
      return answer(question, 500, { error: { code: "Trouble", message: "no" } });
    case "refused":
      return answer(question, 409, { error: { code: "Running", message: "no" } });
    case "missing":
      return answer(question, 404, { error: { code: "NotFound", message: "no" } });
    case "other":
      return answer(question, 200, { id: "job-of-another", status: "failed" });
    case "back":
      return answer(question, 200, { status: "queued" });
    case "page":
      return void response.end("<html>");
    default:
      response.destroy();
  }
}

function replyToSubmit(vendors: Vendors, question: Question, how: AnswerName): void {
  switch (how) {
    case "taken": {
      const job = begin(vendors, question);
      job.isAcknowledged = true;
      if (!question.isPainter) return answer(question, 200, { id: job.id });
      return answer(question, 200, { data: [{ b64_json: png }] });
    }
    case "refused":
      return answer(question, 500, { error: { code: "Trouble", message: "no" } });
    case "busy":
      return answer(
        question,
        429,
        { error: { code: "Busy", message: "no" } },
        { "retry-after": "3" },
      );
    case "wrong":
      return answer(question, 400, { error: { code: "InvalidParameter", message: "no" } });
    case "hidden":
      begin(vendors, question);
      return answer(question, 502, {});
    default:
      begin(vendors, question);
      question.response.destroy();
  }
}
