/**
 * Spans of tasks: one per step, below the request that submitted the task, and one per try of a callback. They contain nothing
 * of the request's content, and only the host of a callback's address. docs/monitoring.md.
 */
import { providerAttributes, type KeyedCandidate } from "../attempts/index.ts";
import type { Span, Tracer } from "../base/tracing.ts";
import type { TaskServices } from "./engine.ts";
import type { Job } from "./rows.ts";
import type { ClaimedDelivery } from "./webhooks/outbox.ts";

/** Begins a step's span; undefined if nothing is traced. */
export function beginStep({ tracer }: TaskServices, job: Job, step: string): Span | undefined {
  const span = tracer?.start("client", `task ${step}`, job.traceparent);
  if (span?.isSampled === true)
    span.set({
      "tollgate.task_id": job.id,
      "tollgate.task_step": step,
      "tollgate.workspace_id": job.workspaceId,
      "tollgate.key_id": job.keyId,
      "tollgate.model": job.model,
    });
  return span;
}

/** Records the provider that a step asked, and its answer. */
export function traceAsked(
  { span, kind }: Job,
  { provider, offer, credential }: KeyedCandidate,
  answer: { readonly state: string; readonly outcome?: string; readonly status?: number },
): void {
  if (span?.isSampled !== true) return;
  span.set(providerAttributes(provider));
  span.set({
    "gen_ai.operation.name": "generate_content",
    "gen_ai.output.type": kind,
    "gen_ai.request.model": offer.upstreamModel,
    "http.response.status_code": answer.status,
    "tollgate.credential": credential.id,
    "tollgate.outcome": answer.outcome ?? answer.state,
    "error.type": failedStates.has(answer.state) ? (answer.outcome ?? answer.state) : undefined,
  });
}

const failedStates: ReadonlySet<string> = new Set([
  "not_taken",
  "failed",
  "refused",
  "unreachable",
  "missing",
]);

/** The `traceparent` for a step's request to its provider. */
export const traceparentFor = (job: Job, { provider }: KeyedCandidate): string | undefined =>
  job.span?.passedTo(provider.baseUrl);

/** The attributes of the receiver, by the conventions. Callbacks go by HTTPS only. */
function serverOf(address: string) {
  const { hostname, port } = new URL(address);
  return { "server.address": hostname, "server.port": Number(port || 443) };
}

/** Begins the span of a try of a callback. */
export function beginCallback(
  tracer: Tracer | undefined,
  delivery: ClaimedDelivery,
): Span | undefined {
  const span = tracer?.start("client", "callback", delivery.traceparent);
  if (span?.isSampled === true)
    span.set({
      "http.request.method": "POST",
      ...serverOf(delivery.url),
      "tollgate.event_id": delivery.id,
      "tollgate.event_type": delivery.type,
      "tollgate.workspace_id": delivery.workspaceId,
      "tollgate.task_id": delivery.taskId ?? undefined,
      "tollgate.attempt": delivery.attempt,
    });
  return span;
}
