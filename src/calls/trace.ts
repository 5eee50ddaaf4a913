/**
 * The span attributes of a request's call. Models and tokens are on the attempts (attempts/trace.ts), so that sums over spans count
 * each once. docs/monitoring.md.
 */
import { sharedParts } from "../base/shared-parts.ts";
import type { AnyRecord } from "./record.ts";

/** The attributes that calls of one kind share. */
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

/** Describes an ended call, and ends its part of the request's span. */
export function traceCall(record: AnyRecord): void {
  const { span } = record;
  if (span === undefined) return;
  if (!span.isSampled) return span.end();
  const { model, protocol, stream, status, errorCode, attempts } = record;
  span.share(partOf(model, protocol, stream, status, errorCode, attempts.length));
  span.add("tollgate.workspace_id", record.workspaceId);
  span.add("tollgate.cost_usd", Number(record.costNano) / 1e9);
  // A refusal of the caller's request is not a failure of the gateway.
  const isFailed = status === "failed" && record.httpStatus >= 500;
  span.end(isFailed ? (errorCode ?? "failed") : undefined);
}
