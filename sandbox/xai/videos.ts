/** `POST /xai/v1/videos/generations` and `GET /xai/v1/videos/{id}`: 202 while it works, 200 with what became of it. */
import { randomUUID } from "node:crypto";
import type { Artifacts } from "../artifacts.ts";
import type { Job } from "../jobs.ts";
import { createJobs, failureToldBy } from "../jobs.ts";
import type { Json } from "../json.ts";
import { asNumber, asObject, asText } from "../json.ts";
import type { Script } from "../script-fields.ts";
import type { Call, MediaRoute, Reply } from "../vendor.ts";
import { Refusal } from "../refusal.ts";
import { linkTo } from "../vendor.ts";
import type { Video } from "../video/mp4.ts";
import { artifactOf, tierSize, videoOf } from "../video/produce.ts";
import { videosStrict } from "./videos-strict.ts";

const vendor = "xai";
const secondsUsual = 6;
const ticksPerSecond = 500_000_000;
/** The encoder of the highest tier rounds its lines up to whole macroblocks. */
const encodedLines: Readonly<Record<string, number>> = { "1080p": 1088 };

interface Making {
  readonly model: string;
  readonly video: Video;
  /** Below the sandbox's address. */
  readonly path: string;
}

export interface XaiVideos {
  readonly submit: MediaRoute;
  poll(id: string): MediaRoute;
}

export function createVideos(artifacts: Artifacts): XaiVideos {
  const jobs = createJobs<Making>();

  async function submit({ body, model }: Call, script: Script): Promise<Reply> {
    const resolution = asText(body["resolution"]) || "480p";
    const size = tierSize(
      Number.parseInt(resolution, 10),
      asText(body["aspect_ratio"]) || "16:9",
      encodedLines[resolution],
    );
    const order = {
      prompt: asText(body["prompt"]),
      size,
      firstFrame: asText(asObject(body["image"])["url"]),
      seconds: asNumber(body["duration"]) ?? secondsUsual,
      audio: body["generate_audio"] !== false,
    };
    const video = await videoOf(order, script);
    const path = artifacts.publish(vendor, artifactOf(video), script.artifact);
    const { id } = jobs.add(randomUUID(), { model, video, path }, script);
    return { status: 200, body: { request_id: id } };
  }

  return {
    submit: {
      kind: "media",
      name: "videos",
      strict: videosStrict,
      script: ({ body }, read) => read(asText(body["prompt"])),
      answer: submit,
    },
    poll: (id) => ({
      kind: "media",
      name: "tasks",
      strict: [],
      script: () => jobs.find(id)?.pollTroubles() ?? {},
      answer(call) {
        const job = jobs.find(id);
        if (!job) throw new Refusal(404, { message: `Request not found: ${id}` });
        return shown(call, job);
      },
    }),
  };
}

function shown(call: Call, job: Job<Making>): Reply {
  switch (job.state()) {
    case "queued":
    case "canceled":
      // The vendor says nothing at all at first.
      return { status: 202 };
    case "running":
      return { status: 202, body: { status: "pending", progress: progressOf(job) } };
    case "expired":
      return { status: 200, body: { status: "expired" } };
    case "failed":
      return failed(job.script);
    case "blocked":
      return done(job, { respect_moderation: false });
    case "succeeded": {
      const { url } = job.script.artifact ?? {};
      const address = url ?? linkTo(call, job.detail.path);
      return done(job, { url: address, respect_moderation: true });
    }
  }
}

function done({ detail }: Job<Making>, video: Json): Reply {
  const { seconds } = detail.video;
  const body = {
    status: "done",
    video: { ...video, duration: seconds },
    model: detail.model,
    usage: { cost_in_usd_ticks: Math.round(seconds * ticksPerSecond) },
    progress: 100,
  };
  return { status: 200, body };
}

function failed(script: Script): Reply {
  const { code = "internal_error", message } = failureToldBy(script);
  const failure = { code, message };
  const video = { duration: 0, respect_moderation: true };
  return { status: 200, body: { status: "failed", error: failure, model: "", video } };
}

function progressOf({ submittedAt, endsAt }: Job<Making>): number {
  const share = (Date.now() - +submittedAt) / (+endsAt - +submittedAt);
  return Math.min(99, Math.floor(share * 100));
}
