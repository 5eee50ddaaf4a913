/** Providers, models, offers and prices, as data. Requirements: MODELS, TXT; docs/configuration.md. */
import type { Timeouts } from "./timeouts.ts";
import type { WireObject } from "../base/json.ts";
import type { SupplyTier } from "../base/management.ts";
import type { Access } from "./access.ts";
import type { Dialect } from "./dialects.ts";
import type { ImageFamily, MediaEndpoint, VideoFamily } from "./families.ts";
import type { MediaPrice, TextPrice } from "./price-types.ts";
import type { ModelRecord, Narrowing } from "./record.ts";

/** The text protocols, by the names the configuration uses. */
export const textProtocols = ["chat", "responses", "messages", "generate_content"] as const;
export type TextProtocol = (typeof textProtocols)[number];

/** The protocols of text offers: the text protocols, and Amazon Bedrock's Converse, which no caller speaks. */
export const offerProtocols = [...textProtocols, "converse"] as const;
export type OfferProtocol = (typeof offerProtocols)[number];

/** The endpoints that a text model may have, by the names in `GET /v1/models`. */
export const textEndpoints = [
  "chat_completions",
  "responses",
  "messages",
  "generate_content",
] as const;
export type EndpointName = (typeof textEndpoints)[number];

/** The endpoint of embedding models. All vendors use one wire format, so calls are never converted. */
export const embeddingEndpoint = "embeddings";

/** Any endpoint that answers at once. */
export type EntryPoint = EndpointName | typeof embeddingEndpoint;

/** The protocol of the caller at each endpoint. */
export const endpointProtocol: Readonly<Record<EntryPoint, Offer["protocol"]>> = {
  chat_completions: "chat",
  responses: "responses",
  messages: "messages",
  generate_content: "generate_content",
  embeddings: "embeddings",
};

/** One key of a provider. Weights divide the load among several keys. */
export interface Credential {
  readonly id: string;
  /** Empty if the provider takes no key (`api_key: none`); then none is sent. */
  readonly apiKey: string;
  readonly weight: number;
}

export { defaultTimeouts, type Timeouts } from "./timeouts.ts";

/** A configured upstream. */
export interface Provider {
  readonly id: string;
  readonly dialect: Dialect;
  /** Without a trailing slash; includes the version segment: `https://api.openai.com/v1`. */
  readonly baseUrl: string;
  readonly tier: SupplyTier;
  /** At least one. */
  readonly credentials: readonly Credential[];
  /** On a disconnect of the caller: `drain` for vendors that bill the whole answer regardless (T62). */
  readonly onDisconnect: "abort" | "drain";
  readonly timeouts: Timeouts;
  /** The settings of its row that differ from its dialect. */
  readonly access?: Access | undefined;
  /** True if its address came over the management API: then only connections to public addresses are allowed. */
  readonly guarded?: boolean | undefined;
}

/** Where a provider is defined. `line`: its line in the file. */
export interface ProviderSource {
  readonly kind: "file" | "environment" | "sandbox" | "api";
  readonly line?: number | undefined;
}

/** The fields of a provider defined elsewhere that the configuration file's checks need. */
export type KnownProvider = Pick<Provider, "id" | "dialect">;

interface OfferBase {
  readonly provider: string;
  /** The upstream's own name of the model; callers never see it (T37). */
  readonly upstreamModel: string;
  /** Its share of the model's calls, in place of the price. Absent: 1 if another offer of the model has a weight. */
  readonly weight?: number | undefined;
}

/** A way to serve a text model. */
export interface TextOffer extends OfferBase {
  readonly protocol: OfferProtocol;
  readonly price: TextPrice;
  /** Where this provider's model differs from the model's own record. */
  readonly record?: ModelRecord | undefined;
}

interface ModelBase {
  /** `vendor/model`, without a colon. */
  readonly id: string;
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  /** Unix seconds. */
  readonly created: number;
  /** Other names of the model; one that ends in `*` matches every name with that prefix. */
  readonly aliases?: readonly string[] | undefined;
}

/** A text model; absent fields of {@link ModelRecord} are unknown. */
export interface TextModel extends ModelBase, ModelRecord {
  readonly kind: "text";
  readonly endpoints: readonly EndpointName[];
  readonly contextLength: number;
  readonly maxOutputTokens: number;
  /** Output tokens that are reserved if a request names no maximum. */
  readonly reserveOutputTokens: number;
  /** Narrower limits per parameter, by chat-completions name; `false`: unsupported. */
  readonly parameters: Readonly<Record<string, Narrowing | false>>;
  /** Ids of models that may answer if no provider of this model can, in order of preference. */
  readonly fallbacks?: readonly string[] | undefined;
  readonly offers: readonly TextOffer[];
}

export interface MediaOffer extends OfferBase {
  readonly price: MediaPrice;
  /** Whether a call may stream: the dialect has partial images, and the file does not set `streaming: false`. */
  readonly streaming: boolean;
}

interface MediaModelBase extends ModelBase {
  /** A model is listed and callable only through these. */
  readonly endpoints: readonly MediaEndpoint[];
  readonly offers: readonly MediaOffer[];
}

export interface ImageModel extends MediaModelBase {
  readonly kind: "image";
  readonly family: ImageFamily;
}

export interface VideoModel extends MediaModelBase {
  readonly kind: "video";
  readonly family: VideoFamily;
}

export interface EmbeddingOffer extends OfferBase {
  readonly protocol: "embeddings";
  /** Rates of input tokens and calls. The output has no tokens, so its rate is 0. */
  readonly price: TextPrice;
}

/** A way to serve a call that is answered at once. */
export type Offer = TextOffer | EmbeddingOffer;

export interface EmbeddingModel extends ModelBase {
  readonly kind: "embedding";
  readonly endpoints: readonly (typeof embeddingEndpoint)[];
  readonly contextLength: number;
  /** As for a text model, but only models with compatible vectors make sense. */
  readonly fallbacks?: readonly string[] | undefined;
  readonly offers: readonly EmbeddingOffer[];
}

export type Model = TextModel | ImageModel | VideoModel | EmbeddingModel;

/** The family of an image or video model, the kind of any other. Models of one id must agree in it. */
export const familyOf = (model: Model): string => ("family" in model ? model.family : model.kind);

/** An available model that cannot be called because it has no price. */
export interface UnpricedModel {
  readonly provider: string;
  /** The model at a price in the form of an offer's row; undefined for a price of another kind. */
  readonly priced: (price: WireObject) => Model | undefined;
}

/** Everything that can be served. Immutable: a reload makes a new one. */
export interface Catalog {
  readonly models: ReadonlyMap<string, Model>;
  readonly providers: ReadonlyMap<string, Provider>;
  /** By model id. */
  readonly unpriced?: ReadonlyMap<string, UnpricedModel> | undefined;
  /** The id of the model that serves unknown names. */
  readonly defaultModel?: string | undefined;
  /** Which calls of other protocols get cache markers at Claude: those with a session key, or conversations without one too. */
  readonly promptCaching?: "asked" | "auto" | undefined;
  /** Where each provider is defined. Absent: in the file. */
  readonly sources?: ReadonlyMap<string, ProviderSource> | undefined;
  /** Providers that get no new calls now, with the end of the pause in Unix milliseconds. */
  readonly paused?: ReadonlyMap<string, number> | undefined;
  /** Removed providers that the gateway still polls for unfinished tasks. */
  readonly retired?: ReadonlyMap<string, Provider> | undefined;
}
