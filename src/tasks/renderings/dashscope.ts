/** A task in the alias shape of `GET /api/v1/tasks/{id}`. ALIAS-01 to ALIAS-12. */
import type { TaskStatus } from "../states.ts";
import type { Task } from "../types.ts";
import { failureOf, producedUrls, type FileUrl } from "./unified.ts";

/**
 * `PENDING` stands for all unfinished work, as ALIAS-06 requires; the vendor's clients poll on at `PENDING` and at `RUNNING`.
 * The vendor has no status for an expired task. The gateway never answers its `UNKNOWN`, because rows are kept.
 */
const words = {
  queued: "PENDING",
  running: "PENDING",
  succeeded: "SUCCEEDED",
  failed: "FAILED",
  expired: "FAILED",
  canceled: "CANCELED",
} as const satisfies Record<TaskStatus, string>;

interface Choice {
  readonly finish_reason: "stop";
  readonly message: {
    readonly role: "assistant";
    readonly content: readonly { readonly type: "image"; readonly image: string }[];
  };
}

interface DashscopeTask {
  readonly request_id: string;
  readonly output: {
    readonly task_id: string;
    readonly task_status: (typeof words)[TaskStatus];
    /** One per picture; only for a succeeded image task. */
    readonly choices?: readonly Choice[];
    /** Only for a succeeded video task. */
    readonly video_url?: string;
    readonly code?: string;
    readonly message?: string;
  };
}

/** A task in DashScope's format. `requestId` is the id of the HTTP request that reads it. */
export function renderDashscope(task: Task, fileUrl: FileUrl, requestId: string): DashscopeTask {
  return {
    request_id: requestId,
    output: {
      task_id: task.id,
      task_status: words[task.status],
      ...resultOf(task, fileUrl),
      ...failureOf(task),
    },
  };
}

function resultOf(
  task: Task,
  fileUrl: FileUrl,
): Pick<DashscopeTask["output"], "choices" | "video_url"> {
  const urls = producedUrls(task, fileUrl);
  const [first] = urls;
  if (first === undefined) return {};
  return task.kind === "video" ? { video_url: first } : { choices: urls.map(choice) };
}

const choice = (image: string): Choice => ({
  finish_reason: "stop",
  message: { role: "assistant", content: [{ type: "image", image }] },
});
