/**
 * One try of a delivery: fresh signature, the address checked and pinned by the sender, the outcome written under the lease.
 * HOOK-01 to HOOK-06; docs/tasks.md.
 */
import { GatewayError, reasonOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { Span } from "../../base/tracing.ts";
import { isTransient, retryWhileAway, settleRetryMs } from "../../storage/index.ts";
import { readSigningSecret, type Secrets } from "../../tenancy/index.ts";
import type { TaskServices } from "../engine.ts";
import { readTask } from "../read.ts";
import { beginCallback } from "../trace.ts";
import { isLeaseValid } from "../local-lease.ts";
import type { Task } from "../types.ts";
import { NotSentError, retryAfterMsOf } from "../../upstream/index.ts";
import { eventText } from "./events.ts";
import { keepText, noteTry, type ClaimedDelivery, type TryResult } from "./outbox.ts";
import { nextStep, type NextStep, type Outcome } from "./schedule.ts";
import type { SendCallback, CallbackRequest } from "./sender.ts";
import { signedHeaders } from "../../base/signature.ts";

/** Points at which a test may stop the process. */
export type CallbackPoint = "callback.claimed" | "callback.sent" | "callback.noted";

export interface DelivererServices extends Pick<
  TaskServices,
  "database" | "clock" | "log" | "tracer"
> {
  readonly secrets: Pick<Secrets, "signingSecret" | "unseal">;
  /** Called after each try, with the next state of the delivery and the duration of the try. */
  readonly onTry?: ((became: NextStep["status"], durationMs: number) => void) | undefined;
  readonly send: SendCallback;
  /** Renders a task as `GET /v1/tasks/{id}` does: the event's `data`. */
  readonly render: (task: Task) => unknown;
  /** Milliseconds that a receiver may take to answer. */
  readonly timeoutMs: number;
  /** From 0 to 1; Math.random if absent. */
  readonly random?: (() => number) | undefined;
  /** Tests stop the process here. */
  readonly at?: ((point: CallbackPoint) => void | Promise<void>) | undefined;
}

const errorCharactersMax = 500;

/** Nothing is sent, and a retry would not change that. */
const unsendable = (error: string): Outcome => ({ httpStatus: null, error, retry: false });

/** The gateway itself ended the try. */
const cut: Outcome = {
  httpStatus: null,
  error: "The gateway was stopped during this try.",
  retry: true,
};
const internalError: Outcome = {
  httpStatus: null,
  error: "The callback could not be made; the gateway's log says why.",
  retry: true,
};

/** The secrets that sign for the workspace now, or a sentence that says why there are none. */
async function secretsOf(
  services: DelivererServices,
  workspaceId: string,
): Promise<readonly string[] | string> {
  try {
    const signing = await readSigningSecret(services, workspaceId);
    if (!signing.enabled) {
      return "Callbacks of this workspace are not signed, and unsigned ones are not sent.";
    }
    return signing.previous === null ? [signing.secret] : [signing.secret, signing.previous.secret];
  } catch (error) {
    if (error instanceof GatewayError && error.code === "not_found") {
      return "The workspace does not exist any more.";
    }
    throw error;
  }
}

/** The event's text: as it was first sent, else rendered from the task. Undefined if the task is gone. */
async function textOf(
  services: DelivererServices,
  delivery: ClaimedDelivery,
): Promise<string | undefined> {
  if (delivery.text !== null) return delivery.text;
  const task = await readTask(services.database, delivery.workspaceId, delivery.taskId ?? "");
  return task && eventText(delivery, services.render(task));
}

async function send(
  services: DelivererServices,
  request: CallbackRequest,
): Promise<Outcome | undefined> {
  try {
    const { status, headers = {} } = await services.send(request);
    const retryAfterMs = retryAfterMsOf(headers, services.clock.now());
    return { httpStatus: status, error: null, retry: true, retryAfterMs };
  } catch (error) {
    if (error instanceof NotSentError) return undefined;
    if (request.signal.aborted) return cut;
    const message = reasonOf(error);
    return { httpStatus: null, error: message.slice(0, errorCharactersMax), retry: true };
  }
}

/** The outcome of the try; undefined if it was not made because another process may have taken the delivery over. */
async function outcomeOf(
  services: DelivererServices,
  delivery: ClaimedDelivery,
  signal: AbortSignal,
): Promise<Outcome | undefined> {
  const { database, clock, timeoutMs } = services;
  const secrets = await secretsOf(services, delivery.workspaceId);
  if (typeof secrets === "string") return unsendable(secrets);
  const text = await textOf(services, delivery);
  if (text === undefined) return unsendable("The task does not exist any more.");
  if (delivery.text === null && !(await keepText(database, delivery, text))) return undefined;
  const { id: eventId, attempt, url } = delivery;
  const headers = signedHeaders({ eventId, text, attempt, nowMs: clock.now() }, secrets);
  const owner = delivery.workspaceId;
  const maySend = () => isLeaseValid(delivery.localLease);
  return send(services, { url, headers, body: text, owner, timeoutMs, maySend, signal });
}

/**
 * Tries a claimed delivery once and writes what follows. If the database fails, a process that finds the lease
 * expired sends it again, with the same event id.
 */
export async function tryOnce(
  services: DelivererServices,
  delivery: ClaimedDelivery,
  signal: AbortSignal,
): Promise<void> {
  const { database, clock, log, random = Math.random } = services;
  const span = beginCallback(services.tracer, delivery);
  await services.at?.("callback.claimed");
  const startedAt = new Date(clock.now());
  const startedMs = performance.now();
  const outcome = await outcomeOf(services, delivery, signal).catch((error: unknown) => {
    if (isTransient(error)) {
      span?.end("database_unavailable");
      throw error;
    }
    log.error({ err: error, event: delivery.id }, "a callback could not be made");
    return internalError;
  });
  endSpan(span, outcome);
  if (outcome === undefined) return;
  await services.at?.("callback.sent");
  const failures = delivery.attempt - delivery.attemptsBefore;
  const step: NextStep =
    outcome === cut
      ? { status: "pending", pauseMs: 0 }
      : nextStep(outcome, delivery.type, failures, random());
  const durationMs = performance.now() - startedMs;
  services.onTry?.(step.status, durationMs);
  const result = { startedAt, durationMs, outcome, step, counts: outcome !== cut };
  const held = await retryWhileAway(settleRetryMs, () =>
    noteTry(database, delivery, result, clock.now()),
  );
  await services.at?.("callback.noted");
  report(log, delivery, result, held);
}

/** Ends a try's span; without an outcome another process makes the try. */
function endSpan(span: Span | undefined, outcome: Outcome | undefined): void {
  const status = outcome?.httpStatus ?? undefined;
  span?.set({ "http.response.status_code": status });
  const isGood = outcome === undefined || (status !== undefined && status >= 200 && status < 300);
  span?.end(isGood ? undefined : String(status ?? "unreachable"));
}

/** Logs the try with the host only: the full address may contain a secret of the receiver. */
function report(log: Log, delivery: ClaimedDelivery, { outcome, step }: TryResult, held: boolean) {
  const { id: event, workspaceId: workspace, host, attempt } = delivery;
  const fields = {
    event,
    workspace,
    host,
    attempt,
    status: outcome.httpStatus,
    error: outcome.error,
  };
  if (!held) log.info(fields, "a callback was tried after another process had taken it over");
  else if (step.status === "failed") log.warn(fields, "a callback is given up");
  else if (step.status === "pending") log.info(fields, "a callback failed and will be tried again");
}
