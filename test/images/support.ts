// A gateway with the sandbox's image models, pictures to send, and pictures that came back.
import { createHash } from "node:crypto";
import OpenAI, { toFile } from "openai";
import sharp from "sharp";
import type { GatewayUnderTest } from "../support/gateway.ts";

export const modelA = "sandbox/image-model-a";
export const modelB = "sandbox/image-model-b";

export const clientOf = (gateway: GatewayUnderTest): OpenAI =>
  new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.url}/v1`, maxRetries: 0 });

/** A prompt with a line for the sandbox. */
export const scripted = (script: object, prompt = "A fox"): string =>
  `${prompt}\n#sandbox ${JSON.stringify(script)}`;

export type Format = "png" | "jpeg" | "webp";

/** A picture in which neighbours differ. */
export async function picture(
  width = 64,
  height = 48,
  format: Format = "png",
): Promise<Buffer<ArrayBuffer>> {
  const pixels = Buffer.from(
    Array.from({ length: width * height * 3 }, (_, at) => (at * 37) % 256),
  );
  const made = await sharp(pixels, { raw: { width, height, channels: 3 } })
    .toFormat(format)
    .toBuffer();
  return Buffer.from(made);
}

/** A mask whose left half is open. */
export async function mask(width = 64, height = 48): Promise<Buffer<ArrayBuffer>> {
  const pixels = Buffer.from(
    Array.from({ length: width * height * 4 }, (_, at) =>
      at % 4 === 3 && (at >> 2) % width < width / 2 ? 0 : 255,
    ),
  );
  return Buffer.from(
    await sharp(pixels, { raw: { width, height, channels: 4 } })
      .png()
      .toBuffer(),
  );
}

export const fileOf = (bytes: Buffer, name = "picture.png", type = "image/png") =>
  toFile(bytes, name, { type });

/** What a picture is, by decoding it whole. */
export async function decoded(base64: string | null | undefined) {
  const bytes = Buffer.from(base64 ?? "", "base64");
  const image = sharp(bytes);
  const { format, width, height, hasAlpha } = await image.metadata();
  await image.stats();
  return { bytes, format, width, height, hasAlpha };
}

export const sha256 = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

type Entry = readonly [name: string, value: string | number | Buffer<ArrayBuffer>, type?: string];

/** A form of texts and files, in this order. */
export function form(entries: readonly Entry[]): FormData {
  const body = new FormData();
  for (const [name, value, type = "image/png"] of entries) {
    if (typeof value === "string" || typeof value === "number") body.append(name, String(value));
    else body.append(name, new Blob([value], { type }), "picture");
  }
  return body;
}

/** Sends an edit. */
export function edit(
  gateway: GatewayUnderTest,
  entries: readonly Entry[],
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(`${gateway.url}/v1/images/edits`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.key}`, ...headers },
    body: form(entries),
  });
}

/** Sends a generation. */
export const generate = (
  gateway: GatewayUnderTest,
  fields: object,
  headers: Record<string, string> = {},
): Promise<Response> =>
  gateway.post(
    "/v1/images/generations",
    { model: modelA, prompt: "A fox", size: "1024x1024", quality: "low", ...fields },
    headers,
  );

interface ImageAnswer {
  readonly created: number;
  readonly data: readonly { readonly b64_json: string; readonly revised_prompt?: string }[];
  readonly background: string;
  readonly output_format: string;
  readonly quality: string;
  readonly size: string;
  readonly usage: {
    readonly input_tokens: number;
    readonly output_tokens: number;
    readonly total_tokens: number;
    readonly input_tokens_details: { readonly image_tokens: number; readonly text_tokens: number };
    readonly output_tokens_details: { readonly image_tokens: number; readonly text_tokens: number };
  };
  readonly gw?: {
    readonly task_id: string;
    readonly generation_id: string;
    readonly provider: string;
    readonly cost_nano: string;
    readonly images: readonly { readonly index: number; readonly url: string }[];
    readonly notes: readonly string[];
  };
}

/** An answer's JSON. @throws Error where it is none of 200 */
export async function imagesIn(response: Response): Promise<ImageAnswer> {
  if (response.status !== 200)
    throw new Error(`${response.status}: ${(await response.text()).slice(0, 500)}`);
  return (await response.json()) as ImageAnswer;
}

interface ErrorBody {
  readonly message: string;
  readonly type: string;
  readonly param: string | null;
  readonly code: string | null;
}

/** A refusal's status and error. */
export async function errorIn(response: Response): Promise<ErrorBody & { readonly status: number }> {
  const { error } = (await response.json()) as { error: ErrorBody };
  return { status: response.status, ...error };
}
