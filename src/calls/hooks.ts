/**
 * The operator's hooks in a call. Before hooks are asked once the caller and the bounds of the body are known, before any
 * reservation. After hooks are notified when the charge is settled. Without configured hooks none of this runs. docs/hooks.md.
 */
import type { Note } from "../base/notes.ts";
import type { ByteLease } from "../base/byte-budget.ts";
import {
  answerCharactersMax,
  type AskedCall,
  type ChangedCall,
  type EndedCall,
  type Hooks,
  type AnswerText,
} from "../hooks/index.ts";
import type { TextRoom } from "../protocols/index.ts";
import type { AnyCall, CallContext } from "./context.ts";
import { fallbacksFieldOf } from "./fallbacks.ts";
import type { ImageCall } from "./image-context.ts";
import type { Keeper } from "./keep.ts";
import { textEntryPoints } from "./prepare.ts";
import type { AnyRecord, CallRecord, ImageRecord } from "./record.ts";

const endpointOf = ({ protocol }: Pick<AnyCall, "protocol">) =>
  protocol === "embeddings" ? protocol : textEntryPoints[protocol];

/** A call that hooks may change. */
interface Changeable<Call, Record> {
  /** The call as hooks left it, even if one of them refused it. */
  call: Call;
  readonly record: Record;
}

/** Asks the before hooks about a call, and applies their changes. @throws GatewayError `hook_refused`, `hook_failed` */
export async function askHooks(
  hooks: Hooks,
  run: Changeable<AnyCall, CallRecord> & { readonly keeper: Keeper | undefined },
): Promise<void> {
  const { call, record, keeper } = run;
  const change = (changed: ChangedCall): void => {
    keeper?.changed(changed.source);
    call.body.change(changed.source);
    record.notes = withChanges(call.changes, changed.notes);
    run.call = {
      ...call,
      model: changed.model ?? call.model,
      fallbackModels: changed.fallbackModels,
      changes: record.notes,
    };
  };
  const asking = hooks.before({
    ...call,
    body: call.body.value,
    source: call.body.source,
    endpoint: endpointOf(call),
    modelInBody: call.protocol !== "generate_content",
    fallbacksField: fallbacksFieldOf(call.protocol),
    noted: notedIn(record),
    refused: change,
  });
  const changed = asking && (await asking);
  if (changed !== undefined) change(changed);
}

/** Asks the hooks about an image call, whose fields they may change. @throws GatewayError */
export async function askImageHooks(
  hooks: Hooks,
  run: Changeable<ImageCall, ImageRecord>,
): Promise<void> {
  const { call, record } = run;
  const { input } = call;
  const change = (changed: ChangedCall): void => {
    record.notes = changed.notes;
    run.call = { ...call, ...mediaOf(call, changed), changes: changed.notes };
  };
  const asking = hooks.before({
    ...call,
    endpoint: record.protocol,
    stream: record.stream,
    body: mediaBody(call),
    modelInBody: true,
    about: { pictures: picturesOf(input) },
    noted: notedIn(record),
    refused: change,
  });
  const changed = asking && (await asking);
  if (changed !== undefined) change(changed);
}

/** The fields of a call and its model, by the caller's names. */
export const mediaBody = ({ model, input }: Pick<ImageCall, "model" | "input">) => ({
  ...(model !== undefined && { model }),
  ...input.fields,
});

/** The information about uploaded pictures for hooks: their media types and sizes in bytes. */
export const picturesOf = ({ images, mask }: ImageCall["input"]) =>
  [...images, ...(mask ? [mask] : [])].map(({ mediaType, bytes }) => ({
    media_type: mediaType,
    bytes,
  }));

/** The model and fields from a changed body of images or videos. */
function mediaOf<Call extends Pick<ImageCall, "input">>(
  { input }: Call,
  { model, source }: ChangedCall,
): Pick<ImageCall, "model" | "input"> {
  const { model: _inBody, ...fields } = source.value;
  return { model, input: { ...input, fields } };
}

const notedIn =
  (record: AnyRecord): AskedCall["noted"] =>
  (outcome) =>
    (record.hooks ??= []).push(outcome);

/** Both lists, in the order in which they arose. */
export const withChanges = (
  changes: readonly Note[] | undefined,
  notes: readonly Note[],
): readonly Note[] => (changes === undefined ? notes : [...changes, ...notes]);

/** Records the answer if a hook or the cache needs it. */
export function recordAnswerText(context: CallContext, answerText: () => AnswerText): void {
  if (needsAnswerText(context)) context.record.answerText = answerText();
}

/** True if a hook is notified of the answer, or may be notified of a repeat of it from the cache. */
function needsAnswerText({ services: { hooks }, call }: CallContext): boolean {
  return call.caller.responseCache !== null || (hooks !== undefined && isNotified(hooks, call));
}

/** Limits the text of a stream kept for hooks: its bytes count in the call's lease. */
class AnswerTextRoom implements TextRoom {
  // One more character shows that the text was longer.
  readonly charactersMax = answerCharactersMax + 1;
  readonly #lease: ByteLease;
  #hasBegun = false;
  /** Bytes of the first frame, counted when the stream begins. */
  #bytes = 0;

  constructor(lease: ByteLease) {
    this.#lease = lease;
  }

  take(bytes: number): boolean {
    if (this.#hasBegun) return this.#lease.tryTake(bytes);
    this.#bytes += bytes;
    return true;
  }

  /** The stream has begun, and the request's bytes were returned to the budget. */
  began(): void {
    this.#hasBegun = true;
    this.#lease.add(this.#bytes);
  }
}

/** The room for the text of a call's stream; undefined if neither a hook nor the cache needs it. */
export const answerTextRoomOf = (context: CallContext): AnswerTextRoom | undefined =>
  needsAnswerText(context) ? new AnswerTextRoom(context.call.lease) : undefined;

/** True if a hook is notified of the end of such a call. */
export const isNotified = (hooks: Hooks, call: AnyCall): boolean =>
  hooks.notifies({ endpoint: endpointOf(call), caller: call.caller });

/** Notifies the after hooks of an ended call. */
export function notifyAfterHooks(
  hooks: Hooks,
  call: Pick<EndedCall, "caller" | "body" | "model">,
  record: CallRecord | ImageRecord,
): void {
  const { protocol } = record;
  const endpoint =
    protocol === "images_generations" || protocol === "images_edits"
      ? protocol
      : endpointOf({ protocol });
  hooks.after({
    ...call,
    tags: record.tags,
    id: record.id,
    endpoint,
    stream: record.stream,
    status: record.status,
    httpStatus: record.httpStatus,
    errorCode: record.errorCode,
    provider: record.provider,
    usage: record.metered?.usage,
    costNano: record.costNano,
    durationMs: record.durationMs,
    answer: record.answerText,
  });
}
