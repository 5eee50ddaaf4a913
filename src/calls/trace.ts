/**
 * What the span of a request says of its call. Models and tokens are with the attempts (attempts/trace.ts), so that whoever
 * adds them up over spans counts each once. docs/monitoring.md.
 */
import { sharedParts } from "../base/shared-parts.ts";
import type { AnyRecord } from "./record.ts";

/** What calls of one kind have in common. */
type Kind = readonly [
  model: string,
  protocol: string,
  stream: boolean,
  status: string,
  errorCode: string | null,
  attempts: number,
];

const partOf = sharedParts((...[model, protocol, stream, status, errorCode, attempts]: Kind) => ({
  attributes: {
    "tollgate.protocol": protocol,
    "tollgate.model": model,
    "tollgate.stream": stream,
    "tollgate.status": status,
    "tollgate.error_code": errorCode ?? undefined,
    "tollgate.attempts": attempts,
  },
}));

/** Describes a call that is over, and ends its part of the request's span. */
export function traceCall(record: AnyRecord): void {
  const { span } = record;
  if (span === undefined) return;
  if (!span.isSampled) return span.end();
  const { model, protocol, stream, status, errorCode, attempts } = record;
  span.share(partOf(model, protocol, stream, status, errorCode, attempts.length));
  span.add("tollgate.workspace_id", record.workspaceId);
  span.add("tollgate.cost_usd", Number(record.costNano) / 1e9);
  // A refusal of what the caller sent is no failure of ours.
  const isFailed = status === "failed" && record.httpStatus >= 500;
  span.end(isFailed ? (errorCode ?? "failed") : undefined);
}
