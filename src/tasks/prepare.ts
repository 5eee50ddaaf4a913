/**
 * Checks an image or video call before money is reserved: model, fields, plan, upper bound.
 * Requirements: TASK, IMG, EDIT1, EDIT2; docs/tasks.md; T57.
 */
import { checkBound, type CostField } from "../base/cost-bound.ts";
import { GatewayError, refusal, type ErrorCode } from "../base/errors.ts";
import { larger, type NanoUsd } from "../base/money.ts";
import { inRequestOrder, noteSentences, type Note } from "../base/notes.ts";
import type { Tags } from "../base/tags.ts";
import { storableText } from "../base/text.ts";
import type { Catalog, MediaOffer } from "../catalog/index.ts";
import {
  mediaBound,
  priceMedia,
  readMedia,
  type MediaForm,
  type MediaInput,
  type MediaRequest,
} from "../media/index.ts";
import {
  mediaModel,
  resolveModelId,
  planMedia,
  type Health,
  type MediaPlan,
} from "../routing/index.ts";
import { textOf } from "../storage/index.ts";
import { routingScope, type Caller } from "../tenancy/index.ts";
import { droppedFieldNotes, mediaDialect } from "../upstream/index.ts";
import { storedPlan } from "./rows.ts";
import type { Task } from "./types.ts";

/** The endpoint of each form of an image or video call, by the names in `GET /v1/models`. */
export const mediaEntryPoints = {
  tasks: "tasks",
  videos: "videos_generations",
  images: "images_generations",
  edits: "images_edits",
} as const satisfies Readonly<Record<MediaForm, string>>;

/** A checked call; only the balance, the queue limits and its key can still refuse it. */
export interface PreparedMedia {
  readonly model: string;
  readonly kind: Task["kind"];
  readonly family: Task["family"];
  readonly request: MediaRequest;
  /** The changes by the family, in the order of the caller's fields; without the fields that a provider drops. */
  readonly notes: readonly Note[];
  readonly plan: MediaPlan;
  /** The cost at the most expensive of the plan's offers. */
  readonly boundNano: bigint;
}

interface PrepareInput {
  readonly catalog: Catalog;
  readonly health: Health;
  readonly caller: Caller;
  /** As the caller wrote it, with its suffix. */
  readonly model: string;
  readonly input: MediaInput;
  /** Passed to the plan: a task may wait for a provider that is failing now. */
  readonly waits?: boolean;
  /** The reason why an offer cannot serve the request, beside the limits of its dialect. */
  readonly exclusion?: (offer: MediaOffer, request: MediaRequest) => string | undefined;
}

/** Prepares a call. @throws GatewayError 400, 403 or 404 with the reason of the refusal */
export function prepareMedia({
  catalog,
  health,
  caller,
  model,
  input,
  ...rest
}: PrepareInput): PreparedMedia {
  const target = {
    catalog,
    parsed: resolveModelId(model, catalog),
    scope: routingScope(caller),
    entryPoint: mediaEntryPoints[input.form],
  };
  const found = mediaModel(target);
  const { request, notes } = readMedia(found.family, input);
  const usage = mediaBound(request);
  const priced = pricing((offer) => {
    refuseUnfit(catalog, request, offer);
    return priceMedia(offer.price, usage);
  }, target.parsed.provider);
  const plan = priced.orRefusal(() =>
    planMedia({
      ...target,
      model: found,
      bound: priced.bound,
      random: Math.random,
      health,
      waits: rest.waits,
      exclusion: (offer) => {
        const { dialect } = catalog.providers.get(offer.provider)!;
        if (!mediaDialect(dialect, found.kind)) return `its dialect has no ${found.kind}s`;
        return rest.exclusion?.(offer, request) ?? priced.exclusion(offer);
      },
    }),
  );
  const boundNano = boundAt(plan, request);
  checkBound(boundNano, () => leastOf(request, (less) => boundAt(plan, less)));
  return {
    model: found.id,
    kind: found.kind,
    family: found.family,
    request,
    notes,
    plan,
    boundNano,
  };
}

/** @throws GatewayError if this offer's model would make something else than requested */
function refuseUnfit(catalog: Catalog, request: MediaRequest, offer: MediaOffer): void {
  const { dialect } = catalog.providers.get(offer.provider)!;
  const unfit = mediaDialect(dialect, request.kind)?.refuses?.(request, offer.upstreamModel);
  if (unfit) throw refusal("unsupported_value", unfit.param, unfit.why);
}

/** The cost of a request at the most expensive of the plan's offers. */
function boundAt({ offers }: MediaPlan, request: MediaRequest): NanoUsd {
  const usage = mediaBound(request);
  return offers.map((offer) => priceMedia(offer.price, usage)).reduce(larger);
}

/** The field that a caller can lower to lower the cost. */
const leastOf = (
  request: MediaRequest,
  bound: (less: MediaRequest) => NanoUsd,
): readonly CostField[] =>
  request.kind === "video"
    ? [{ field: "duration", leastNano: () => bound({ ...request, durationSeconds: 1 }) }]
    : [{ field: "n", leastNano: () => bound({ ...request, n: 1 }) }];

/**
 * The cost of a request at offers. Offers without a price for it, or whose model cannot make it, are excluded. If that leaves no offer,
 * or excludes the provider that the request names, the error says why, and not that no provider may serve the model.
 */
function pricing(bound: (offer: MediaOffer) => NanoUsd, named: string | undefined) {
  let refused: GatewayError | undefined;
  return {
    bound,
    exclusion(offer: MediaOffer): string | undefined {
      try {
        bound(offer);
        return undefined;
      } catch (error) {
        if (!(error instanceof GatewayError)) throw error;
        if (named === undefined || named === offer.provider) refused ??= error;
        return error.message;
      }
    },
    orRefusal<Made>(plan: () => Made): Made {
      try {
        return plan();
      } catch (error) {
        const isNobody = error instanceof GatewayError && nobody.has(error.code);
        throw isNobody ? (refused ?? error) : error;
      }
    },
  };
}

const nobody: ReadonlySet<ErrorCode> = new Set(["model_not_allowed", "provider_not_found"]);

/** The changes to a request at this offer's provider, in the order of the caller's fields. */
export function notesAt(
  catalog: Catalog,
  { notes, request }: PreparedMedia,
  offer: MediaOffer,
  fields: object,
): readonly Note[] {
  const { dialect } = catalog.providers.get(offer.provider)!;
  const lost = droppedFieldNotes(dialect, request, offer.upstreamModel);
  return lost.length === 0 ? notes : inRequestOrder([...notes, ...lost], fields);
}

/** The columns of a task that come from its caller and its plan. */
export const callColumns = (
  { workspaceId, keyId, memberId }: Caller,
  form: MediaForm,
  prepared: PreparedMedia & {
    readonly traceparent?: string | undefined;
    readonly tags?: Tags | undefined;
    readonly hooks?: readonly object[] | undefined;
  },
) => ({
  workspace_id: workspaceId,
  key_id: keyId,
  member_id: memberId,
  kind: prepared.kind,
  family: prepared.family,
  model: prepared.model,
  form,
  request: JSON.stringify(prepared.request),
  notes: JSON.stringify(noteSentences(prepared.notes)),
  plan: JSON.stringify(storedPlan(prepared.plan, prepared)),
  reserved_nano: prepared.boundNano,
  tags: prepared.tags?.tags === undefined ? null : textOf(prepared.tags.tags),
  end_user: prepared.tags?.endUser === undefined ? null : storableText(prepared.tags.endUser),
});
