/** The record of one call while it runs: the source of the request log, the metrics and the log line. */
import type { Attempt } from "../attempts/index.ts";
import type { GatewayError } from "../base/errors.ts";
import { msSince } from "../base/elapsed.ts";
import { memoizeByObject } from "../base/memoize.ts";
import { loggedNotes, type Note } from "../base/notes.ts";
import type { NanoUsd } from "../base/money.ts";
import { modelNameMax, shortText } from "../base/text.ts";
import type { Span } from "../base/tracing.ts";
import type { Usage } from "../base/usage.ts";
import type { Tags } from "../base/tags.ts";
import type { HookOutcome, AnswerText } from "../hooks/index.ts";
import { storedPrice, type AnyPrice, type MediaUsage } from "../media/index.ts";
import type { CallProtocol, UpstreamProtocol } from "../protocols/index.ts";
import type { Bodies, RequestRow } from "../request-log/index.ts";
import type { UsageSource } from "./meter.ts";
import type { InFlightCall } from "./in-flight.ts";

/** The result of a call at the response cache of its key. */
export type CacheOutcome = "hit" | "miss" | "bypass";

/** How a call ended. */
export type CallStatus = "succeeded" | "failed" | "client_closed" | "running";

/** The record of a call with entry point `Entry`, billed by `Used`. */
interface RecordOf<Entry extends string, Used extends object> extends InFlightCall {
  readonly startedMs: number;
  /** The same moment by the monotonic clock, for durations. */
  readonly beganMs: number;
  readonly protocol: Entry;
  readonly stream: boolean;
  readonly workspaceId: string;
  readonly keyId: string;
  /** The span of its request, if traced; attempts are its children. */
  readonly span: Span | undefined;
  readonly tags?: Tags | undefined;
  model: string;
  provider: string | null;
  upstreamProtocol: Entry | UpstreamProtocol | null;
  status: CallStatus;
  httpStatus: number;
  errorCode: string | null;
  errorMessage: string | undefined;
  metered: { readonly usage: Used; readonly source: UsageSource } | undefined;
  /** The price of the offer that made the metered answer. */
  price: AnyPrice | undefined;
  reservedNano: NanoUsd;
  costNano: NanoUsd;
  firstTokenMs: number | null;
  /** The vendor's name of the model that answered, if traced and reported. */
  answeredBy: string | undefined;
  durationMs: number;
  notes: readonly Note[];
  readonly attempts: Attempt[];
  /** Routing's reasons for these providers in this order. */
  plan: unknown;
  /** The outcomes of the operator's hooks, in order; absent if none was asked. */
  hooks?: HookOutcome[] | undefined;
  /** The result at the response cache of its key; absent if the key has none. */
  cache?: CacheOutcome | undefined;
  /** The answer, if a hook or the cache needs it. */
  answerText?: AnswerText | undefined;
  /** The kept bodies, if the workspace keeps them. */
  bodies?: Bodies | undefined;
}

export type CallRecord = RecordOf<CallProtocol, Usage>;
export type ImageRecord = RecordOf<"images_generations" | "images_edits", MediaUsage>;
export type AnyRecord = RecordOf<string, object>;

/** The fields that a new record starts with. */
type RecordStart<Entry extends string> = Pick<
  RecordOf<Entry, object>,
  "id" | "startedMs" | "protocol" | "stream" | "workspaceId" | "keyId" | "model" | "tags"
> & { readonly span?: Span | undefined };

/** Creates a record that only knows the caller and the request. */
export function startRecord<Entry extends string, Used extends object>(
  start: RecordStart<Entry>,
): RecordOf<Entry, Used> {
  return {
    ...start,
    beganMs: performance.now(),
    // As the caller wrote it, until the model is resolved.
    model: shortText(start.model, modelNameMax),
    span: start.span,
    provider: null,
    upstreamProtocol: null,
    status: "running",
    httpStatus: 200,
    errorCode: null,
    errorMessage: undefined,
    metered: undefined,
    price: undefined,
    reservedNano: 0n,
    costNano: 0n,
    firstTokenMs: null,
    answeredBy: undefined,
    durationMs: 0,
    notes: [],
    attempts: [],
    plan: null,
    stoppable: undefined,
    place: -1,
  };
}

/** Records the time of the answer's first token. */
export function recordFirstToken(record: AnyRecord): void {
  record.firstTokenMs = msSince(record.beganMs);
}

/** Error messages are cut to this many characters; they may contain the caller's names and values. */
const messageMax = 1_000;

/** Marks a record as failed with the error that its caller got. */
export function recordFailure(record: AnyRecord, error: GatewayError): void {
  record.status = "failed";
  record.httpStatus = error.status;
  record.errorCode = error.code;
  record.errorMessage = shortText(error.message, messageMax);
}

/** The row for the request log (docs/management.md). */
export function requestRow(record: AnyRecord): RequestRow {
  return {
    workspaceId: record.workspaceId,
    id: record.id,
    createdAt: new Date(record.startedMs),
    keyId: record.keyId,
    model: record.model,
    provider: record.provider ?? undefined,
    protocol: record.protocol,
    upstreamProtocol: record.upstreamProtocol ?? undefined,
    status: record.status,
    httpStatus: record.httpStatus,
    usage: record.metered?.usage,
    usageSource: record.metered?.source,
    costNano: record.costNano,
    price: record.metered && record.price && storedPrice(record.price),
    durationMs: record.durationMs,
    firstTokenMs: record.firstTokenMs ?? undefined,
    ...(record.notes.length === 0 ? undefined : loggedNotes(record.notes)),
    attempts: record.attempts,
    explanation: explanationOf(record),
    stream: record.stream,
    errorMessage: record.errorMessage,
    tags: record.tags?.tags,
    endUser: record.tags?.endUser,
  };
}

/** The plan as logged, cached per plan: most calls reuse a cached plan. */
const planAlone = memoizeByObject((plan: object) => ({ plan }));

function explanationOf(record: AnyRecord): object | undefined {
  const explanation = planOf(record);
  const { hooks, cache } = record;
  return hooks === undefined && cache === undefined
    ? explanation
    : { ...explanation, hooks, cache };
}

function planOf({ plan, errorCode }: AnyRecord): object | undefined {
  if (typeof plan !== "object" || plan === null)
    return errorCode === null ? undefined : { error: errorCode };
  if (errorCode !== null) return { plan, error: errorCode };
  return planAlone(plan);
}
