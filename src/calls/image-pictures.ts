/**
 * Produced pictures and their reported properties. Size and format come from the picture's own header, whatever its vendor claims;
 * other properties come from the vendor if it reported them. IMG-19 to IMG-27.
 */
import { trustedUrl, type Candidate, type PictureRoom } from "../attempts/index.ts";
import { readProducedPicture, type ProducedPicture } from "../base/image-header.ts";
import { ChunkBuffer } from "../base/chunk-buffer.ts";
import { retry } from "../base/retry.ts";
import { imageTokenTotals, type ImageRequest, type MediaUsage } from "../media/index.ts";
import {
  download,
  DownloadError,
  type DownloadRequest,
  type MediaResult,
  type Rendered,
} from "../upstream/index.ts";
import { heldMs, type ImageContext } from "./image-context.ts";
import { unusable } from "./image-failures.ts";

/** A produced picture. */
export interface Picture {
  readonly base64: string;
  readonly header: ProducedPicture;
}

/** Reads a vendor's base64 as a picture. @throws AttemptFailure if it is none */
function pictureOf(base64: string): Picture {
  const header = readProducedPicture(base64);
  if (typeof header === "string") throw unusable("the result is no PNG, JPEG or WebP picture");
  return { base64, header };
}

const resultBytesMax = 128 * 1024 * 1024;
/** All pictures of one call: a text has less than 512 MiB, and the answer with them in base64 is one. */
const resultsBytesMax = 360 * 1024 * 1024;
const idleMs = 30_000;
const totalMs = 300_000;
const pauseMsMax = 5_000;
/** A picture that its server lacks for longer is not coming: the caller waits, and the vendor gives no other address. */
const missingMsMax = 30_000;

/** True if the picture may be fetched after this failure: its URL may not work yet, or its server may be down for a moment. */
export const mayFetchAgain = (error: unknown, triedMs: number): boolean =>
  error instanceof DownloadError && error.retryable && (triedMs < missingMsMax || !error.isMissing);

interface Wanted {
  readonly result: MediaResult;
  /** Counts fetched bytes at their size in base64. */
  readonly room: PictureRoom;
}

/** A vendor's result as a picture; downloads it if the vendor returned a URL. @throws AttemptFailure if it is none */
export async function fetchPicture(
  context: ImageContext,
  { provider }: Candidate,
  { result, room }: Wanted,
): Promise<Picture> {
  if (result.from === "base64") return pictureOf(result.base64);
  const { services, stopped: signal } = context;
  const beganMs = performance.now();
  const mayPass = (error: unknown) => mayFetchAgain(error, performance.now() - beganMs);
  const again = { forMs: heldMs(context, provider), mayPass, pauseMsMax, signal };
  const request = {
    url: result.url,
    kind: "image",
    bytesMax: Math.min(resultBytesMax, Math.floor(resultsBytesMax / context.request.n)),
    idleMs,
    totalMs,
    providerUrl: trustedUrl(provider),
    provider,
    dialRoutes: services.pools,
    allowPrivate: services.allowPrivateAddresses,
    signal,
  } as const;
  try {
    return await retry(again, () => fetchOnce(request, room));
  } catch (error) {
    throw error instanceof DownloadError ? unusable(error.message) : error;
  }
}

async function fetchOnce(request: DownloadRequest, room: PictureRoom): Promise<Picture> {
  let counted = 0;
  try {
    return await download(request, async (source) => {
      const pieces = new ChunkBuffer();
      for await (const chunk of source) {
        pieces.add(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length));
        const bytes = Math.ceil((chunk.length * 4) / 3);
        counted += bytes;
        await room.onBytes(bytes);
      }
      return pictureOf(pieces.join().toString("base64"));
    });
  } catch (error) {
    void room.onBytes(-counted);
    throw error;
  }
}

const formats = { "image/png": "png", "image/jpeg": "jpeg", "image/webp": "webp" } as const;
const qualities: ReadonlySet<string> = new Set(["low", "medium", "high"]);
const backgrounds: ReadonlySet<string> = new Set(["opaque", "transparent"]);

/** The first reported word that the answer may contain; `auto` is not one. */
const wordOf = (
  allowed: ReadonlySet<string>,
  reported: readonly (string | undefined)[],
  otherwise: string,
): string => reported.find((word) => word !== undefined && allowed.has(word)) ?? otherwise;

/** The size of a picture in the form of the API, such as 1024x1024. */
export const sizeOf = ({ width, height }: ProducedPicture): string => `${width}x${height}`;

/** The actual properties of a picture. If the quality is not reported, it is the billed one: the best. */
export function renderedAs(request: ImageRequest, reported: Rendered, { header }: Picture) {
  return {
    background: wordOf(backgrounds, [reported.background, request.background], "opaque"),
    output_format: formats[header.mediaType],
    quality: wordOf(qualities, [reported.quality, request.quality], "high"),
    size: sizeOf(header),
  };
}

/** The usage of an image answer (IMG-26, IMG-27). */
export function tokensOf(usage: MediaUsage) {
  if (usage.unit !== "image_tokens") throw new Error("an image call is billed by tokens");
  const { inputTextTokens, inputImageTokens, outputTextTokens, outputImageTokens } = usage;
  const { input, output } = imageTokenTotals(usage);
  return {
    input_tokens: input,
    output_tokens: output,
    total_tokens: input + output,
    input_tokens_details: { image_tokens: inputImageTokens, text_tokens: inputTextTokens },
    output_tokens_details: { image_tokens: outputImageTokens, text_tokens: outputTextTokens },
  };
}
