/** What the gateway can serve, as data: providers, models, offers and prices. Requirements: MODELS, TXT; docs/configuration.md. */
import type { Timeouts } from "./timeouts.ts";
import type { WireObject } from "../base/json.ts";
import type { SupplyTier } from "../base/management.ts";
import type { NanoUsd } from "../base/money.ts";
import type { Access } from "./access.ts";
import type { Dialect } from "./dialects.ts";
import type { ImageFamily, MediaEndpoint, VideoFamily } from "./families.ts";
import type { ModelRecord, Narrowing } from "./record.ts";

/** The text protocols, by the names the configuration uses. */
export const textProtocols = ["chat", "responses", "messages", "generate_content"] as const;
export type TextProtocol = (typeof textProtocols)[number];

/** What an offer of a text model may speak: those, and Amazon Bedrock's Converse, which no caller does. */
export const offerProtocols = [...textProtocols, "converse"] as const;
export type OfferProtocol = (typeof offerProtocols)[number];

/** The entry points a text model may offer, by the names `GET /v1/models` uses. */
export const textEndpoints = [
  "chat_completions",
  "responses",
  "messages",
  "generate_content",
] as const;
export type EndpointName = (typeof textEndpoints)[number];

/** The entry point of embedding models. It has one wire shape everywhere, and is never converted. */
export const embeddingEndpoint = "embeddings";

/** Any entry point that answers at once. */
export type EntryPoint = EndpointName | typeof embeddingEndpoint;

/** The protocol a caller speaks at each entry point. */
export const endpointProtocol: Readonly<Record<EntryPoint, Offer["protocol"]>> = {
  chat_completions: "chat",
  responses: "responses",
  messages: "messages",
  generate_content: "generate_content",
  embeddings: "embeddings",
};

/** One key of a provider. Weights share the load among several. */
export interface Credential {
  readonly id: string;
  /** Empty where the provider takes no key (`api_key: none`): nothing is sent. */
  readonly apiKey: string;
  readonly weight: number;
}

export { defaultTimeouts, type Timeouts } from "./timeouts.ts";

/** One upstream that can be called. */
export interface Provider {
  readonly id: string;
  readonly dialect: Dialect;
  /** Without a trailing slash; includes the version segment: `https://api.openai.com/v1`. */
  readonly baseUrl: string;
  readonly tier: SupplyTier;
  /** At least one. */
  readonly credentials: readonly Credential[];
  /** What happens upstream when the caller leaves: `drain` where the vendor bills on regardless (T62). */
  readonly onDisconnect: "abort" | "drain";
  readonly timeouts: Timeouts;
  /** What its file says of it beyond its dialect. */
  readonly access?: Access | undefined;
  /** Its address came over the management API: connections go to public addresses only. Absent: anywhere. */
  readonly guarded?: boolean | undefined;
}

/** Who says that a provider is there. `line`: where its file does. */
export interface ProviderSource {
  readonly kind: "file" | "environment" | "sandbox" | "api";
  readonly line?: number | undefined;
}

/** What the configuration file must know of a provider that is defined outside of it. */
export type KnownProvider = Pick<Provider, "id" | "dialect">;

/** Rates of one tier, in nano-USD per million tokens. */
export interface TextRates {
  readonly input: NanoUsd;
  /** Absent: as `input`. */
  readonly cacheRead?: NanoUsd | undefined;
  /** Cache writes of five minutes, or the vendor's only kind. Absent: as `input`. */
  readonly cacheWrite?: NanoUsd | undefined;
  /** Cache writes of an hour. Absent: the larger of `cacheWrite` and twice `input` (T54). */
  readonly cacheWrite1h?: NanoUsd | undefined;
  readonly output: NanoUsd;
  /** Absent: as `output`. */
  readonly reasoning?: NanoUsd | undefined;
  /** Of the input: sound, and with it sound read from a cache. Of the output: sound, and pictures. Each absent: as its side. */
  readonly audioInput?: NanoUsd | undefined;
  readonly audioOutput?: NanoUsd | undefined;
  readonly imageOutput?: NanoUsd | undefined;
  /** Nano-USD per call. Absent: none. */
  readonly request?: NanoUsd | undefined;
  /** Nano-USD per web search that ran at the vendor. Absent: none. */
  readonly webSearch?: NanoUsd | undefined;
  /** Nano-USD per answer for which the vendor searched the web, however often. Absent: none. */
  readonly webSearchAnswer?: NanoUsd | undefined;
  /** Of pictures that the vendor's own tool makes: text in, pictures in, and what comes out. Absent: none. */
  readonly imageToolInput?: NanoUsd | undefined;
  readonly imageToolImageInput?: NanoUsd | undefined;
  readonly imageToolOutput?: NanoUsd | undefined;
}

/** Rates that hold for the whole of a call with more input than `inputTokens` (T64). */
export interface PriceTier {
  readonly inputTokens: number;
  readonly rates: TextRates;
}

/** A price without a date. */
export interface FixedPrice extends TextRates {
  /** By rising `inputTokens`; of several that apply the last holds. */
  readonly above?: readonly PriceTier[] | undefined;
}

/** A price that replaces the one before it at a moment, in Unix milliseconds. */
export interface DatedPrice {
  readonly fromMs: number;
  readonly price: FixedPrice;
}

/** The price of a text offer: what holds now, and what follows it, by rising `fromMs` (in-force.ts). */
export interface TextPrice extends FixedPrice {
  readonly later?: readonly DatedPrice[] | undefined;
}

interface OfferBase {
  readonly provider: string;
  /** The upstream's own name of the model; callers never see it (T37). */
  readonly upstreamModel: string;
  /** Its share of the calls among the offers of its model, in place of the price. Absent: 1 where another has one. */
  readonly weight?: number | undefined;
}

/** One way to serve a text model. */
export interface TextOffer extends OfferBase {
  readonly protocol: OfferProtocol;
  readonly price: TextPrice;
  /** What this provider's model does other than the model's own record says. */
  readonly record?: ModelRecord | undefined;
}

interface ModelBase {
  /** `vendor/model`, without a colon. */
  readonly id: string;
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  /** Unix seconds. */
  readonly created: number;
  /** Other names it answers to; one that ends in a star stands for every name with that beginning. Absent: none. */
  readonly aliases?: readonly string[] | undefined;
}

/** Members of {@link ModelRecord} that are absent are unknown. */
export interface TextModel extends ModelBase, ModelRecord {
  readonly kind: "text";
  readonly endpoints: readonly EndpointName[];
  readonly contextLength: number;
  readonly maxOutputTokens: number;
  /** Output tokens reserved where a request names no maximum. */
  readonly reserveOutputTokens: number;
  /** Narrower limits per parameter, by chat-completions name; `false`: unsupported. */
  readonly parameters: Readonly<Record<string, Narrowing | false>>;
  /** The ids of other models that may answer where no provider of this one can, in their order. Absent: none. */
  readonly fallbacks?: readonly string[] | undefined;
  readonly offers: readonly TextOffer[];
}

/** Nano-USD per million tokens, by what the token is. */
export interface ImageTokenPrice {
  readonly basis: "image_tokens";
  readonly input: NanoUsd;
  readonly imageInput: NanoUsd;
  readonly output: NanoUsd;
  readonly imageOutput: NanoUsd;
}

/** Nano-USD per image, by quality and image size. */
export interface ImageTierPrice {
  readonly basis: "image_tiers";
  readonly outputImage: Readonly<Record<string, Readonly<Record<string, NanoUsd>>>>;
  readonly inputImage: NanoUsd;
}

/** Nano-USD per image: one price, or one by image size. */
export interface ImagePrice {
  readonly basis: "images";
  readonly outputImage: NanoUsd | Readonly<Record<string, NanoUsd>>;
  readonly inputImage: NanoUsd;
}

/** Nano-USD per produced second by resolution, and per input image. */
export interface VideoSecondPrice {
  readonly basis: "video_seconds";
  readonly outputSecond: Readonly<Record<string, NanoUsd>>;
  readonly inputImage: NanoUsd;
}

/** Nano-USD per million generated-video tokens. */
export interface VideoTokenPrice {
  readonly basis: "video_tokens";
  readonly outputVideoToken: NanoUsd;
}

export type MediaPrice =
  | ImageTokenPrice
  | ImageTierPrice
  | ImagePrice
  | VideoSecondPrice
  | VideoTokenPrice;

export interface MediaOffer extends OfferBase {
  readonly price: MediaPrice;
  /** Whether a call may ask for a stream: the dialect has partial images, and the file does not say `streaming: false`. */
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
  /** Of input tokens and calls; the output is no tokens, and its rate 0. */
  readonly price: TextPrice;
}

/** One way to serve a call that is answered at once. */
export type Offer = TextOffer | EmbeddingOffer;

export interface EmbeddingModel extends ModelBase {
  readonly kind: "embedding";
  readonly endpoints: readonly (typeof embeddingEndpoint)[];
  readonly contextLength: number;
  /** As a text model's: only of models whose vectors can stand beside its own. */
  readonly fallbacks?: readonly string[] | undefined;
  readonly offers: readonly EmbeddingOffer[];
}

export type Model = TextModel | ImageModel | VideoModel | EmbeddingModel;

/** A model of a vendor that is there, which is not called because nothing says what it costs. */
export interface UnpricedModel {
  readonly provider: string;
  /** The model at a price, as an offer of its kind in the file has it; undefined for a price of another kind. */
  readonly priced: (price: WireObject) => Model | undefined;
}

/** All that can be served. Never changed in place: a reload makes a new one. */
export interface Catalog {
  readonly models: ReadonlyMap<string, Model>;
  readonly providers: ReadonlyMap<string, Provider>;
  /** By id. Absent: none. */
  readonly unpriced?: ReadonlyMap<string, UnpricedModel> | undefined;
  /** The id of the model that answers to names that no other has. */
  readonly defaultModel?: string | undefined;
  /** Where each provider comes from. Absent: from the file. */
  readonly sources?: ReadonlyMap<string, ProviderSource> | undefined;
  /** Providers that get no new calls now, and until when, Unix milliseconds. Absent: none. */
  readonly paused?: ReadonlyMap<string, number> | undefined;
  /** Providers that were removed and that tasks under way still ask. Absent: none. */
  readonly retired?: ReadonlyMap<string, Provider> | undefined;
}
