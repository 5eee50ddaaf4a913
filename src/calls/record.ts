/** The record of one call while it runs: what the request log, the metrics and the log line are made of. */
import type { Attempt } from "../attempts/index.ts";
import type { GatewayError } from "../base/errors.ts";
import { msSince } from "../base/elapsed.ts";
import { perObject } from "../base/made-once.ts";
import { noteParams, noteSentences, type Note } from "../base/notes.ts";
import type { NanoUsd } from "../base/money.ts";
import { modelNameMax, shortText } from "../base/text.ts";
import type { Span } from "../base/tracing.ts";
import type { Usage } from "../base/usage.ts";
import type { Tags } from "../base/tags.ts";
import type { HookOutcome, Said } from "../hooks/index.ts";
import { keptPrice, type AnyPrice, type MediaUsage } from "../media/index.ts";
import type { CallProtocol, UpstreamProtocol } from "../protocols/index.ts";
import type { Bodies, RequestRow } from "../request-log/index.ts";
import type { UsageSource } from "./meter.ts";
import type { CallUnderWay } from "./under-way.ts";

/** What became of a call at the cache of its key. */
export type CacheOutcome = "hit" | "miss" | "bypass";

/** How a call ended. */
export type CallStatus = "succeeded" | "failed" | "client_closed" | "running";

/** The record of a call that came in by `Entry` and is billed by `Used`. */
interface RecordOf<Entry extends string, Used extends object> extends CallUnderWay {
  readonly startedMs: number;
  /** The same moment by the processor's count, for durations. */
  readonly beganMs: number;
  readonly protocol: Entry;
  readonly stream: boolean;
  readonly workspaceId: string;
  readonly keyId: string;
  /** Of its request, where that is traced; attempts are below it. */
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
  /** Of the offer that made what was metered. */
  price: AnyPrice | undefined;
  reservedNano: NanoUsd;
  costNano: NanoUsd;
  firstTokenMs: number | null;
  /** What the vendor calls the model that answered, where it is traced and said so. */
  answeredBy: string | undefined;
  durationMs: number;
  notes: readonly Note[];
  readonly attempts: Attempt[];
  /** Why these providers in this order, from routing. */
  plan: unknown;
  /** What the operator's hooks made of it, in their order; absent where none was asked. */
  hooks?: HookOutcome[] | undefined;
  /** What became of it at the response cache of its key; absent where that has none. */
  cache?: CacheOutcome | undefined;
  /** What was answered, where a hook hears of it. */
  said?: Said | undefined;
  /** What was said, where the workspace keeps it. */
  bodies?: Bodies | undefined;
}

export type CallRecord = RecordOf<CallProtocol, Usage>;
export type ImageRecord = RecordOf<"images_generations" | "images_edits", MediaUsage>;
export type AnyRecord = RecordOf<string, object>;

/** What a call starts its record with. */
type RecordStart<Entry extends string> = Pick<
  RecordOf<Entry, object>,
  "id" | "startedMs" | "protocol" | "stream" | "workspaceId" | "keyId" | "model" | "tags"
> & { readonly span?: Span | undefined };

/** A record with nothing known yet but who asked. */
export function startRecord<Entry extends string, Used extends object>(
  start: RecordStart<Entry>,
): RecordOf<Entry, Used> {
  return {
    ...start,
    beganMs: performance.now(),
    // As the caller wrote it, until it is known which one it is.
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

/** Notes that the answer begins. */
export function recordFirstToken(record: AnyRecord): void {
  record.firstTokenMs = msSince(record.beganMs);
}

/** What a caller was answered is kept up to here; names and values of theirs may be in it. */
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
    price: record.metered && record.price && keptPrice(record.price),
    durationMs: record.durationMs,
    firstTokenMs: record.firstTokenMs ?? undefined,
    ...(record.notes.length === 0
      ? undefined
      : { dropped: noteParams(record.notes), notes: noteSentences(record.notes) }),
    attempts: record.attempts,
    explanation: explanationOf(record),
    stream: record.stream,
    errorMessage: record.errorMessage,
    tags: record.tags?.tags,
    endUser: record.tags?.endUser,
  };
}

/** Plans are kept, and so is what the log says of them: most calls follow one that was made before. */
const planAlone = perObject((plan: object) => ({ plan }));

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
