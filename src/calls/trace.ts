/**
 * What the span of a request says of its call. Models and tokens are with the attempts (attempts/trace.ts), so that whoever
 * adds them up over spans counts each once. docs/monitoring.md.
 */
import type { AnyRecord } from "./record.ts";

/** Describes a call that is over, and ends its part of the request's span. */
export function traceCall(record: AnyRecord): void {
  const { span } = record;
  if (span === undefined) return;
  if (!span.isSampled) return span.end();
  span.set({
    "tollgate.workspace_id": record.workspaceId,
    "tollgate.protocol": record.protocol,
    "tollgate.model": record.model,
    "tollgate.stream": record.stream,
    "tollgate.status": record.status,
    "tollgate.error_code": record.errorCode ?? undefined,
    "tollgate.attempts": record.attempts.length,
    "tollgate.cost_usd": Number(record.costNano) / 1e9,
  });
  // A refusal of what the caller sent is no failure of ours.
  const isFailed = record.status === "failed" && record.httpStatus >= 500;
  span.end(isFailed ? (record.errorCode ?? "failed") : undefined);
}
