/** What hooks are asked about, what they may answer, and what becomes of a call. docs/hooks.md. */
import type { ByteLease } from "../base/byte-budget.ts";
import type { JsonSource } from "../base/json-source.ts";
import type { WireObject } from "../base/json.ts";
import type { Note } from "../base/notes.ts";
import type { Tags } from "../base/tags.ts";
import type { HookEndpoint } from "../catalog/index.ts";
import type { Caller } from "../tenancy/index.ts";

/** Whose call it is, and of what. */
export interface CallFacts {
  readonly id: string;
  readonly endpoint: HookEndpoint;
  /** As the caller wrote it, suffix included; absent where none was named. */
  readonly model: string | undefined;
  readonly stream: boolean;
  readonly caller: Pick<Caller, "workspaceId" | "keyId" | "memberId">;
  /** What the caller says of it. */
  readonly tags?: Tags | undefined;
}

/** A call before it is prepared. */
export interface AskedCall extends CallFacts {
  /** As the caller sent it. For forms its fields; pictures are not in it. */
  readonly body: WireObject;
  /** The same with its bytes, where there are some. */
  readonly source?: JsonSource | undefined;
  /** False where the path names the model, and the body does not. */
  readonly modelInBody: boolean;
  /** Other models that may answer, as the caller's header names them. */
  readonly fallbackModels?: string | undefined;
  /** The field of the body that names them, where its protocol has one. */
  readonly fallbacksField?: string | undefined;
  /** Further facts for the hook, such as uploaded pictures. */
  readonly about?: Readonly<Record<string, unknown>> | undefined;
  readonly lease: ByteLease;
  /** Hears what each hook made of it, in their order. */
  readonly noted?: ((outcome: HookOutcome) => void) | undefined;
  /** Hears what earlier hooks changed where a later one ends the call: what they took out of it is kept and told nowhere. */
  readonly refused?: ((changed: ChangedCall) => void) | undefined;
}

/** What hooks have made of a call. */
export interface ChangedCall {
  readonly model: string | undefined;
  /** As the header names them; undefined: none any more. */
  readonly fallbackModels: string | undefined;
  readonly source: JsonSource;
  /** Which fields they changed: reported as every change of a request is. */
  readonly notes: readonly Note[];
}

/** What one hook made of one call. `failed` and then let through or refused, as its `on_failure` says. */
export interface HookOutcome {
  readonly hook: string;
  readonly outcome: "allowed" | "changed" | "refused" | "failed";
  /** Of a refusal: what the hook calls it. */
  readonly code?: string;
}

/** A call that is over. */
export interface EndedCall extends CallFacts {
  readonly status: string;
  readonly httpStatus: number;
  readonly errorCode: string | null;
  readonly provider: string | null;
  readonly usage: object | undefined;
  readonly costNano: bigint;
  readonly durationMs: number;
  /** What was asked, after the hooks before it; absent where it is not at hand (tasks). */
  readonly body?: WireObject | undefined;
  readonly answer?: Said | undefined;
}

/** What was answered. */
export interface Said {
  /** The output text, of a stream put together. */
  readonly text: string;
  /** There was more of it than is kept. */
  readonly isCut?: boolean | undefined;
  /** The whole answer; absent for streams. */
  readonly body?: object | undefined;
}

/** The operator's hooks. There are none where none is configured: `undefined` stands in their place. */
export interface Hooks {
  /**
   * Asks the hooks before a call; undefined where none is meant.
   * @returns what they made of it, undefined where they left it as it was
   * @throws GatewayError `hook_refused`, `hook_failed`, `invalid_json`, `overloaded`; or rejects with it
   */
  before(asked: AskedCall): Promise<ChangedCall | undefined> | undefined;
  /** Whether a hook is asked before such calls, so that nothing of them leaves unasked. */
  asks(call: Pick<CallFacts, "endpoint" | "caller">): boolean;
  /** Whether a hook hears of such calls, so that their answer is to be remembered. */
  hears(call: Pick<CallFacts, "endpoint" | "caller">): boolean;
  /** Puts a call that is over before the hooks that hear of it. Returns at once; never throws. */
  after(ended: EndedCall): void;
  /** Gives what waits a moment to be heard, and ends threads. */
  close(): Promise<void>;
}
