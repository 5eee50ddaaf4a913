/** Support for tests of the media dialects: providers, requests, and reading a request's body. */
import { Readable } from "node:stream";
import { defaultTimeouts, type Dialect, type Provider } from "../../src/catalog/index.ts";
import type { ImageRequest, MediaRequest, Upload, VideoRequest } from "../../src/media/index.ts";
import { mediaDialect, type MediaAsk, type MediaDialect } from "../../src/upstream/index.ts";

export const provider = (dialect: Dialect, baseUrl: string): Provider => ({
  id: `p-${dialect}`,
  dialect,
  baseUrl,
  tier: "official",
  credentials: [{ id: "default", apiKey: "secret", weight: 1 }],
  onDisconnect: "abort",
  timeouts: defaultTimeouts,
});

export const providers = {
  openai: provider("openai", "https://api.openai.com/v1"),
  "openai-compatible": provider("openai-compatible", "http://127.0.0.1:8000/v1"),
  xai: provider("xai", "https://api.x.ai/v1"),
  dashscope: provider("dashscope", "https://dashscope-intl.aliyuncs.com/api/v1"),
  ark: provider("ark", "https://ark.ap-southeast.bytepluses.com/api/v3"),
};

export function dialectOf(name: Dialect, kind: MediaRequest["kind"]): MediaDialect {
  const dialect = mediaDialect(name, kind);
  if (!dialect) throw new Error(`no dialect ${name} for ${kind}`);
  return dialect;
}

export const video = (fields: Partial<VideoRequest> = {}): VideoRequest => ({
  kind: "video",
  family: "video-v1",
  mode: "text",
  prompt: "A fox",
  durationSeconds: 8,
  resolution: "480p",
  references: [],
  ...fields,
});

export const image = (fields: Partial<ImageRequest> = {}): ImageRequest => ({
  kind: "image",
  family: "task-image-1",
  prompt: "A fox",
  n: 1,
  images: [],
  ...fields,
});

/** Uploads with these texts as bytes. */
export const uploadsOf = (...texts: readonly string[]): Upload[] =>
  texts.map((text) => ({
    name: text,
    mediaType: "image/png",
    bytes: Buffer.byteLength(text),
    width: 1024,
    height: 1024,
    hasAlpha: false,
  }));

/** The vendor request that submits a job. Uploads have their names as bytes. */
export function submitAsk(
  name: keyof typeof providers,
  request: MediaRequest,
  upstreamModel: string,
): MediaAsk {
  return dialectOf(name, request.kind).submit(providers[name], "secret", {
    request,
    upstreamModel,
    open: (upload) => Readable.from([Buffer.from(upload.name)]),
  });
}

/** A body's bytes. Expects a stream to have its declared length. */
export async function bodyOf(ask: MediaAsk): Promise<string> {
  if (ask.body === undefined) return "";
  if (typeof ask.body === "string") return ask.body;
  const chunks: Buffer[] = [];
  for await (const chunk of ask.body.open()) chunks.push(chunk as Buffer);
  const bytes = Buffer.concat(chunks);
  if (bytes.length !== ask.body.contentLength)
    throw new Error(`${bytes.length} bytes, announced ${ask.body.contentLength}`);
  return bytes.toString("utf8");
}

export const bytes = (value: unknown): Buffer =>
  Buffer.from(typeof value === "string" ? value : JSON.stringify(value));
