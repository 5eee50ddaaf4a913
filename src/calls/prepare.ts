/**
 * Runs every check of a text call that needs no database, and collects the data for its next steps. These are model, suffix, scope,
 * entry point, fields, routes, upper bound. Requirements: TXT, ALLOW, ROUTE.
 */
import { inRequestOrder, type Note } from "../base/notes.ts";
import {
  checkParameters,
  estimateInputTokens,
  modelAt,
  refusedParameters,
  removeUnsupported,
  vendorQuirks,
  type Catalog,
  type Offer,
  type Provider,
  type TextModel,
  type TextOffer,
} from "../catalog/index.ts";
import {
  codecs,
  routeOf,
  upstreamCodecs,
  type ProtocolName,
  type Route,
} from "../protocols/index.ts";
import { plan, resolveModelId, type Plan } from "../routing/index.ts";
import type { TextCall, TextServices } from "./context.ts";
import type { CallRecord } from "./record.ts";
import { boundOf, reservedOutput } from "./bound.ts";
import { planWithFallbacks } from "./fallbacks.ts";
import { bodyFor, type FilteredBody } from "./filtered-body.ts";
import { conversationOf } from "./conversation.ts";
import { isClaudeInChat } from "./hour-writes.ts";
import { markingAt } from "./marks-sessions.ts";
import { modelLimitsOf, type ModelLimits } from "./model-limits.ts";
import { planBasis } from "./plan-basis.ts";
import { checkTextAddresses } from "./text-addresses.ts";
import { usable } from "./usable.ts";
import type { WrittenRequest } from "./write-body.ts";

/** One provider's offer; candidates are in the order of the plan. */
export interface Candidate<Kind extends Offer = Offer> {
  readonly provider: Provider;
  readonly offer: Kind;
  /** The model's id. */
  readonly model: string;
  /** True if its context is shorter than that of another offer of the requested model. */
  readonly isShorter?: boolean;
  /** True if an offer with a longer context is left out for its health. */
  readonly isLongerLeftOut?: boolean;
  /** `prompt_cache_key`, else the end-user id, else the session's header, else the conversation (conversation.ts). */
  readonly session?: string | undefined;
  /** The route to this upstream and back, made on first use. @throws GatewayError `unsupported_content` */
  route(): Route;
  /** Reserved output tokens of one answer: the requested number, or the model's default reservation. 0 for calls without output. */
  readonly reservedOutputTokens: number;
  /** True if its cache writes are for an hour, and its protocol does not report that. */
  readonly writesForHour?: boolean;
  /** Parameters dropped or rewritten on the route, in the order of the request. */
  notes(): readonly Note[];
  /** The request, if it was written before admission; the attempt that sends it takes it. */
  written?: WrittenRequest | undefined;
  /** Frees the values derived from the request; they are made again on the next access. */
  discardDerived(): void;
  /** Frees the request permanently: no attempt follows. Absent if answers are never streams. */
  release?(): void;
}

/** A call that only money can still refuse. */
export interface Prepared {
  readonly candidates: readonly Candidate[];
  readonly inputEstimate: number;
}

/** The entry point of each protocol, by the names of `GET /v1/models`; embeddings have their own. */
export const textEntryPoints = {
  chat: "chat_completions",
  responses: "responses",
  messages: "messages",
  generate_content: "generate_content",
} as const satisfies Record<ProtocolName, string>;

/** Prepares a call, and records the decisions. @throws GatewayError that refuses it. */
export function prepare(services: TextServices, call: TextCall, record: CallRecord): Prepared {
  const codec = codecs[call.protocol];
  const catalog = services.catalog();
  const parsed = resolveModelId(call.model, catalog);
  record.model = parsed.model;
  const { value: body } = call.body;
  codec.direct.validate(body);
  checkTextAddresses(call.protocol, body, services.allowPrivateAddresses);
  const facts = codec.direct.facts(body);
  const basis = planBasis(services, call, facts.session);
  const conversation = conversationOf(call, body, catalog);
  const sessionAt = (model: string): string | undefined => basis.session ?? conversation(model);
  const entryPoint = textEntryPoints[call.protocol];
  const plans = planWithFallbacks(record, {
    call,
    catalog,
    parsed,
    plan: (of) =>
      plan({
        ...basis,
        session: sessionAt(of.model),
        catalog,
        parsed: of,
        entryPoint,
        mayBeEmpty: true,
        stream: call.stream,
      }),
    check: (model) => checkParameters(model, call.protocol, body),
  });
  const inputEstimate = estimateInputTokens(facts.inputCharacters, facts.inputMedia);
  const { inputMedia, maxOutputTokens: askedOutputTokens, hourWrites } = facts;
  const most = modelLimitsOf(plans[0]!);
  const asked = { inputEstimate, inputMedia, askedOutputTokens, hourWrites, most };
  const shared = { services, call, record, catalog, ...asked };
  const candidatesIn = (one: Plan): OfferCandidate[] =>
    candidatesOf(one, { ...shared, session: sessionAt(one.model.id) });
  const candidates = usable(plans.flatMap(candidatesIn), () =>
    plans.flatMap((one) => candidatesIn({ ...one, offers: one.leftOut })),
  );
  record.reservedNano = boundOf(candidates, facts, inputEstimate, {
    protocol: call.protocol,
    body,
  });
  return { candidates, inputEstimate };
}

/** The candidates of one model. */
const candidatesOf = (
  { model, offers }: Plan,
  shared: Omit<CandidateParts, "model">,
): OfferCandidate[] => {
  const parts = { ...shared, model };
  return offers.map((offer) => new OfferCandidate(parts, offer));
};

/** The data that the candidates of one model share. */
interface CandidateParts {
  readonly services: TextServices;
  readonly call: TextCall;
  readonly record: CallRecord;
  readonly catalog: Catalog;
  readonly model: TextModel;
  readonly inputEstimate: number;
  readonly inputMedia: number;
  readonly session: string | undefined;
  readonly askedOutputTokens: number | undefined;
  readonly hourWrites: boolean | undefined;
  /** The limits of the model that the call asks for. */
  readonly most: ModelLimits;
}

class OfferCandidate implements Candidate<TextOffer> {
  readonly offer: TextOffer;
  readonly provider: Provider;
  readonly model: string;
  readonly limits: TextModel;
  readonly isShorter: boolean;
  readonly isLongerLeftOut: boolean;
  readonly reservedOutputTokens: number;
  readonly writesForHour: boolean;
  written: WrittenRequest | undefined;
  #releasable: CandidateParts | undefined;
  #filtered: FilteredBody | undefined;
  #route: Route | undefined;
  /** True if the request goes without the proofs of earlier reasoning, which this provider refuses. */
  #isUnproven = false;

  constructor(parts: CandidateParts, offer: TextOffer) {
    this.offer = offer;
    this.provider = parts.catalog.providers.get(offer.provider)!;
    this.model = parts.model.id;
    this.limits = parts.model;
    const { contextLength } = modelAt(parts.model, offer);
    this.isShorter = contextLength < parts.most.contextLength;
    this.isLongerLeftOut = contextLength < parts.most.contextLengthLeftOut;
    this.reservedOutputTokens = reservedOutput(parts.model, parts.askedOutputTokens);
    this.writesForHour = parts.hourWrites === true && isClaudeInChat(offer);
    this.#releasable = parts;
  }

  get #parts(): CandidateParts {
    if (this.#releasable === undefined) throw new Error("a candidate is asked after its release");
    return this.#releasable;
  }

  get session(): string | undefined {
    return this.#releasable?.session;
  }

  route(): Route {
    return (this.#route ??= this.#makeRoute());
  }

  release(): void {
    this.written = undefined;
    this.#releasable = undefined;
    this.#filtered = undefined;
    this.#route = undefined;
  }

  discardDerived(): void {
    this.#filtered = undefined;
    this.#route?.discardDerived();
  }

  leaveOutProofs(): boolean {
    const { protocol, body } = this.#parts.call;
    const hasProofs = codecs[protocol].direct.withoutProofs(body.value) !== undefined;
    if (this.#isUnproven || !hasProofs) return false;
    this.#isUnproven = true;
    this.written = this.#filtered = this.#route = undefined;
    return true;
  }

  notes(): readonly Note[] {
    const { notes } = this.route();
    const own = this.#filteredBody().notes;
    return own.length === 0 && notes.length < 2
      ? notes
      : inRequestOrder([...own, ...notes], this.#parts.call.body.value);
  }

  /** The body without parameters unsupported here. @throws GatewayError `invalid_value` for a value that only this offer excludes */
  #filteredBody(): FilteredBody {
    return (this.#filtered ??= this.#filterBody());
  }

  #filterBody(): FilteredBody {
    const { call, model } = this.#parts;
    const ofModel = this.#filterForModel();
    const parameters = refusedParameters(this.provider)[this.offer.protocol];
    if (parameters === undefined) return ofModel;
    const here = { id: model.id, parameters };
    const { body, notes } = removeUnsupported(here, call.protocol, ofModel.body);
    return body === ofModel.body ? ofModel : { body, notes: [...ofModel.notes, ...notes] };
  }

  #filterForModel(): FilteredBody {
    const { call, record, model } = this.#parts;
    const said = bodyFor(call, this.#isUnproven);
    const own = (narrowed: Pick<TextModel, "id" | "parameters">): FilteredBody => {
      const { body, notes } = removeUnsupported(narrowed, call.protocol, said.body);
      return { body, notes: [...said.notes, ...notes] };
    };
    const ofModel = own(model);
    if (model.id !== record.model) checkParameters(model, call.protocol, ofModel.body);
    if (this.offer.record?.parameters === undefined) return ofModel;
    const here = modelAt(model, this.offer);
    checkParameters(here, call.protocol, call.body.value);
    return own(here);
  }

  /**
   * The value that a requested output limit is cut to: the limit of a fallback or offer that produces less than the requested model.
   * Requests above the requested model's own limit are left to the vendor. Undefined if the request asks for no more.
   */
  #outputTokensMax({ maxOutputTokens }: TextModel): number | undefined {
    const { askedOutputTokens = 0, most } = this.#parts;
    const isLess = maxOutputTokens < most.maxOutputTokens;
    return isLess && askedOutputTokens > maxOutputTokens ? maxOutputTokens : undefined;
  }

  #makeRoute(): Route {
    const { services, call, record, catalog, model, inputEstimate, inputMedia } = this.#parts;
    const abilities = modelAt(model, this.offer);
    return routeOf(
      {
        caller: codecs[call.protocol],
        upstream: upstreamCodecs[this.offer.protocol],
        stream: call.stream,
        requestedModel: call.model,
        model: model.id,
        upstreamModel: this.offer.upstreamModel,
        maxOutputTokens: abilities.maxOutputTokens,
        outputTokensMax: this.#outputTokensMax(abilities),
        abilities,
        ...vendorQuirks(this.provider),
        ...(abilities.parameters["prompt_cache_key"] === false && { sessionKeys: false }),
        ...markingAt(this.offer, model, call.protocol, catalog),
        inputMedia,
        inputEstimate,
        id: call.id,
        createdAt: Math.floor(record.startedMs / 1000),
      },
      () => this.#filteredBody().body,
      services.forceConversion,
    );
  }
}
