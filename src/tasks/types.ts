/** A task as it is stored, and the inputs and outputs of the engine. Requirements: TASK; docs/tasks.md. */
import type { AttemptNote } from "../attempts/index.ts";
import type { Note } from "../base/notes.ts";
import type { ImageFamily, VideoFamily } from "../catalog/index.ts";
import type { MediaForm, MediaInput, MediaRequest, MediaUsage } from "../media/index.ts";
import type { Tags } from "../base/tags.ts";
import type { Caller } from "../tenancy/index.ts";
import type { TaskStatus } from "./states.ts";

/** A produced file in our own storage; its URL is the base URL, `/files/` and its name. */
export interface Artifact {
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: number;
  /** The duration of a video, if its vendor reported it. */
  readonly seconds?: number | undefined;
}

/** Why a task did not succeed; may be shown to the caller. */
export interface TaskError {
  readonly code: string;
  readonly message: string;
}

/** One attempt at a provider, for the operator. */
export interface TaskAttempt extends AttemptNote {
  readonly started_at: string;
  /** Shows whether the key of this name, or its provider's address, has changed since the submission; absent in rows of older versions. */
  readonly key_hash?: string;
  /** How often in a row its result could not be fetched, or not be stored; absent if no try failed. */
  readonly tries?: number | undefined;
}

export interface Task {
  readonly workspaceId: string;
  /** `task_` and an opaque identifier. */
  readonly id: string;
  readonly keyId: string;
  readonly memberId: string | null;
  readonly kind: "image" | "video";
  readonly family: ImageFamily | VideoFamily;
  /** The canonical model id, without a suffix. */
  readonly model: string;
  /** The form of the endpoint that made it. */
  readonly form: MediaForm;
  readonly status: TaskStatus;
  readonly request: MediaRequest;
  /** Sentences about the changes to the request; empty if there are none. */
  readonly notes: readonly string[];
  readonly reservedNano: bigint;
  /** The charge, in nano-USD; 0 until it succeeded. */
  readonly costNano: bigint;
  readonly usage: MediaUsage | null;
  readonly artifacts: readonly Artifact[];
  readonly error: TaskError | null;
  readonly provider: string | null;
  readonly attempts: readonly TaskAttempt[];
  readonly webhookUrl: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly finishedAt: Date | null;
  /** The time at which it becomes `expired` unless it has ended. */
  readonly expiresAt: Date;
  /** The caller's tags (docs/tags.md). */
  readonly tags: Readonly<Record<string, string>> | null;
  readonly endUser: string | null;
}

/** A task in lists: without its request. */
export type ListedTask = Omit<Task, "request">;

/** A caller's idempotency key, with the fingerprint of its request. Scope: the workspace; lifetime: 24 hours. */
export interface IdempotencyClaim {
  readonly key: string;
  /** SHA-256 over method, path and body, in hex. */
  readonly fingerprint: string;
}

export interface SubmitInput {
  readonly caller: Caller;
  /** As the caller wrote it, with its suffix. */
  readonly model: string;
  readonly input: MediaInput;
  readonly webhookUrl?: string | undefined;
  readonly idempotency?: IdempotencyClaim | undefined;
  /** Runs the operator's hooks, unless the request is a replay. @throws GatewayError with the reason of a refusal */
  readonly change?: (() => Promise<RequestChange>) | undefined;
  /** The trace context of the request that submits it, if there is one; the task's spans are below that request. */
  readonly traceparent?: string | undefined;
  /** The caller's tags, for the log. */
  readonly tags?: Tags | undefined;
}

/** The changes of hooks to a request; absent fields are unchanged. */
export interface RequestChange extends Partial<
  Pick<SubmitInput, "model" | "input" | "webhookUrl">
> {
  readonly notes: readonly Note[];
  /** A record of what each hook did, for the log. */
  readonly hooks: readonly object[];
}

export interface SubmitResult {
  readonly task: Task;
  /** True if the idempotency key had made this task before; nothing was reserved again. */
  readonly replayed: boolean;
}

export interface TaskFilter {
  readonly status?: TaskStatus | undefined;
  readonly model?: string | undefined;
  /** Tasks older than this one, which belongs to the same workspace. */
  readonly after?: string | undefined;
  /** 1 to 100; 20 when absent. */
  readonly limit?: number | undefined;
}

export interface TaskPage {
  /** Newest first. */
  readonly tasks: readonly ListedTask[];
  readonly hasMore: boolean;
}

export interface Tasks {
  /**
   * Accepts a task: model, scope, fields, addresses, queue limit, reservation, row, in this order. A refused task leaves
   * nothing behind. @throws GatewayError 400, 402, 403, 404, 409, 422, 503 as ERR-05 to ERR-11 have them.
   */
  submit(input: SubmitInput): Promise<SubmitResult>;
  /** A task of the workspace; undefined if it has none with this id, even if another workspace has one. */
  read(workspaceId: string, id: string): Promise<Task | undefined>;
  /** Tasks of the workspace. @throws GatewayError `invalid_value` if `after` is not a task of it. */
  list(workspaceId: string, filter: TaskFilter): Promise<TaskPage>;
  /**
   * Cancels a queued task at once, a running one if the vendor confirms. Returns a canceled task as it is.
   * @throws GatewayError `task_not_found`, `task_not_cancelable`
   */
  cancel(workspaceId: string, id: string): Promise<Task>;
  /** Resolves with the task once it is final, or as it is after `waitMs` or when `signal` fires. Holds no connection. */
  wait(task: Task, waitMs: number, signal?: AbortSignal): Promise<Task>;
  /** Ends all waits, now and from now on, with the task as it is: the gateway is about to cut its calls. */
  endWaits(): void;
  /** Starts no more steps from now on; the gateway is about to stop. */
  stopSteps(): void;
  /** Resolves when the steps in flight have ended, however long that takes. Call it after `stopSteps`. */
  idle(): Promise<void>;
  /** Stops starting steps and waits, for 20 seconds at most, for those in flight. Tasks go on at the next start, or on another node. */
  close(): Promise<void>;
}
