/** A task as it is stored, and what the engine takes and gives. Requirements: TASK; docs/tasks.md. */
import type { AttemptNote } from "../attempts/index.ts";
import type { Note } from "../base/notes.ts";
import type { ImageFamily, VideoFamily } from "../catalog/index.ts";
import type { MediaForm, MediaInput, MediaRequest, MediaUsage } from "../media/index.ts";
import type { Tags } from "../base/tags.ts";
import type { Caller } from "../tenancy/index.ts";
import type { TaskStatus } from "./states.ts";

/** A produced file in our own storage; its address is the base URL, `/files/` and its name. */
export interface Artifact {
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: number;
  /** How long a video is, where its vendor told. */
  readonly seconds?: number | undefined;
}

/** Why a task did not succeed; fit for the caller. */
export interface TaskError {
  readonly code: string;
  readonly message: string;
}

/** One attempt at a provider, for the operator. */
export interface TaskAttempt extends AttemptNote {
  readonly started_at: string;
  /** Tells whether the key of this name is still the one it was asked with; absent in rows of older versions. */
  readonly key_hash?: string;
  /** How often in a row its result could not be fetched, or not be stored; absent where it was not tried in vain. */
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
  /** Which endpoint made it. */
  readonly form: MediaForm;
  readonly status: TaskStatus;
  readonly request: MediaRequest;
  /** Sentences about what was changed in the request; empty when nothing was. */
  readonly notes: readonly string[];
  readonly reservedNano: bigint;
  /** What was charged; 0 until it succeeded. */
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
  /** When it becomes `expired` unless it has ended. */
  readonly expiresAt: Date;
  /** What the caller said of it (docs/tags.md). */
  readonly tags: Readonly<Record<string, string>> | null;
  readonly endUser: string | null;
}

/** A task as lists hold it: without what was asked for. */
export type ListedTask = Omit<Task, "request">;

/** A caller's idempotency key and what it stands for. Scope: the workspace; lifetime: 24 hours. */
export interface IdempotencyClaim {
  readonly key: string;
  /** SHA-256 over method, path and body, in hex. */
  readonly fingerprint: string;
}

export interface SubmitInput {
  readonly caller: Caller;
  /** As the caller wrote it, suffix included. */
  readonly model: string;
  readonly input: MediaInput;
  readonly webhookUrl?: string | undefined;
  readonly idempotency?: IdempotencyClaim | undefined;
  /** What is still to be done to the request where it is no repeat: the operator's hooks. @throws GatewayError what refuses it */
  readonly change?: (() => Promise<RequestChange>) | undefined;
  /** The trace of the request that submits it, where there is one: its steps are below that request. */
  readonly traceparent?: string | undefined;
  /** What the caller says of it, for the log. */
  readonly tags?: Tags | undefined;
}

/** What hooks made of a request, and what they changed: nothing where the request is absent. */
export interface RequestChange extends Partial<
  Pick<SubmitInput, "model" | "input" | "webhookUrl">
> {
  readonly notes: readonly Note[];
  /** What each of them did, for the log. */
  readonly hooks: readonly object[];
}

export interface SubmitResult {
  readonly task: Task;
  /** True when the idempotency key had made this task before; nothing was reserved again. */
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
   * Accepts a task: model, scope, fields, addresses, queue limit, reservation, row, in this order; nothing is kept of one
   * that is refused. @throws GatewayError 400, 402, 403, 404, 409, 422, 503 as ERR-05 to ERR-11 have them.
   */
  submit(input: SubmitInput): Promise<SubmitResult>;
  /** A task of the workspace; undefined where there is none, whoever else may have it. */
  read(workspaceId: string, id: string): Promise<Task | undefined>;
  /** Tasks of the workspace. @throws GatewayError `invalid_value` for an `after` that is no task of it. */
  list(workspaceId: string, filter: TaskFilter): Promise<TaskPage>;
  /**
   * Cancels: a queued task at once, a running one where the vendor confirms. A canceled task is answered as it is.
   * @throws GatewayError `task_not_found`, `task_not_cancelable`
   */
  cancel(workspaceId: string, id: string): Promise<Task>;
  /** Resolves with the task once it is terminal, or as it is after `waitMs` or when `signal` fires. Holds no connection. */
  wait(task: Task, waitMs: number, signal?: AbortSignal): Promise<Task>;
  /** Answers everybody who waits with the task as it is, now and from now on: the gateway is about to cut its calls. */
  endWaits(): void;
  /** Takes no more steps from now on; the gateway is about to stop. */
  rest(): void;
  /** Resolves when the steps under way have been taken, however long that takes. To be called after `rest`. */
  idle(): Promise<void>;
  /** Stops taking steps and waits, for 20 seconds at most, for those under way. Tasks go on at the next start, or on another node. */
  close(): Promise<void>;
}
