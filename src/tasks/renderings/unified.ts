/**
 * The unified format of a task: in the answers of creation and of `GET /v1/tasks/{id}`, and in callbacks.
 * TASK-19 to TASK-35.
 */
import { formatUsd } from "../../base/money.ts";
import { imageTokenTotals, nothingUsed, type MediaUsage } from "../../media/index.ts";
import { isTerminal, type TaskStatus } from "../states.ts";
import type { ListedTask, TaskError } from "../types.ts";

/** The URL of a produced file, by its name in our storage. */
export type FileUrl = (name: string) => string;

interface IndexedUrl {
  readonly index: number;
  readonly url: string;
}

interface Tokens {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly total_tokens: number;
}

/** By the family's unit of billing; seconds and tokens of video never appear together (TASK-26 to TASK-31). */
type UnifiedUsage =
  | { readonly output_images: number; readonly input_images: number }
  | Tokens
  | (Tokens & { readonly output_video_seconds: number })
  | (Tokens & { readonly output_video_tokens: number });

interface UnifiedTask {
  readonly id: string;
  readonly status: TaskStatus;
  readonly model: string;
  /** RFC 3339, UTC, milliseconds. */
  readonly created_at: string;
  /** `videos` only for video tasks, where `images` is always empty. */
  readonly output: {
    readonly images: readonly IndexedUrl[];
    readonly videos?: readonly IndexedUrl[];
  };
  /** All zero until the task has succeeded. */
  readonly usage: UnifiedUsage;
  /** The charge, in USD; "0" until the task has succeeded. */
  readonly cost: string;
  readonly notes?: readonly string[];
  readonly error?: TaskError;
}

/** A task in the unified format, for its owner. */
export function renderUnified(task: ListedTask, fileUrl: FileUrl): UnifiedTask {
  const files = producedUrls(task, fileUrl).map((url, index) => ({ index, url }));
  const error = failureOf(task);
  return {
    id: task.id,
    status: task.status,
    model: task.model,
    created_at: task.createdAt.toISOString(),
    output: task.kind === "video" ? { images: [], videos: files } : { images: files },
    usage: renderUsage(task.status === "succeeded" ? task.usage : null, task.family),
    cost: formatUsd(task.status === "succeeded" ? task.costNano : 0n),
    ...(task.notes.length > 0 && { notes: task.notes }),
    ...(error && { error }),
  };
}

/** The URLs of the files of a succeeded task; empty in every other state. */
export function producedUrls(task: ListedTask, fileUrl: FileUrl): string[] {
  return task.status === "succeeded" ? task.artifacts.map(({ name }) => fileUrl(name)) : [];
}

const withoutReason: Readonly<Record<"failed" | "expired" | "canceled", TaskError>> = {
  failed: { code: "internal_error", message: "The task failed." },
  expired: { code: "expired", message: "The task did not finish in time." },
  canceled: { code: "canceled", message: "The task was canceled." },
};

/** Why a task ended without a result; undefined while it runs and if it succeeded. */
export function failureOf({ status, error }: ListedTask): TaskError | undefined {
  if (!isTerminal(status) || status === "succeeded") return undefined;
  const { code, message } = error ?? withoutReason[status];
  return { code, message };
}

const noTokens: Tokens = { input_tokens: 0, output_tokens: 0, total_tokens: 0 };

function renderUsage(usage: MediaUsage | null, family: ListedTask["family"]): UnifiedUsage {
  const used = usage ?? nothingUsed(family);
  switch (used.unit) {
    case "images":
      return { output_images: used.outputImages, input_images: used.inputImages };
    case "image_tokens": {
      const { input, output } = imageTokenTotals(used);
      return { input_tokens: input, output_tokens: output, total_tokens: input + output };
    }
    case "video_seconds":
      return { ...noTokens, output_video_seconds: used.seconds };
    case "video_tokens":
      return { ...noTokens, output_video_tokens: used.tokens };
  }
}
