/** The types of hooks: the calls they are asked about, their changes and outcomes. docs/hooks.md. */
import type { ByteLease } from "../base/byte-budget.ts";
import type { JsonSource } from "../base/json-source.ts";
import type { WireObject } from "../base/json.ts";
import type { Note } from "../base/notes.ts";
import type { Tags } from "../base/tags.ts";
import type { HookEndpoint } from "../catalog/index.ts";
import type { Caller } from "../tenancy/index.ts";

/** Facts about a call and its caller. */
export interface CallFacts {
  readonly id: string;
  readonly endpoint: HookEndpoint;
  /** As the caller wrote it, suffix included; undefined if none was named. */
  readonly model: string | undefined;
  readonly stream: boolean;
  readonly caller: Pick<Caller, "workspaceId" | "keyId" | "memberId">;
  /** The caller's tags. */
  readonly tags?: Tags | undefined;
}

/** A call before it is prepared. */
export interface AskedCall extends CallFacts {
  /** As the caller sent it. For forms, the fields without pictures. */
  readonly body: WireObject;
  /** The body with its original bytes, if there are any. */
  readonly source?: JsonSource | undefined;
  /** False if the path names the model instead of the body. */
  readonly modelInBody: boolean;
  /** Fallback models from the caller's header. */
  readonly fallbackModels?: string | undefined;
  /** The field of the body for fallback models, if its protocol has one. */
  readonly fallbacksField?: string | undefined;
  /** Further facts for the hook, such as uploaded pictures. */
  readonly about?: Readonly<Record<string, unknown>> | undefined;
  readonly lease: ByteLease;
  /** Called with each hook's outcome, in order. */
  readonly noted?: ((outcome: HookOutcome) => void) | undefined;
  /** Called with the changes of earlier hooks if a later one ends the call, so that data they removed is neither kept nor reported. */
  readonly refused?: ((changed: ChangedCall) => void) | undefined;
}

/** A call as hooks changed it. */
export interface ChangedCall {
  readonly model: string | undefined;
  /** In the form of the header; undefined: no fallbacks. */
  readonly fallbackModels: string | undefined;
  readonly source: JsonSource;
  /** The changed fields, reported like every change of a request. */
  readonly notes: readonly Note[];
}

/** The outcome of one hook for one call. After `failed`, the call continues or is refused, as `on_failure` says. */
export interface HookOutcome {
  readonly hook: string;
  readonly outcome: "allowed" | "changed" | "refused" | "failed";
  /** For a refusal: the hook's own code. */
  readonly code?: string;
}

/** An ended call. */
export interface EndedCall extends CallFacts {
  readonly status: string;
  readonly httpStatus: number;
  readonly errorCode: string | null;
  readonly provider: string | null;
  readonly usage: object | undefined;
  readonly costNano: bigint;
  readonly durationMs: number;
  /** The request after the before hooks; absent if it is not available (tasks). */
  readonly body?: WireObject | undefined;
  readonly answer?: AnswerText | undefined;
}

/** The answer of a call. */
export interface AnswerText {
  /** The output text; for a stream, joined. */
  readonly text: string;
  /** True if the text is longer than the kept part. */
  readonly isCut?: boolean | undefined;
  /** The whole answer; absent for streams. */
  readonly body?: object | undefined;
}

/** The operator's hooks. If none is configured, `undefined` is used instead. */
export interface Hooks {
  /**
   * Asks the before hooks; undefined if none applies.
   * @returns the changed call, undefined if no hook changed it
   * @throws GatewayError `hook_refused`, `hook_failed`, `invalid_json`, `overloaded`; or rejects with it
   */
  before(asked: AskedCall): Promise<ChangedCall | undefined> | undefined;
  /** True if a hook must be asked before such calls; until then nothing of them may leave the gateway. */
  asks(call: Pick<CallFacts, "endpoint" | "caller">): boolean;
  /** True if an after hook receives such calls, so that their answer must be kept until then. */
  notifies(call: Pick<CallFacts, "endpoint" | "caller">): boolean;
  /** Queues an ended call for the after hooks that apply. Returns at once; never throws. */
  after(ended: EndedCall): void;
  /** Waits briefly for queued events, and ends threads. */
  close(): Promise<void>;
}
