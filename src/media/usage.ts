/**
 * The most that a call can produce, and what it did produce: the counts by which it is billed. TASK-26 to TASK-31,
 * BILL-14; docs/ledger.md; T56, T61.
 */
import { reportedAmount } from "../base/usage.ts";
import { families } from "./families/index.ts";
import type { UsageBasis } from "./family.ts";
import {
  imageTokens,
  unreportedImageTokens,
  type ImageTokens,
  type ProducedFormat,
} from "./image-tokens.ts";
import type {
  ImageRequest,
  MediaRequest,
  MediaUsage,
  ReportedUsage,
  VideoRequest,
} from "./types.ts";

/** The largest possible usage of the request: with the most expensive size and quality if it leaves them open. */
export function mediaBound(request: MediaRequest): MediaUsage {
  return request.kind === "video"
    ? videoUsage(request, {}).usage
    : imageUsage(request, undefined, { count: request.n }).usage;
}

/** The number of files, and for pictures how they were made. */
export interface Produced {
  readonly count: number;
  readonly as?: ProducedFormat | undefined;
}

/** The produced amounts. `isReported` is false if the requested amounts replace a count that the vendor did not report. */
export interface CountedMedia {
  readonly usage: MediaUsage;
  readonly isReported: boolean;
}

/**
 * The produced amounts. The vendor's own count wins, and a reported 0 is 0 (T61). If it reported nothing, or an impossible count,
 * the requested amounts are used. Unreported video tokens are billed as reserved. Pictures are counted from the
 * results, and `as` says how they were made.
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

/** The results to keep: no more than were requested and reserved (BILL-09). */
export const requestedResults = <Result>(
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

/** The usage of a call that has produced nothing, in its family's unit of billing. */
export const nothingUsed = (family: MediaRequest["family"]): MediaUsage =>
  nothing[families[family].usage.unit];

/** A report of more than this many times the requested amount is the vendor's mistake, and is not charged. */
const mistakenFactor = 10;

/** The amount that the vendor reported, if it is possible. */
function plausibleReport(reported: number | undefined, most: number): number | undefined {
  const count = reportedAmount(reported);
  return count !== undefined && count <= mistakenFactor * most ? count : undefined;
}

/**
 * Vendors report fractions of a second. Only this function rounds them, to the microsecond, so the shown and the charged time are the
 * same.
 */
const toMicrosecond = (seconds: number): number => Math.round(seconds * 1_000_000) / 1_000_000;

/** The duration of a video, if its vendor reported it; also for families that are billed by tokens (NVID-31). */
export function plausibleSeconds(
  request: MediaRequest,
  { seconds }: ReportedUsage,
): number | undefined {
  const told =
    request.kind === "video" ? plausibleReport(seconds, request.durationSeconds) : undefined;
  return told === undefined ? undefined : toMicrosecond(told);
}

const framesPerSecond = 24;
const pixelsPerToken = 1024;

const macroblock = 16;
const roundedUp = (pixels: number) => macroblock * Math.ceil(pixels / macroblock);

/**
 * The largest number of pixels of a frame. Covers the vendor's own frames, and a vendor that uses the tier's lines for the shorter
 * side at any ratio. If the vendor chooses the ratio, it may be the widest.
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

/** One frame more than the seconds contain: the vendor counts both ends (5 s of 1280x720 are 108,900 tokens). */
function videoTokens(
  request: VideoRequest,
  basis: Extract<UsageBasis, { unit: "video_tokens" }>,
): number {
  const frames = framesPerSecond * request.durationSeconds + 1;
  return Math.ceil((pixelsOfFrame(request, basis) * frames) / pixelsPerToken);
}

/**
 * The fields of a request that select one of a video's rates. A video without a wish has sound, as at every vendor that makes some.
 * It costs what was asked for, whatever the vendor says of its sound, so that it never costs more than the hold.
 */
const rateFields = ({ resolution, audio }: VideoRequest) => ({
  resolution,
  ...(audio === false && ({ silent: true } as const)),
});

function videoUsage(request: VideoRequest, reported: ReportedUsage): CountedMedia {
  const basis = families[request.family].usage;
  if (basis.unit === "video_tokens") {
    const most = videoTokens(request, basis);
    const told = plausibleReport(reported.videoTokens, most);
    const tokens = Math.ceil(told ?? most);
    const usage = { unit: "video_tokens", tokens, ...rateFields(request) } as const;
    return { usage, isReported: told !== undefined };
  }
  const frames = [request.firstFrame, request.lastFrame].filter((frame) => frame !== undefined);
  const told = plausibleSeconds(request, reported);
  const usage = {
    unit: "video_seconds",
    seconds: told ?? request.durationSeconds,
    ...rateFields(request),
    inputImages: frames.length + request.references.length,
  } as const;
  return { usage, isReported: told !== undefined };
}

const reportedNames = [
  "inputTextTokens",
  "inputImageTokens",
  "outputTextTokens",
  "outputImageTokens",
] as const satisfies readonly (keyof ImageTokens & keyof ReportedUsage)[];

function reportedImageTokens(reported: ReportedUsage, most: ImageTokens): ImageTokens | undefined {
  // If the vendor did not report the pictures that it made, they would be free (T56).
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

/** Tokens of input and output, text and pictures together. */
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

/** `reported` undefined: the upper bound. A vendor that reported its pictures has reported everything; other counts are 0. */
function imageUsage(
  request: ImageRequest,
  reported: ReportedUsage | undefined,
  { count, as: made = { sizes: Array.from({ length: count }, () => undefined) } }: Produced,
): CountedMedia {
  const basis = families[request.family].usage;
  if (basis.unit === "image_tokens") {
    const most = imageTokens(request, count, basis.autoSizes);
    const told = reported && reportedImageTokens(reported, most);
    const unreported = () => unreportedImageTokens(request, made, basis.autoSizes);
    const tokens = told ?? (reported ? unreported() : most);
    return { usage: { unit: "image_tokens", ...tokens }, isReported: told !== undefined };
  }
  const usage = {
    unit: "images",
    outputImages: count,
    inputImages: request.images.length,
    quality: request.quality,
    imageSize: request.imageSize,
  } as const;
  return { usage, isReported: true };
}
