/**
 * The common parts of DashScope's videos and images: the header for asynchronous calls, task states, cancelling. `POST .../{service}`, `GET
 * /tasks/{id}`, `POST /tasks/{id}/cancel` (only while PENDING).
 */
import type { WireObject } from "../../base/json.ts";
import type { Provider } from "../../catalog/index.ts";
import { failedJob } from "./refusal.ts";
import type { MediaAsk, MediaBody, MediaDialect, MediaRefusal, MediaState } from "./types.ts";
import {
  basePath,
  bearerAsk,
  isCanceledState,
  isOfJob,
  isSuccess,
  jobIdIn,
  objectIn,
  ofAnotherJob,
  readCanceled,
  readJob,
  readObject,
  readRefusal,
  textIn,
  unreadable,
} from "./wire.ts";

/** Moves a path to the tasks API: a base URL for text ends in `/compatible-mode/v1`, but tasks are at `/api/v1` of the same host. */
function atTasksApi(provider: Provider, ask: MediaAsk): MediaAsk {
  const base = basePath(provider);
  const own = base.replace(/\/compatible-mode\/v1$/, "/api/v1") || "/api/v1";
  return { ...ask, path: own + ask.path.slice(base.length) };
}

/** Returns a call to one of DashScope's services, as a task. Without the header DashScope refuses it with 403. */
export function serviceAsk(
  provider: Provider,
  apiKey: string,
  service: string,
  body: MediaBody,
): MediaAsk {
  const headers = { "x-dashscope-async": "enable" };
  const ask = { method: "POST", path: `/services/aigc/${service}`, body, headers } as const;
  return atTasksApi(provider, bearerAsk(provider, apiKey, ask));
}

interface TaskReading {
  /** The requested task's id. */
  readonly id: string;
  readonly succeeded: (output: WireObject, usage: WireObject) => MediaState;
}

/** Reads a task; `succeeded` reads its results. */
export function readTask(
  status: number,
  body: Buffer,
  { id, succeeded }: TaskReading,
): MediaState | MediaRefusal {
  return readJob(status, body, (wire) => {
    const output = objectIn(wire["output"]);
    if (!isOfJob(output["task_id"], id)) return ofAnotherJob(status);
    switch (textIn(output["task_status"])) {
      case "SUCCEEDED":
        return succeeded(output, objectIn(wire["usage"]));
      case "FAILED":
        return failedJob(output);
      // Unknown to the vendor, or older than 24 hours.
      case "UNKNOWN":
        return { state: "missing" };
      case undefined:
        return undefined;
      default:
        return { state: isCanceledState(output["task_status"]) ? "canceled" : "pending" };
    }
  });
}

type Shared = "readSubmit" | "poll" | "cancel" | "readCancel";

/** The parts of a dialect that are the same for every service. */
export const dashscopeTasks: Pick<MediaDialect, Shared> = {
  readSubmit(status, body) {
    if (!isSuccess(status)) return readRefusal(status, body);
    const output = objectIn(readObject(body)?.["output"]);
    if (output["task_status"] === "FAILED") return failedJob(output);
    const id = jobIdIn(output["task_id"]);
    return id === undefined ? unreadable(status, body) : { state: "pending", id };
  },
  poll(provider, apiKey, id) {
    const ask = { method: "GET", path: `/tasks/${encodeURIComponent(id)}` } as const;
    return atTasksApi(provider, bearerAsk(provider, apiKey, ask));
  },
  cancel(provider, apiKey, id) {
    const ask = { method: "POST", path: `/tasks/${encodeURIComponent(id)}/cancel` } as const;
    return atTasksApi(provider, bearerAsk(provider, apiKey, ask));
  },
  readCancel: (status, body, id) =>
    readCanceled(status, body, (wire) => {
      const output = objectIn(wire["output"]);
      return {
        isOfJob: isOfJob(output["task_id"], id),
        isCanceled: isCanceledState(textIn(output["task_status"]) ?? "CANCELED"),
      };
    }),
};
