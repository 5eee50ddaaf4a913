/**
 * The sandbox's providers and models as catalogue entries. docs/sandbox.md.
 * The sandbox serves each vendor's real wire format at one address, under a path prefix per vendor.
 */
import { parseUsd } from "../base/money.ts";
import { offerStreams } from "./media-dialects.ts";
import type { Dialect } from "./dialects.ts";
import { type ImageFamily, type VideoFamily, mediaFamilies } from "./families.ts";
import type { MediaPrice, TextPrice } from "./price-types.ts";
import {
  defaultTimeouts,
  embeddingEndpoint,
  textEndpoints,
  type Catalog,
  type EmbeddingModel,
  type Model,
  type Provider,
  type TextModel,
  type TextOffer,
} from "./types.ts";

/** Creation time of the sandbox's models: 2026-01-01T00:00:00Z. */
const createdAt = 1_767_225_600;

const textPrice: TextPrice = {
  input: parseUsd("0.50"),
  cacheRead: parseUsd("0.05"),
  cacheWrite: parseUsd("0.625"),
  output: parseUsd("2.00"),
};

const embeddingPrice: TextPrice = { input: parseUsd("0.02"), output: 0n };

const imageTokens: MediaPrice = {
  basis: "image_tokens",
  input: parseUsd("5"),
  imageInput: parseUsd("8"),
  output: parseUsd("10"),
  imageOutput: parseUsd("30"),
};
const imageTiers: MediaPrice = {
  basis: "image_tiers",
  outputImage: {
    low: { "1K": parseUsd("0.02"), "2K": parseUsd("0.04") },
    medium: { "1K": parseUsd("0.05"), "2K": parseUsd("0.08") },
  },
  inputImage: parseUsd("0.002"),
};
const images: MediaPrice = { basis: "images", outputImage: parseUsd("0.03"), inputImage: 0n };

const seconds = (rates: Record<string, string>): MediaPrice => ({
  basis: "video_seconds",
  outputSecond: Object.fromEntries(
    Object.entries(rates).map(([resolution, usd]) => [resolution, parseUsd(usd)]),
  ),
  inputImage: parseUsd("0.01"),
});
const videoTokens: MediaPrice = { basis: "video_tokens", outputVideoToken: parseUsd("7") };

function provider(id: string, dialect: Dialect, baseUrl: string): Provider {
  return {
    id,
    dialect,
    baseUrl,
    tier: "community",
    credentials: [{ id: "default", apiKey: "sandbox", weight: 1 }],
    onDisconnect: "abort",
    timeouts: defaultTimeouts,
  };
}

const offers = {
  chat: { provider: "sandbox-openai", protocol: "chat" },
  responses: { provider: "sandbox-openai", protocol: "responses" },
  messages: { provider: "sandbox-anthropic", protocol: "messages" },
  "generate-content": { provider: "sandbox-google", protocol: "generate_content" },
} as const;

function textModel(name: string, served: readonly (keyof typeof offers)[]): TextModel {
  return {
    id: `sandbox/${name}`,
    kind: "text",
    created: createdAt,
    endpoints: textEndpoints,
    contextLength: 200_000,
    maxOutputTokens: 32_000,
    reserveOutputTokens: 4096,
    parameters: {},
    offers: served.map((key): TextOffer => ({
      ...offers[key],
      upstreamModel: "sandbox-large",
      price: textPrice,
    })),
  };
}

const embeddingModel: EmbeddingModel = {
  id: "sandbox/embedding",
  kind: "embedding",
  created: createdAt,
  endpoints: [embeddingEndpoint],
  contextLength: 8192,
  offers: [
    {
      provider: "sandbox-openai",
      protocol: "embeddings",
      upstreamModel: "sandbox-embedding",
      price: embeddingPrice,
    },
  ],
};

type MediaRow = readonly [name: string, provider: string, price: MediaPrice];

const imageRows: readonly (readonly [...MediaRow, family: ImageFamily])[] = [
  ["image-model-a", "sandbox-openai", imageTokens, "image-a"],
  ["image-model-b", "sandbox-openai", imageTokens, "image-b"],
  ["task-image-model-1", "sandbox-xai", imageTiers, "task-image-1"],
  ["task-image-model-2", "sandbox-openai", imageTokens, "task-image-2"],
  ["image-model-c", "sandbox-dashscope", images, "image-c"],
];

const videoRows: readonly (readonly [...MediaRow, family: VideoFamily])[] = [
  ["video-model-v1", "sandbox-xai", seconds({ "480p": "0.05", "720p": "0.07" }), "video-v1"],
  [
    "video-model-v1.5",
    "sandbox-xai",
    seconds({ "480p": "0.08", "720p": "0.14", "1080p": "0.25" }),
    "video-v1.5",
  ],
  [
    "video-model-seconds",
    "sandbox-dashscope",
    seconds({ "480p": "0.05", "720p": "0.10", "1080p": "0.15" }),
    "video-seconds",
  ],
  ["video-model-tokens", "sandbox-ark", videoTokens, "video-tokens"],
];

/** Upstream names for dialects that tell generations of models apart by name. */
const upstreamNames: Readonly<Record<string, string>> = {
  "image-model-c": "wan3-sandbox-image",
  "video-model-seconds": "wan3-sandbox-video",
};

/** The simulated vendors: provider id, dialect, and path at the sandbox. */
const vendors: readonly (readonly [id: string, dialect: Dialect, path: string])[] = [
  ["sandbox-openai", "openai-compatible", "/openai/v1"],
  ["sandbox-anthropic", "anthropic", "/anthropic/v1"],
  ["sandbox-google", "google", "/google/v1beta"],
  ["sandbox-xai", "xai", "/xai/v1"],
  ["sandbox-dashscope", "dashscope", "/dashscope/api/v1"],
  ["sandbox-ark", "ark", "/ark/api/v3"],
];

const dialectOf = (id: string): Dialect | undefined => vendors.find(([known]) => known === id)?.[1];

function mediaFields(
  kind: "image" | "video",
  [name, providerId, price, family]: readonly [...MediaRow, family: ImageFamily | VideoFamily],
) {
  return {
    id: `sandbox/${name}`,
    created: createdAt,
    endpoints: mediaFamilies[family].endpoints,
    offers: [
      {
        provider: providerId,
        upstreamModel: upstreamNames[name] ?? name,
        price,
        streaming: offerStreams(kind, dialectOf(providerId), undefined),
      },
    ],
  };
}

/** The sandbox as a catalogue. `sandboxUrl` is its address without a trailing slash. */
export function sandboxCatalog(sandboxUrl: string): Catalog {
  const providers = vendors.map(([id, dialect, path]) => provider(id, dialect, sandboxUrl + path));
  const models: Model[] = [
    textModel("chat", ["chat"]),
    textModel("responses", ["responses"]),
    textModel("messages", ["messages"]),
    textModel("generate-content", ["generate-content"]),
    textModel("multi", ["chat", "responses", "messages", "generate-content"]),
    embeddingModel,
    ...imageRows.map((row): Model => ({
      ...mediaFields("image", row),
      kind: "image",
      family: row[3],
    })),
    ...videoRows.map((row): Model => ({
      ...mediaFields("video", row),
      kind: "video",
      family: row[3],
    })),
  ];
  return {
    providers: new Map(providers.map((row) => [row.id, row])),
    models: new Map(models.map((row) => [row.id, row])),
  };
}
