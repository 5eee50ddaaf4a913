/** Builds the catalogue from a checked file. Nothing here can fail: the checks have found all mistakes. */
import { parseUsd, type NanoUsd } from "../base/money.ts";
import type {
  ConfigFile,
  EmbeddingModelRow,
  MediaModelRow,
  ProviderRow,
  TextModelRow,
} from "./schema.ts";
import { accessOf } from "./access-build.ts";
import { TlsFiles } from "./tls-files.ts";
import { embeddingPriceOf, priceOfRow } from "./price-rows.ts";
import { recordOfRow } from "./record-rows.ts";
import { offerStreams } from "./media-dialects.ts";
import type { Dialect } from "./dialects.ts";
import { mediaFamilies } from "./families.ts";
import type { MediaPrice, VideoRate, VideoRates } from "./price-types.ts";
import {
  defaultTimeouts,
  embeddingEndpoint,
  textEndpoints,
  type Catalog,
  type EmbeddingModel,
  type ImageModel,
  type KnownProvider,
  type Model,
  type Provider,
  type TextModel,
  type TextOffer,
  type Timeouts,
  type VideoModel,
} from "./types.ts";

/** Default of `created`: 2026-01-01T00:00:00Z. */
const createdDefault = 1_767_225_600;
const reserveDefault = 4096;

function timeoutsOf(row: ProviderRow["timeouts"]): Timeouts {
  const ms = (seconds: number | undefined, fallback: number) =>
    seconds === undefined ? fallback : Math.max(1, Math.round(seconds * 1000));
  return {
    connectMs: ms(row?.connect_s, defaultTimeouts.connectMs),
    firstByteMs: ms(row?.first_byte_s, defaultTimeouts.firstByteMs),
    idleMs: ms(row?.idle_s, defaultTimeouts.idleMs),
    totalMs: ms(row?.total_s, defaultTimeouts.totalMs),
  };
}

const keyOf = (text: string): string => (text === "none" ? "" : text);

function buildProvider(row: ProviderRow, files: TlsFiles): Provider {
  const single = [{ id: "default", apiKey: keyOf(row.api_key ?? ""), weight: 1 }];
  return {
    id: row.id,
    dialect: row.dialect,
    baseUrl: row.base_url.replace(/\/+$/, ""),
    tier: row.tier ?? "community",
    credentials:
      row.credentials?.map((credential) => ({
        id: credential.id,
        apiKey: keyOf(credential.api_key),
        weight: credential.weight ?? 1,
      })) ?? single,
    onDisconnect: row.on_disconnect ?? "abort",
    timeouts: timeoutsOf(row.timeouts),
    access: accessOf(row, files),
  };
}

type OfferRow = (TextModelRow | MediaModelRow | EmbeddingModelRow)["offers"][number];

const offeredFields = (row: OfferRow) => ({
  provider: row.provider,
  upstreamModel: row.upstream_model,
  weight: row.weight,
});

const textOfferOf = (row: TextModelRow["offers"][number]): TextOffer => ({
  ...offeredFields(row),
  protocol: row.protocol,
  price: priceOfRow(row),
  ...(row.record && { record: recordOfRow(row.record) }),
});

const namedFields = (row: TextModelRow | EmbeddingModelRow | MediaModelRow) => ({
  id: row.id,
  name: row.name,
  description: row.description,
  created: row.created ?? createdDefault,
  aliases: row.aliases,
});

function buildText(row: TextModelRow): TextModel {
  return {
    ...namedFields(row),
    ...recordOfRow(row),
    kind: "text",
    endpoints: row.endpoints ?? textEndpoints,
    contextLength: row.context_length,
    maxOutputTokens: row.max_output_tokens,
    reserveOutputTokens:
      row.reserve_output_tokens ?? Math.min(reserveDefault, row.max_output_tokens),
    parameters: row.parameters ?? {},
    fallbacks: row.fallbacks,
    offers: row.offers.map(textOfferOf),
  };
}

function buildEmbedding(row: EmbeddingModelRow): EmbeddingModel {
  return {
    ...namedFields(row),
    kind: "embedding",
    endpoints: row.endpoints ?? [embeddingEndpoint],
    contextLength: row.context_length,
    fallbacks: row.fallbacks,
    offers: row.offers.map((offer) => ({
      ...offeredFields(offer),
      protocol: "embeddings",
      price: embeddingPriceOf(offer),
    })),
  };
}

const eachUsd = (rates: Readonly<Record<string, string | undefined>>): Record<string, NanoUsd> =>
  Object.fromEntries(
    Object.entries(rates).flatMap(([key, text]) =>
      text === undefined ? [] : [[key, parseUsd(text)]],
    ),
  );

type VideoRateRow = string | { readonly sound: string; readonly silent: string };
type VideoRatesRow = Readonly<Partial<Record<"480p" | "720p" | "1080p", VideoRateRow>>>;

const videoRateOf = (row: VideoRateRow): VideoRate =>
  typeof row === "string"
    ? parseUsd(row)
    : { sound: parseUsd(row.sound), silent: parseUsd(row.silent) };

const videoRatesOf = (rows: VideoRatesRow): VideoRates =>
  Object.fromEntries(Object.entries(rows).map(([key, row]) => [key, videoRateOf(row)]));

const videoTokenOf = (row: VideoRateRow | VideoRatesRow): VideoRate | VideoRates =>
  typeof row === "string" || "sound" in row ? videoRateOf(row) : videoRatesOf(row);

/** The keys of a price determine its basis: families share keys only where the keys mean the same. */
function mediaPriceOf(price: MediaModelRow["offers"][number]["price"]): MediaPrice {
  if ("output_video_token" in price) {
    return { basis: "video_tokens", outputVideoToken: videoTokenOf(price.output_video_token) };
  }
  if ("output_second" in price) {
    const outputSecond = videoRatesOf(price.output_second);
    return { basis: "video_seconds", outputSecond, inputImage: parseUsd(price.input_image) };
  }
  if ("image_output" in price) {
    return {
      basis: "image_tokens",
      input: parseUsd(price.input),
      imageInput: parseUsd(price.image_input),
      output: parseUsd(price.output),
      imageOutput: parseUsd(price.image_output),
    };
  }
  const { output_image: image } = price;
  const inputImage = parseUsd(price.input_image ?? "0");
  if (typeof image === "string") {
    return { basis: "images", outputImage: parseUsd(image), inputImage };
  }
  if (isTiers(image)) {
    const outputImage = { low: eachUsd(image.low), medium: eachUsd(image.medium) };
    return { basis: "image_tiers", outputImage, inputImage };
  }
  return { basis: "images", outputImage: eachUsd(image), inputImage };
}

type Sizes = Readonly<Record<"1K" | "2K", string>>;

function isTiers(
  image: Readonly<Record<string, string>> | { readonly low: Sizes; readonly medium: Sizes },
): image is { readonly low: Sizes; readonly medium: Sizes } {
  return typeof image["low"] === "object";
}

type DialectOf = (provider: string) => Dialect | undefined;

function buildMedia(row: MediaModelRow, dialectOf: DialectOf): ImageModel | VideoModel {
  const offers = row.offers.map((offer) => ({
    ...offeredFields(offer),
    price: mediaPriceOf(offer.price),
    streaming: offerStreams(row.kind, dialectOf(offer.provider), offer.streaming),
  }));
  const endpoints = row.endpoints ?? mediaFamilies[row.family].endpoints;
  const common = { ...namedFields(row), endpoints, offers };
  return row.kind === "image"
    ? { ...common, kind: "image", family: row.family }
    : { ...common, kind: "video", family: row.family };
}

function buildModel(row: NonNullable<ConfigFile["models"]>[number], dialectOf: DialectOf): Model {
  if (row.kind === "text") return buildText(row);
  if (row.kind === "embedding") return buildEmbedding(row);
  return buildMedia(row, dialectOf);
}

/** Builds the providers and models of a checked file. `known`: providers that are defined elsewhere and that offers may name. */
export function buildCatalog(
  file: ConfigFile,
  known: readonly KnownProvider[],
  files = new TlsFiles(),
): Catalog {
  const providers = new Map(
    (file.providers ?? []).map((row) => [row.id, buildProvider(row, files)]),
  );
  const dialectOf: DialectOf = (id) =>
    providers.get(id)?.dialect ?? known.find((provider) => provider.id === id)?.dialect;
  const models = (file.models ?? []).map((row) => buildModel(row, dialectOf));
  return {
    providers,
    defaultModel: file.default_model,
    promptCaching: file.prompt_caching,
    models: new Map(models.map((row) => [row.id, row])),
  };
}
