/**
 * What a call can produce at most, and what it did produce: the counts it is billed by. TASK-26 to TASK-31,
 * BILL-14; docs/ledger.md; T56, T61.
 */
import { reportedAmount } from "../base/usage.ts";
import { families } from "./families/index.ts";
import type { UsageBasis } from "./family.ts";
import {
  imageTokens,
  unreportedImageTokens,
  type ImageTokens,
  type MadeAs,
} from "./image-tokens.ts";
import type {
  ImageRequest,
  MediaRequest,
  MediaUsage,
  ReportedUsage,
  VideoRequest,
} from "./types.ts";

/** The largest usage the request can lead to: dearest size and quality where it leaves them open. */
export function mediaBound(request: MediaRequest): MediaUsage {
  return request.kind === "video"
    ? videoUsage(request, {}).usage
    : imageUsage(request, undefined, { count: request.n }).usage;
}

/** How many files there are, and of pictures how they were made. */
export interface Produced {
  readonly count: number;
  readonly as?: MadeAs | undefined;
}

/** What was produced, and whether that is known: false where what was asked for stands in for what the vendor did not tell. */
export interface CountedMedia {
  readonly usage: MediaUsage;
  readonly isTold: boolean;
}

/**
 * What was produced. The vendor's own count wins, and a 0 it reported is 0 (T61); where it reported nothing, or what cannot be,
 * what was asked for stands in. Video tokens nobody reported are billed as reserved. Pictures that are here are their own count,
 * and `as` says how they were made.
 */
export function mediaUsage(
  request: MediaRequest,
  reported: ReportedUsage,
  produced: Produced,
): CountedMedia {
  return request.kind === "video"
    ? videoUsage(request, reported)
    : imageUsage(request, reported, produced);
}

/** Of what a vendor made, no more than was asked for and reserved (BILL-09). */
export const wantedOf = <Result>(
  request: MediaRequest,
  results: readonly Result[],
): readonly Result[] => (request.kind === "image" ? results.slice(0, request.n) : results);

const nothing: { readonly [Unit in MediaUsage["unit"]]: Extract<MediaUsage, { unit: Unit }> } = {
  images: { unit: "images", outputImages: 0, inputImages: 0 },
  image_tokens: {
    unit: "image_tokens",
    inputTextTokens: 0,
    inputImageTokens: 0,
    outputTextTokens: 0,
    outputImageTokens: 0,
  },
  video_seconds: { unit: "video_seconds", seconds: 0, resolution: "", inputImages: 0 },
  video_tokens: { unit: "video_tokens", tokens: 0 },
};

/** The usage of a call that has produced nothing, in the unit that its family is billed by. */
export const nothingUsed = (family: MediaRequest["family"]): MediaUsage =>
  nothing[families[family].usage.unit];

/** A vendor that reports more than so many times of what was asked for is mistaken: nobody is charged for that. */
const mistakenFactor = 10;

/** What the vendor reported, where that can be. */
function toldOf(reported: number | undefined, most: number): number | undefined {
  const count = reportedAmount(reported);
  return count !== undefined && count <= mistakenFactor * most ? count : undefined;
}

/** Vendors report fractions of a second. They count to the microsecond, here alone: what is shown of a call is what it is charged by. */
const toMicrosecond = (seconds: number): number => Math.round(seconds * 1_000_000) / 1_000_000;

/** How long a video is, where its vendor told; that holds for families that are billed by tokens, too (NVID-31). */
export function toldSeconds(request: MediaRequest, { seconds }: ReportedUsage): number | undefined {
  const told = request.kind === "video" ? toldOf(seconds, request.durationSeconds) : undefined;
  return told === undefined ? undefined : toMicrosecond(told);
}

const framesPerSecond = 24;
const pixelsPerToken = 1024;

const macroblock = 16;
const roundedUp = (pixels: number) => macroblock * Math.ceil(pixels / macroblock);

/**
 * The most pixels a frame can have: of what the vendor makes, and of a vendor that takes the tier's lines for the shorter
 * side whatever the ratio. Where the vendor chooses the ratio, it may be the widest.
 */
function pixelsOfFrame(
  { resolution, aspectRatio }: VideoRequest,
  { framePixels, widestRatio }: Extract<UsageBasis, { unit: "video_tokens" }>,
): number {
  const ratio = /^\d+:\d+$/.test(aspectRatio ?? "") ? aspectRatio! : widestRatio;
  const [across = 1, down = 1] = ratio.split(":").map(Number);
  const lines = Number.parseInt(resolution, 10);
  const long = roundedUp((lines * Math.max(across, down)) / Math.min(across, down));
  return Math.max(framePixels[resolution] ?? 0, long * roundedUp(lines));
}

/** One frame more than the seconds have: the vendor counts both ends (5 s of 1280x720 are 108,900 tokens). */
function videoTokens(
  request: VideoRequest,
  basis: Extract<UsageBasis, { unit: "video_tokens" }>,
): number {
  const frames = framesPerSecond * request.durationSeconds + 1;
  return Math.ceil((pixelsOfFrame(request, basis) * frames) / pixelsPerToken);
}

function videoUsage(request: VideoRequest, reported: ReportedUsage): CountedMedia {
  const basis = families[request.family].usage;
  if (basis.unit === "video_tokens") {
    const most = videoTokens(request, basis);
    const told = toldOf(reported.videoTokens, most);
    const usage = { unit: "video_tokens", tokens: Math.ceil(told ?? most) } as const;
    return { usage, isTold: told !== undefined };
  }
  const frames = [request.firstFrame, request.lastFrame].filter((frame) => frame !== undefined);
  const told = toldSeconds(request, reported);
  const usage = {
    unit: "video_seconds",
    seconds: told ?? request.durationSeconds,
    resolution: request.resolution,
    inputImages: frames.length + request.references.length,
  } as const;
  return { usage, isTold: told !== undefined };
}

const reportedNames = [
  "inputTextTokens",
  "inputImageTokens",
  "outputTextTokens",
  "outputImageTokens",
] as const satisfies readonly (keyof ImageTokens & keyof ReportedUsage)[];

function reportedImageTokens(reported: ReportedUsage, most: ImageTokens): ImageTokens | undefined {
  // A vendor that told nothing of the pictures that it made: they would be free (T56).
  if (reportedAmount(reported.outputImageTokens) === undefined) return undefined;
  const count = (value: number | undefined) => Math.ceil(reportedAmount(value) ?? 0);
  const counts = {
    inputTextTokens: count(reported.inputTextTokens),
    inputImageTokens: count(reported.inputImageTokens),
    outputTextTokens: count(reported.outputTextTokens),
    outputImageTokens: count(reported.outputImageTokens),
  };
  return sumOf(counts) > mistakenFactor * sumOf(most) ? undefined : counts;
}

/** Tokens in and out, of texts and pictures together. */
export function imageTokenTotals(tokens: ImageTokens): {
  readonly input: number;
  readonly output: number;
} {
  return {
    input: tokens.inputTextTokens + tokens.inputImageTokens,
    output: tokens.outputTextTokens + tokens.outputImageTokens,
  };
}

const sumOf = (tokens: ImageTokens): number =>
  reportedNames.reduce((sum, name) => sum + tokens[name], 0);

/** `reported` undefined: as much as there can be. A vendor that reported its pictures reported all it has; the others are 0. */
function imageUsage(
  request: ImageRequest,
  reported: ReportedUsage | undefined,
  { count, as: made = { sizes: Array.from({ length: count }, () => undefined) } }: Produced,
): CountedMedia {
  const basis = families[request.family].usage;
  if (basis.unit === "image_tokens") {
    const most = imageTokens(request, count, basis.autoSizes);
    const told = reported && reportedImageTokens(reported, most);
    const untold = () => unreportedImageTokens(request, made, basis.autoSizes);
    const tokens = told ?? (reported ? untold() : most);
    return { usage: { unit: "image_tokens", ...tokens }, isTold: told !== undefined };
  }
  const usage = {
    unit: "images",
    outputImages: count,
    inputImages: request.images.length,
    quality: request.quality,
    imageSize: request.imageSize,
  } as const;
  return { usage, isTold: true };
}
