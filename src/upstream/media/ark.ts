/**
 * Ark's videos (Seedance): `POST`, `GET` and `DELETE /contents/generations/tasks`. Prompt and material are one `content` list, each picture
 * with its role. Only a queued task can be deleted.
 */
import { defined } from "../../base/defined.ts";
import type { WireObject } from "../../base/json.ts";
import { reportedAmount } from "../../base/usage.ts";
import type { Material, VideoRequest } from "../../media/index.ts";
import { emptyJob, failedJob } from "./refusal.ts";
import { jsonParts, materialUrl, streamedBody } from "./streamed-body.ts";
import type { MediaDialect, MediaState } from "./types.ts";
import {
  bearerAsk,
  droppedFields,
  isCanceledState,
  isOfJob,
  objectIn,
  ofAnotherJob,
  readAccepted,
  readCanceled,
  readJob,
  textIn,
} from "./wire.ts";

const tasksPath = "/contents/generations/tasks";
const taskPath = (id: string) => `${tasksPath}/${encodeURIComponent(id)}`;

const picture = (role: string) => (material: Material) => ({
  type: "image_url",
  image_url: { url: materialUrl(material) },
  role,
});

function contentOf(request: VideoRequest): object[] {
  const listOf = <Item>(item: Item | undefined) => (item === undefined ? [] : [item]);
  return [
    ...listOf(request.prompt).map((text) => ({ type: "text", text })),
    ...listOf(request.firstFrame).map(picture("first_frame")),
    ...listOf(request.lastFrame).map(picture("last_frame")),
    ...request.references.map(picture("reference_image")),
  ];
}

function bodyParts(request: VideoRequest, model: string) {
  return jsonParts(
    defined({
      model,
      content: contentOf(request),
      resolution: request.resolution,
      ratio: request.aspectRatio,
      duration: request.durationSeconds,
      seed: request.seed,
      camera_fixed: request.cameraFixed,
      watermark: request.watermark,
      generate_audio: request.audio,
      execution_expires_after: request.expiresAfterSeconds,
      safety_identifier: request.user,
    }),
  );
}

/** Settings in a prompt, as Seedance 1 reads them. Their length or size would be another than the one that is reserved. */
const setting =
  /(?:^|\s)(--(?:rs|resolution|rt|ratio|dur|duration|frames|fps|framespersecond))[\s=]/i;
const readsNoSettings = /seedance-[2-9]/;

function refuses({ prompt = "" }: VideoRequest, model: string) {
  const [, name] = setting.exec(prompt) ?? [];
  return name === undefined || readsNoSettings.test(model)
    ? undefined
    : {
        param: "prompt",
        why: `has ${name}, which the vendor reads as a setting; send the field instead`,
      };
}

function stateOf(wire: WireObject): MediaState | undefined {
  const error = objectIn(wire["error"]);
  switch (textIn(wire["status"])) {
    case "succeeded": {
      const url = textIn(objectIn(wire["content"])["video_url"]);
      if (url === undefined) return emptyJob;
      const usage = objectIn(wire["usage"]);
      return {
        state: "succeeded",
        results: [{ from: "url", url }],
        reported: {
          seconds: reportedAmount(wire["duration"]),
          videoTokens:
            reportedAmount(usage["completion_tokens"]) ?? reportedAmount(usage["total_tokens"]),
        },
      };
    }
    case "failed":
      return failedJob(error);
    case "expired":
      return { state: "expired" };
    case undefined:
      return undefined;
    default:
      return { state: isCanceledState(wire["status"]) ? "canceled" : "pending" };
  }
}

export const arkVideo: MediaDialect = {
  pollSeconds: 10,
  submit: (provider, apiKey, { request, upstreamModel, open }) =>
    bearerAsk(provider, apiKey, {
      method: "POST",
      path: tasksPath,
      body: streamedBody(bodyParts(request as VideoRequest, upstreamModel), open),
    }),
  readSubmit: (status, body) => readAccepted(status, body, "id"),
  refuses: (request, upstreamModel) => refuses(request as VideoRequest, upstreamModel),
  droppedNotes: (request) =>
    droppedFields(request, ["moderation", "negativePrompt", "promptExtend"]),
  poll: (provider, apiKey, id) =>
    bearerAsk(provider, apiKey, { method: "GET", path: taskPath(id) }),
  readPoll: (status, body, id) =>
    readJob(status, body, (wire) =>
      isOfJob(wire["id"], id) ? stateOf(wire) : ofAnotherJob(status),
    ),
  cancel: (provider, apiKey, id) =>
    bearerAsk(provider, apiKey, { method: "DELETE", path: taskPath(id) }),
  readCancel: (status, body, id) =>
    readCanceled(status, body, (wire) => ({
      isOfJob: isOfJob(wire["id"], id),
      isCanceled: isCanceledState(textIn(wire["status"]) ?? "cancelled"),
    })),
};
