/**
 * Submits a task: all checks first, then key, hold and row in one transaction (accept.ts).
 * Requirements: TASK; docs/tasks.md; T57, T81.
 */
import { dayMs } from "../base/durations.ts";
import { toGatewayError, type ErrorCode } from "../base/errors.ts";
import { noteSentences, type Note } from "../base/notes.ts";
import { newId } from "../base/ids.ts";
import { expirySeconds, mediaAddresses, type MediaRequest } from "../media/index.ts";
import type { MediaPlan } from "../routing/index.ts";
import { retryWhileAway, reserveRetryMs } from "../storage/index.ts";
import { checkAllAddresses } from "../upstream/index.ts";
import type { Acceptance, Submission } from "./accept.ts";
import type { TaskServices } from "./engine.ts";
import { AlreadyClaimedError, findClaimed, keyOutlived, type KeyLocks } from "./idempotency.ts";
import { keepMaterial } from "./material.ts";
import { callColumns, notesAt, prepareMedia, type PreparedMedia } from "./prepare.ts";
import { readTask } from "./read.ts";
import { toTask } from "./rows.ts";
import type { SubmitInput, SubmitResult, Task } from "./types.ts";

/** The lease of a task's hold outlasts the deadline by this, so that the hold ends with the task and never by its lease. */
const leaseSlackMs = 30 * dayMs;

/** The dependencies of a submission, beside the services of the engine. */
export interface Submitting {
  readonly services: TaskServices;
  readonly acceptance: Acceptance;
  readonly underWay: KeyLocks;
}

/** Accepts a task, or returns the one that its idempotency key has made. @throws GatewayError with the reason of a refusal. */
export async function submitTask(
  submitting: Submitting,
  input: SubmitInput,
): Promise<SubmitResult> {
  const { services, underWay } = submitting;
  await services.at("submit.begin");
  const { idempotency: claim } = input;
  if (claim === undefined) return { task: await accept(submitting, input), replayed: false };
  const { workspaceId } = input.caller;
  const holder = { workspaceId, claim };
  return underWay.exclusively(holder, async () => {
    const known = await replayed(services, holder);
    if (known) return { task: known, replayed: true };
    try {
      return { task: await accept(submitting, input), replayed: false };
    } catch (error) {
      if (!(error instanceof AlreadyClaimedError)) throw error;
      const other = await replayed(services, holder);
      if (!other) throw error;
      return { task: other, replayed: true };
    }
  });
}

function replayed(
  { database, clock }: TaskServices,
  holder: Parameters<typeof findClaimed>[1],
): Promise<Task | undefined> {
  return retryWhileAway(reserveRetryMs, async () => {
    const id = await findClaimed(database, holder, clock.now());
    if (id === undefined) return undefined;
    const task = await readTask(database, holder.workspaceId, id);
    if (task === undefined) throw keyOutlived();
    return task;
  });
}

async function accept({ services, acceptance }: Submitting, given: SubmitInput): Promise<Task> {
  const change = await given.change?.();
  const input = { ...given, ...change };
  const asked = prepare(services, input, change?.notes ?? []);
  await checkAddresses(services, input, asked.request);
  const material = await keepMaterial(services, input.caller.workspaceId, asked.request);
  const prepared = { ...asked, request: material.request };
  const nowMs = services.clock.now();
  const id = newId("task", nowMs);
  const files = material.drafts.names;
  const submission = submissionOf({ input, prepared, id, nowMs, files, hooks: change?.hooks });
  try {
    const row = await acceptance.accept(submission);
    await services.at("submit.committed");
    return toTask(row);
  } catch (error) {
    if (isCertainRefusal(error)) await material.drafts.discard();
    throw error;
  }
}

/** Errors after which a task may exist anyway: its files must stay, and the sweeper decides about them later. */
const uncertain: ReadonlySet<ErrorCode> = new Set(["internal_error", "database_unavailable"]);

/** True if an error means that there is certainly no task, so that its files may be deleted. */
export const isCertainRefusal = (error: unknown): boolean =>
  error instanceof AlreadyClaimedError || !uncertain.has(toGatewayError(error).code);

function prepare(
  services: TaskServices,
  { caller, model, input }: SubmitInput,
  changes: readonly Note[],
): PreparedMedia {
  const { health } = services;
  const catalog = services.catalog();
  const prepared = prepareMedia({ catalog, health, caller, model, input, waits: true });
  const notes = prepared.plan.offers.map((offer) => [
    ...changes,
    ...notesAt(catalog, prepared, offer, input.fields),
  ]);
  return { ...prepared, notes: notes[0]!, plan: withNotes(prepared.plan, notes) };
}

/** Adds to each offer of a plan the changes of its provider, if these are not the same at all offers. */
function withNotes(plan: MediaPlan, notes: readonly (readonly Note[])[]): MediaPlan {
  const told = notes.map(noteSentences);
  if (told.every((sentences) => sentences.join("\n") === told[0]!.join("\n"))) return plan;
  return { ...plan, offers: plan.offers.map((offer, at) => ({ ...offer, notes: told[at] })) };
}

/** Checks the addresses of callbacks and material. Nothing has been reserved yet: a bad address costs nothing (T77). */
function checkAddresses(
  { allowPrivateAddresses: allowPrivate }: TaskServices,
  { caller, webhookUrl }: SubmitInput,
  request: MediaRequest,
): Promise<void> {
  const rule = { allowPrivate, owner: caller.workspaceId };
  const callback = {
    ...rule,
    https: true,
    param: "webhook_url",
    code: "invalid_webhook_url",
  } as const;
  return checkAllAddresses([
    ...(webhookUrl === undefined ? [] : [{ ...callback, url: webhookUrl }]),
    ...mediaAddresses(request).map((address) => ({ ...rule, https: false, ...address })),
  ]);
}

interface Asked {
  readonly input: SubmitInput;
  readonly prepared: PreparedMedia;
  readonly id: string;
  readonly nowMs: number;
  /** Pictures that were moved out of the request. */
  readonly files: readonly string[];
  readonly hooks: readonly object[] | undefined;
}

function submissionOf({ input, prepared, id, nowMs, files, hooks }: Asked): Submission {
  const { caller, input: media } = input;
  const { workspaceId, keyId, keyRotation } = caller;
  const expiresMs = expirySeconds(prepared.request) * 1000;
  const now = new Date(nowMs).toISOString();
  return {
    claim: input.idempotency,
    uploads: [
      ...[...media.images, ...(media.mask ? [media.mask] : [])].map(({ name }) => name),
      ...files,
    ],
    hold: {
      id,
      workspaceId,
      keyId,
      keyRotation,
      amountNano: prepared.boundNano,
      leaseMs: expiresMs + leaseSlackMs,
      kind: "task",
    },
    row: {
      ...callColumns(caller, media.form, {
        ...prepared,
        traceparent: input.traceparent,
        tags: input.tags,
        hooks,
      }),
      id,
      // As it was checked. Other parsers, such as that of the column `host`, find no host in `https:host/path`.
      webhook_url: input.webhookUrl === undefined ? null : new URL(input.webhookUrl).href,
      due_at: now,
      expires_at: new Date(nowMs + expiresMs).toISOString(),
      created_at: now,
      updated_at: now,
    },
  };
}
