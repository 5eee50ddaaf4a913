/** `/ark/api/v3/contents/generations/tasks`: create, ask, and delete, which cancels what is still queued. */
import { randomBytes } from "node:crypto";
import type { Artifacts } from "../artifacts.ts";
import { entriesOf } from "../checks.ts";
import { textOf } from "../conversation.ts";
import type { Job } from "../jobs.ts";
import { createJobs, failureToldBy } from "../jobs.ts";
import type { Json } from "../json.ts";
import { asNumber, asObject, asText } from "../json.ts";
import type { Script } from "../script-fields.ts";
import type { Call, MediaRoute, Reply } from "../vendor.ts";
import { Refusal } from "../refusal.ts";
import { linkTo } from "../vendor.ts";
import type { Video } from "../video/mp4.ts";
import { framesPerSecond } from "../video/mp4.ts";
import { artifactOf, tierSize, videoOf } from "../video/produce.ts";
import { tasksStrict } from "./tasks-strict.ts";

const secondsUsual = 5;
/** The encoder of the highest tier rounds its lines up to whole macroblocks. */
const encodedLines: Readonly<Record<string, number>> = { "1080p": 1088 };

interface Making {
  readonly request: Json;
  readonly resolution: string;
  readonly ratio: string;
  readonly video: Video;
  /** Below the sandbox's address. */
  readonly path: string;
}

export interface ArkTasks {
  readonly create: MediaRoute;
  poll(id: string): MediaRoute;
  remove(id: string): MediaRoute;
}

const contentOf = (body: Json) => entriesOf(body["content"]).map(([, part]) => part);

/** What a body asks for, with the vendor's defaults. */
function orderOf(body: Json) {
  const resolution = asText(body["resolution"]) || "720p";
  const asked = asText(body["ratio"]) || "adaptive";
  const ratio = asked === "adaptive" ? "16:9" : asked;
  const frame = contentOf(body).find(
    (part) => part["type"] === "image_url" && (part["role"] ?? "first_frame") === "first_frame",
  );
  const frames = asNumber(body["frames"]);
  const order = {
    prompt: textOf(contentOf(body)),
    size: tierSize(Number.parseInt(resolution, 10), ratio, encodedLines[resolution]),
    firstFrame: asked === "adaptive" ? asText(asObject(frame?.["image_url"])["url"]) : "",
    seconds: frames ? frames / framesPerSecond : (asNumber(body["duration"]) ?? secondsUsual),
    audio: body["generate_audio"] !== false,
  };
  return { resolution, ratio, order };
}

export function createTasks(artifacts: Artifacts): ArkTasks {
  const jobs = createJobs<Making>();

  function find(id: string): Job<Making> {
    const job = jobs.find(id);
    if (job) return job;
    throw new Refusal(404, { message: `The specified task ${id} is not found.` });
  }

  async function create({ body }: Call, script: Script): Promise<Reply> {
    const { resolution, ratio, order } = orderOf(body);
    const video = await videoOf(order, script);
    const path = artifacts.publish("ark", artifactOf(video), script.artifact);
    const making = { request: body, resolution, ratio, video, path };
    const { id } = jobs.add(newTaskId(), making, script);
    return { status: 200, body: { id } };
  }

  const byId = (answer: MediaRoute["answer"], script: () => Script): MediaRoute => ({
    kind: "media",
    name: "tasks",
    strict: [],
    takes: "nothing",
    script,
    answer,
  });

  return {
    create: {
      kind: "media",
      name: "videos",
      strict: tasksStrict,
      script: ({ body }, read) => read(textOf(contentOf(body))),
      answer: create,
    },
    poll: (id) =>
      byId(
        (call) => ({ status: 200, body: shown(call, find(id)) }),
        () => jobs.find(id)?.pollTroubles() ?? {},
      ),
    remove: (id) =>
      byId(
        () => {
          const job = find(id);
          if (job.cancel()) return { status: 200, body: {} };
          if (["running", "canceled"].includes(job.state())) {
            throw new Refusal(409, {
              code: "InvalidAction.RunningTaskDeletion",
              message: `The specified task ${id} is ${job.state()} and cannot be deleted.`,
            });
          }
          jobs.remove(id);
          return { status: 200, body: {} };
        },
        () => ({}),
      ),
  };
}

/** `cgt-20261101100000-x7k2p`. */
function newTaskId(): string {
  const time = new Date().toISOString().replace(/\D/g, "").slice(0, 14);
  return `cgt-${time}-${randomBytes(5).toString("hex")}`;
}

const unixSeconds = (moment: Date) => Math.floor(+moment / 1000);

function shown(call: Call, job: Job<Making>): Json {
  const { request, resolution, ratio, video } = job.detail;
  const state = job.state();
  const isOver = state !== "queued" && state !== "running";
  return {
    id: job.id,
    model: request["model"],
    status: { blocked: "failed", canceled: "cancelled" }[state as string] ?? state,
    error: null,
    ...outcomeOf(call, job),
    created_at: unixSeconds(job.submittedAt),
    updated_at: unixSeconds(isOver ? job.endsAt : job.submittedAt),
    seed: asNumber(request["seed"]) ?? video.seed,
    resolution,
    ratio,
    duration: video.seconds,
    framespersecond: framesPerSecond,
    generate_audio: video.audio,
    service_tier: request["service_tier"] ?? "default",
    execution_expires_after: request["execution_expires_after"] ?? 172_800,
    priority: request["priority"] ?? 0,
    draft: false,
  };
}

function outcomeOf(call: Call, job: Job<Making>): Json {
  const { script, detail } = job;
  switch (job.state()) {
    case "succeeded": {
      const address = script.artifact?.url ?? linkTo(call, detail.path);
      return { content: { video_url: address }, ...usageOf(script, detail.video) };
    }
    case "failed": {
      const { code = "InternalServiceError", message } = failureToldBy(script);
      return { error: { code, message } };
    }
    case "blocked": {
      const message =
        "The request failed because the output video may contain sensitive information.";
      return { error: { code: "OutputVideoSensitiveContentDetected", message } };
    }
    default:
      return {};
  }
}

/** Tokens as the vendor counts them: pixels of all frames, by 1024. A script may tell another number, or none. */
function usageOf({ usage }: Script, { width, height, seconds }: Video): Json {
  if (usage === null) return {};
  const counted = Math.round((width * height * framesPerSecond * seconds) / 1024);
  const tokens = usage?.output ?? counted;
  const told = { completion_tokens: tokens, total_tokens: tokens, tool_usage: { web_search: 0 } };
  return { usage: told };
}
