/**
 * xAI's videos: `POST /videos/generations`, `GET /videos/{request_id}`. xAI cannot cancel them. Wire: 202 while it works, with an empty
 * body or a progress; `status` may be absent beside a `video.url`; `respect_moderation: false` is a blocked result; the address may be in
 * `video.file_output.public_url`.
 */
import { defined } from "../../base/defined.ts";
import { isObject, type WireObject } from "../../base/json.ts";
import { reportedAmount } from "../../base/usage.ts";
import type { Material, VideoRequest } from "../../media/index.ts";
import { blockedByReason, blockedJob, emptyJob, failedJob } from "./refusal.ts";
import { jsonParts, materialUrl, streamedBody } from "./streamed-body.ts";
import type { MediaDialect, MediaState } from "./types.ts";
import {
  bearerAsk,
  droppedFields,
  isCanceledState,
  objectIn,
  readAccepted,
  readJob,
  textIn,
} from "./wire.ts";

const place = (material: Material | undefined) =>
  material === undefined ? undefined : { url: materialUrl(material) };

function bodyParts(request: VideoRequest, model: string) {
  return jsonParts(
    defined({
      model,
      prompt: request.prompt,
      duration: request.durationSeconds,
      // With a first frame the output follows the picture; with a ratio xAI would stretch it. Requirements: NVID.
      aspect_ratio: request.firstFrame === undefined ? request.aspectRatio : undefined,
      resolution: request.resolution,
      image: place(request.firstFrame),
      last_frame: place(request.lastFrame),
      reference_images: request.references.length > 0 ? request.references.map(place) : undefined,
      generate_audio: request.audio,
      moderation: request.moderation,
      user: request.user,
    }),
  );
}

/** The error of a failed job. As in xAI's refusals, it may be a text, with the code beside it. */
const errorIn = ({ error, code }: WireObject): WireObject =>
  isObject(error) ? error : { code, message: error };

function stateOf(wire: WireObject): MediaState | undefined {
  const video = objectIn(wire["video"]);
  const url = textIn(video["url"]) ?? textIn(objectIn(video["file_output"])["public_url"]);
  const blocked = blockedByReason(wire);
  const isDone = url !== undefined || blocked !== undefined;
  const state = textIn(wire["status"]) ?? (isDone ? "done" : undefined);
  switch (state) {
    case "done":
      if (video["respect_moderation"] === false) return blockedJob();
      if (url === undefined) return blocked ?? emptyJob;
      return {
        state: "succeeded",
        results: [{ from: "url", url }],
        reported: { seconds: reportedAmount(video["duration"]) },
      };
    case "failed":
      return video["respect_moderation"] === false ? blockedJob() : failedJob(errorIn(wire));
    case "expired":
      return { state: "expired" };
    case undefined:
      return undefined;
    default:
      return { state: isCanceledState(state) ? "canceled" : "pending" };
  }
}

export const xaiVideo: MediaDialect = {
  pollSeconds: 5,
  submit: (provider, apiKey, { request, upstreamModel, open }) =>
    bearerAsk(provider, apiKey, {
      method: "POST",
      path: "/videos/generations",
      body: streamedBody(bodyParts(request as VideoRequest, upstreamModel), open),
    }),
  readSubmit: (status, body) => readAccepted(status, body, "request_id"),
  droppedNotes: (request) =>
    droppedFields(request, ["negativePrompt", "promptExtend", "seed", "watermark", "cameraFixed"]),
  poll: (provider, apiKey, id) =>
    bearerAsk(provider, apiKey, { method: "GET", path: `/videos/${encodeURIComponent(id)}` }),
  readPoll: (status, body) =>
    status === 202 ? { state: "pending" } : readJob(status, body, stateOf),
};
