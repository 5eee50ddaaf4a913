/** A video task in the vendor-native shape of `GET /v1/videos/{id}`. NVID-28 to NVID-36. */
import type { Task, TaskError } from "../types.ts";
import { failureOf, producedUrls, type FileUrl } from "./unified.ts";

interface NativeVideo {
  readonly status: "pending" | "done" | "failed";
  readonly model: string;
  /** Only if it is done; `duration` is the number of produced seconds. */
  readonly video?: { readonly url: string; readonly duration: number };
  readonly error?: TaskError;
}

/** A video task in xAI's format: an expired or canceled task counts as failed, and there is no cost. */
export function renderNative(task: Task, fileUrl: FileUrl): NativeVideo {
  const error = failureOf(task);
  if (error) return { status: "failed", model: task.model, error };
  if (task.status !== "succeeded") return { status: "pending", model: task.model };
  const [url = ""] = producedUrls(task, fileUrl);
  return { status: "done", model: task.model, video: { url, duration: producedSeconds(task) } };
}

/** The billed seconds, else the vendor's; if neither is known, the requested ones. */
function producedSeconds({ usage, artifacts, request }: Task): number {
  if (usage?.unit === "video_seconds") return usage.seconds;
  return artifacts[0]?.seconds ?? (request.kind === "video" ? request.durationSeconds : 0);
}
