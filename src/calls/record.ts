/** The record of one call while it runs: what the request log, the metrics and the log line are made of. */
import type { GatewayError } from "../base/errors.ts";
import { noteParams, noteSentences, type Note } from "../base/notes.ts";
import type { NanoUsd } from "../base/money.ts";
import type { RequestRow } from "../storage/index.ts";
import type { CallProtocol } from "../protocols/index.ts";
import type { Metered } from "./meter.ts";

/** One attempt at a provider. */
export interface Attempt {
  readonly provider: string;
  readonly credential: string;
  readonly upstream_model: string;
  readonly started_ms: number;
  duration_ms: number;
  status: number | null;
  /** `ok`, or what went wrong in the words of the outcome table. */
  outcome: string;
  /** The upstream's own message, for the operator. */
  message?: string;
}

/** How a call ended. */
export type CallStatus = "succeeded" | "failed" | "client_closed" | "running";

export interface CallRecord {
  readonly id: string;
  readonly startedMs: number;
  readonly protocol: CallProtocol;
  readonly stream: boolean;
  readonly workspaceId: string;
  readonly keyId: string;
  model: string;
  provider: string | null;
  upstreamProtocol: CallProtocol | null;
  status: CallStatus;
  httpStatus: number;
  errorCode: string | null;
  metered: Metered | undefined;
  reservedNano: NanoUsd;
  costNano: NanoUsd;
  firstTokenMs: number | null;
  durationMs: number;
  notes: readonly Note[];
  readonly attempts: Attempt[];
  /** Why these providers in this order, from routing. */
  plan: unknown;
}

/** What a call starts its record with. */
type RecordStart = Pick<
  CallRecord,
  "id" | "startedMs" | "protocol" | "stream" | "workspaceId" | "keyId" | "model"
>;

/** A record with nothing known yet but who asked. */
export function startRecord(start: RecordStart): CallRecord {
  return {
    ...start,
    provider: null,
    upstreamProtocol: null,
    status: "running",
    httpStatus: 200,
    errorCode: null,
    metered: undefined,
    reservedNano: 0n,
    costNano: 0n,
    firstTokenMs: null,
    durationMs: 0,
    notes: [],
    attempts: [],
    plan: null,
  };
}

/** Notes when the answer began, in milliseconds since the Unix epoch. */
export function recordFirstToken(record: CallRecord, nowMs: number): void {
  record.firstTokenMs = nowMs - record.startedMs;
}

/** Marks a record as failed with the error its caller was told. */
export function recordFailure(record: CallRecord, error: GatewayError): void {
  record.status = "failed";
  record.httpStatus = error.status;
  record.errorCode = error.code;
}

/** The row for the request log (contract.md, `GET /requests`). */
export function requestRow(record: CallRecord): RequestRow {
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
    durationMs: record.durationMs,
    firstTokenMs: record.firstTokenMs ?? undefined,
    ...(record.notes.length === 0
      ? undefined
      : { dropped: noteParams(record.notes), notes: noteSentences(record.notes) }),
    attempts: record.attempts,
    explanation: explanationOf(record),
  };
}

const explanations = new WeakMap<object, object>();

/** Plans are kept, and so is what the log says of them: most calls follow one that was made before. */
function explanationOf({ plan, errorCode }: CallRecord): object | undefined {
  if (typeof plan !== "object" || plan === null)
    return errorCode === null ? undefined : { error: errorCode };
  if (errorCode !== null) return { plan, error: errorCode };
  let explanation = explanations.get(plan);
  if (explanation === undefined) {
    explanation = { plan };
    explanations.set(plan, explanation);
  }
  return explanation;
}
