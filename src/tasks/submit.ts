/**
 * Accepting a task: everything that can refuse it, then key, hold and row in one transaction.
 * Spec: "POST /v1/tasks"; design section 6; T57, T81.
 */
import { newId } from "../base/ids.ts";
import { inRequestOrder, noteSentences, type Note } from "../base/notes.ts";
import { refusalError, reserveIn } from "../ledger/index.ts";
import {
  expirySeconds,
  mediaAddresses,
  mediaBound,
  priceMedia,
  readMedia,
  type MediaForm,
  type MediaRequest,
} from "../media/index.ts";
import { mediaModel, parseModelId, planMedia, type MediaPlan } from "../routing/index.ts";
import { assignInputs, type Queryable } from "../storage/index.ts";
import { routingScope } from "../tenancy/index.ts";
import { checkAddress, lostFields, mediaDialect } from "../upstream/index.ts";
import type { TaskServices } from "./engine.ts";
import { AlreadyClaimedError, claimKey, findClaimed, type KeysUnderWay } from "./idempotency.ts";
import { readTask } from "./read.ts";
import { storedPlan } from "./rows.ts";
import type { SubmitInput, SubmitResult, Task } from "./types.ts";

/** The hold of a task outlives its deadline by far: it ends with the task, never by its lease. */
const leaseSlackMs = 30 * 24 * 60 * 60 * 1000;

const entryPoints: Readonly<Record<MediaForm, string>> = {
  tasks: "tasks",
  videos: "videos_generations",
  images: "images_generations",
  edits: "images_edits",
};

/** A task that nothing but money, the queue and its key can refuse any more. */
interface Prepared {
  readonly model: string;
  readonly kind: Task["kind"];
  readonly family: Task["family"];
  readonly request: MediaRequest;
  readonly notes: readonly Note[];
  readonly plan: MediaPlan;
  readonly boundNano: bigint;
}

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

function prepare(services: TaskServices, { caller, model, input }: SubmitInput): Prepared {
  const catalog = services.catalog();
  const target = {
    catalog,
    parsed: parseModelId(model),
    scope: routingScope(caller),
    entryPoint: entryPoints[input.form],
  };
  const found = mediaModel(target);
  const { request, notes } = readMedia(found.family, input);
  const usage = mediaBound(request);
  const dialectOf = (provider: string) => catalog.providers.get(provider)?.dialect;
  const plan = planMedia({
    ...target,
    model: found,
    bound: (offer) => priceMedia(offer.price, usage),
    random: Math.random,
    exclusion: ({ provider }) =>
      mediaDialect(dialectOf(provider)!, found.kind)
        ? undefined
        : `its dialect has no ${found.kind}s`,
  });
  const [first] = plan.offers;
  const lost = lostFields(dialectOf(first!.provider)!, request, first!.upstreamModel);
  return {
    model: found.id,
    kind: found.kind,
    family: found.family,
    request,
    notes: inRequestOrder([...notes, ...lost], input.fields),
    plan,
    boundNano: plan.offers
      .map((offer) => priceMedia(offer.price, usage))
      .reduce((left, right) => (left > right ? left : right)),
  };
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
  readonly prepared: Prepared;
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
    plan: JSON.stringify(storedPlan(prepared.plan.offers, prepared.plan.explanation)),
    reserved_nano: prepared.boundNano,
    webhook_url: input.webhookUrl ?? null,
    due_at: new Date(nowMs),
    expires_at: new Date(expiresAt(accepted)),
    created_at: new Date(nowMs),
    updated_at: new Date(nowMs),
  };
  const columns = Object.keys(row);
  const places = columns.map((_, index) => `$${index + 1}`);
  await tx.query(
    `insert into tasks (${columns.join(", ")}) values (${places.join(", ")})`,
    Object.values(row),
  );
}
