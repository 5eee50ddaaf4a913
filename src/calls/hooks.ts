/**
 * The operator's hooks on the way of a call: asked when the caller and the bounds of the body are known, and before anything is
 * reserved; told of it when its money is settled. Where no hook is configured nothing of this runs. docs/hooks.md.
 */
import type { Note } from "../base/notes.ts";
import type { ByteLease } from "../base/byte-budget.ts";
import {
  heardCharactersMax,
  type AskedCall,
  type ChangedCall,
  type EndedCall,
  type Hooks,
  type Said,
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
  /** As hooks left it, also where one of them refused it. */
  call: Call;
  readonly record: Record;
}

/** Puts a call before its hooks, and changes it as they say. @throws GatewayError `hook_refused`, `hook_failed` */
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

/** The same for an image call: its fields are what may change. @throws GatewayError */
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

/** The fields of a call with its model, as its caller named them. */
export const mediaBody = ({ model, input }: Pick<ImageCall, "model" | "input">) => ({
  ...(model !== undefined && { model }),
  ...input.fields,
});

/** What hooks see of uploaded pictures: that they are there. */
export const picturesOf = ({ images, mask }: ImageCall["input"]) =>
  [...images, ...(mask ? [mask] : [])].map(({ mediaType, bytes }) => ({
    media_type: mediaType,
    bytes,
  }));

/** The fields of a changed body of images or videos, and its model. */
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

/** Both, in the order in which they came about. */
export const withChanges = (
  changes: readonly Note[] | undefined,
  notes: readonly Note[],
): readonly Note[] => (changes === undefined ? notes : [...changes, ...notes]);

/** Remembers what was answered, where somebody hears of it. */
export function noteSaid(context: CallContext, said: () => Said): void {
  if (isHeard(context)) context.record.said = said();
}

/** A hook hears of what was answered, or may hear of its repeat from the cache. */
function isHeard({ services: { hooks }, call }: CallContext): boolean {
  return call.caller.responseCache !== null || (hooks !== undefined && heardBy(hooks, call));
}

/** The text of a stream that somebody hears of: it counts as its request does. */
class HeardText implements TextRoom {
  // One character more shows that there was more.
  readonly charactersMax = heardCharactersMax + 1;
  readonly #lease: ByteLease;
  #hasBegun = false;
  /** What came with the first frame. */
  #bytes = 0;

  constructor(lease: ByteLease) {
    this.#lease = lease;
  }

  take(bytes: number): boolean {
    if (this.#hasBegun) return this.#lease.tryTake(bytes);
    this.#bytes += bytes;
    return true;
  }

  /** The stream has begun, and the bytes of its request were given back. */
  began(): void {
    this.#hasBegun = true;
    this.#lease.add(this.#bytes);
  }
}

/** Where the text of a call's stream is kept; undefined where nobody hears of it. */
export const heardOf = (context: CallContext): HeardText | undefined =>
  isHeard(context) ? new HeardText(context.call.lease) : undefined;

/** Whether a hook hears of the end of such a call. */
export const heardBy = (hooks: Hooks, call: AnyCall): boolean =>
  hooks.hears({ endpoint: endpointOf(call), caller: call.caller });

/** Tells the hooks of a call that is over. */
export function tellHooks(
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
    answer: record.said,
  });
}
