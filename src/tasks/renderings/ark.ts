/** A video task in the shape of `GET /api/v3/contents/generations/tasks/{id}`. ARK-01 to ARK-13. */
import type { TaskStatus } from "../states.ts";
import type { Task, TaskError } from "../types.ts";
import { failureOf, producedUrls, type FileUrl } from "./unified.ts";

/** The vendor writes two l's (ARK-04). */
const words = {
  queued: "queued",
  running: "running",
  succeeded: "succeeded",
  failed: "failed",
  expired: "expired",
  canceled: "cancelled",
} as const satisfies Record<TaskStatus, string>;

interface ArkTask {
  readonly id: string;
  readonly model: string;
  readonly status: (typeof words)[TaskStatus];
  /** Only for a succeeded task. */
  readonly content?: { readonly video_url: string };
  /** Only for a succeeded task: the billed tokens; 0 if it is billed by seconds. */
  readonly usage?: {
    readonly completion_tokens: number;
    readonly total_tokens: number;
    readonly tool_usage: { readonly web_search: number };
  };
  /** Only for a failed task. */
  readonly error?: TaskError;
  /** Unix seconds. */
  readonly created_at: number;
  readonly updated_at: number;
}

/** A video task in Ark's format. */
export function renderArk(task: Task, fileUrl: FileUrl): ArkTask {
  const [url] = producedUrls(task, fileUrl);
  const tokens = task.usage?.unit === "video_tokens" ? task.usage.tokens : 0;
  const error = task.status === "failed" ? failureOf(task) : undefined;
  return {
    id: task.id,
    model: task.model,
    status: words[task.status],
    ...(url !== undefined && {
      content: { video_url: url },
      usage: {
        completion_tokens: tokens,
        total_tokens: tokens,
        tool_usage: { web_search: 0 },
      },
    }),
    ...(error && { error }),
    created_at: unixSeconds(task.createdAt),
    updated_at: unixSeconds(task.updatedAt),
  };
}

const unixSeconds = (time: Date): number => Math.floor(time.getTime() / 1000);
