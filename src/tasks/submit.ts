/**
 * Accepting a task: everything that can refuse it, then key, hold and row in one transaction.
 * Spec: "POST /v1/tasks"; design section 6; T57, T81.
 */
import { newId } from "../base/ids.ts";
import { noteSentences } from "../base/notes.ts";
import { refusalError, reserveIn } from "../ledger/index.ts";
import { expirySeconds, mediaAddresses, type MediaRequest } from "../media/index.ts";
import { assignInputs, type Queryable } from "../storage/index.ts";
import { checkAddress } from "../upstream/index.ts";
import type { TaskServices } from "./engine.ts";
import { AlreadyClaimedError, claimKey, findClaimed, type KeysUnderWay } from "./idempotency.ts";
import { notesAt, prepareMedia, type PreparedMedia } from "./prepare.ts";
import { readTask } from "./read.ts";
import { insertRow, storedPlan } from "./rows.ts";
import type { SubmitInput, SubmitResult, Task } from "./types.ts";

/** The hold of a task outlives its deadline by far: it ends with the task, never by its lease. */
const leaseSlackMs = 30 * 24 * 60 * 60 * 1000;

/** Accepts a task, or finds the one its idempotency key has made. @throws GatewayError what refuses it. */
export async function submitTask(
  services: TaskServices,
  underWay: KeysUnderWay,
  input: SubmitInput,
): Promise<SubmitResult> {
  await services.at("submit.begin");
  const { idempotency: claim } = input;
  if (claim === undefined) return { task: await accept(services, input), replayed: false };
  const { workspaceId } = input.caller;
  const holder = { workspaceId, claim };
  return underWay.alone(holder, async () => {
    const known = await replayed(services, holder);
    if (known) return { task: known, replayed: true };
    try {
      return { task: await accept(services, input), replayed: false };
    } catch (error) {
      if (!(error instanceof AlreadyClaimedError)) throw error;
      const other = await replayed(services, holder);
      if (!other) throw error;
      return { task: other, replayed: true };
    }
  });
}

async function replayed(
  { database, clock }: TaskServices,
  holder: Parameters<typeof findClaimed>[1],
): Promise<Task | undefined> {
  const id = await findClaimed(database, holder, clock.now());
  return id === undefined ? undefined : readTask(database, holder.workspaceId, id);
}

async function accept(services: TaskServices, input: SubmitInput): Promise<Task> {
  const prepared = prepare(services, input);
  await checkAddresses(services, input, prepared.request);
  const nowMs = services.clock.now();
  const id = newId("task", nowMs);
  await services.database.transaction(async (tx) => {
    const { workspaceId } = input.caller;
    // The key first: whoever waits for it holds nothing that others need.
    if (input.idempotency) await claimKey(tx, { workspaceId, claim: input.idempotency }, id, nowMs);
    await reserve(services, tx, { input, prepared, id, nowMs });
    await insert(tx, { input, prepared, id, nowMs });
    await keepUploads(tx, input, id);
    await services.at("submit.accepted");
  });
  await services.at("submit.committed");
  const task = await readTask(services.database, input.caller.workspaceId, id);
  if (!task) throw new Error("a task that was just accepted is not there");
  return task;
}

/** Uploads end with the task that they were sent for. */
async function keepUploads(tx: Queryable, { caller, input }: SubmitInput, taskId: string) {
  const uploads = [...input.images, ...(input.mask ? [input.mask] : [])];
  if (uploads.length === 0) return;
  const names = uploads.map(({ name }) => name);
  await assignInputs(tx, names, { workspaceId: caller.workspaceId, taskId });
}

function prepare(services: TaskServices, { caller, model, input }: SubmitInput): PreparedMedia {
  const catalog = services.catalog();
  const prepared = prepareMedia({ catalog, health: services.health, caller, model, input });
  const notes = notesAt(catalog, prepared, prepared.plan.offers[0]!, input.fields);
  return { ...prepared, notes };
}

/** Where callbacks go and where material comes from. Nothing has been reserved yet: a bad address costs nothing (T77). */
async function checkAddresses(
  { allowPrivateAddresses: allowPrivate }: TaskServices,
  input: SubmitInput,
  request: MediaRequest,
): Promise<void> {
  if (input.webhookUrl !== undefined)
    await checkAddress(input.webhookUrl, { https: true, allowPrivate, param: "webhook_url" });
  for (const { url, param } of mediaAddresses(request))
    await checkAddress(url, { https: false, allowPrivate, param });
}

interface Accepted {
  readonly input: SubmitInput;
  readonly prepared: PreparedMedia;
  readonly id: string;
  readonly nowMs: number;
}

const expiresAt = ({ prepared, nowMs }: Accepted) => nowMs + expirySeconds(prepared.request) * 1000;

async function reserve(services: TaskServices, tx: Queryable, accepted: Accepted): Promise<void> {
  const { input, prepared, id, nowMs } = accepted;
  const { workspaceId, keyId, keyRotation } = input.caller;
  const result = await reserveIn(
    tx,
    {
      id,
      workspaceId,
      keyId,
      keyRotation,
      amountNano: prepared.boundNano,
      leaseMs: expiresAt(accepted) - nowMs + leaseSlackMs,
      kind: "task",
    },
    nowMs,
    services.queue,
  );
  const refusal = refusalError(result, prepared.boundNano);
  if (refusal) throw refusal;
}

async function insert(tx: Queryable, accepted: Accepted): Promise<void> {
  const { input, prepared, id, nowMs } = accepted;
  const { caller } = input;
  const row = {
    workspace_id: caller.workspaceId,
    id,
    key_id: caller.keyId,
    member_id: caller.memberId,
    kind: prepared.kind,
    family: prepared.family,
    model: prepared.model,
    form: input.input.form,
    request: JSON.stringify(prepared.request),
    notes: JSON.stringify(noteSentences(prepared.notes)),
    plan: JSON.stringify(storedPlan(prepared.plan)),
    reserved_nano: prepared.boundNano,
    webhook_url: input.webhookUrl ?? null,
    due_at: new Date(nowMs),
    expires_at: new Date(expiresAt(accepted)),
    created_at: new Date(nowMs),
    updated_at: new Date(nowMs),
  };
  await insertRow(tx, row);
}
