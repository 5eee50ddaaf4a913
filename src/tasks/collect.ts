/**
 * The last step of a task that succeeded at its vendor: the result is streamed into our own storage, then the task ends.
 * If the result cannot be fetched or is not valid, the task fails and nothing is charged. docs/tasks.md; STORE-01.
 */
import { chargeFor } from "../base/cost-bound.ts";
import { dayMs } from "../base/durations.ts";
import { setTimeout as sleep } from "node:timers/promises";
import {
  ImageHeaderReader,
  readProducedPicture,
  type HeaderReading,
} from "../base/image-header.ts";
import { mediaTypeOf } from "../base/media-type.ts";
import { trustedUrl, type KeyedCandidate } from "../attempts/index.ts";
import { FileDrafts, FileTooLargeError, newFileName, recordFile } from "../files/index.ts";
import {
  mediaUsage,
  priceMedia,
  plausibleSeconds,
  requestedResults,
  type ProducedFormat,
} from "../media/index.ts";
import { retryWhileAway } from "../storage/index.ts";
import { download, DownloadError, type MediaResult, type MediaState } from "../upstream/index.ts";
import { endTask } from "./end.ts";
import type { TaskServices } from "./engine.ts";
import { createFetching } from "./fetching.ts";
import { writeRetryMs } from "./lease.ts";
import type { Job } from "./rows.ts";
import type { Artifact } from "./types.ts";

/** Largest result that is kept, in bytes. */
const bytesMaxDefault = { video: 1024 * 1024 * 1024, image: 128 * 1024 * 1024 } as const;
/** Tries of one step for a result that its vendor keeps; a later step fetches it again. */
const keepTries = 3;
const keepPauseMsMax = 15_000;
const idleMs = 30_000;
/** Shared by all gateways in this process, because they share its memory. */
const fetching = createFetching();
/** Lifetime of a stored result whose task has not ended: a crash may leave it behind. */
const unclaimedMs = dayMs;

export type Succeeded = Extract<MediaState, { state: "succeeded" }>;

interface Collecting {
  readonly target: KeyedCandidate;
  readonly answer: Succeeded;
  /** True if the vendor can be asked for the result again; absent: never. */
  readonly canRetryLater?: (() => boolean) | undefined;
}

/** Runs `work`, which collects this answer, once there is a slot. Results inside the answer are in memory already and do not wait. */
export function withFetchSlot<Result>(
  job: Job,
  { results }: Succeeded,
  work: () => Promise<Result>,
): Promise<Result> {
  return areFetched(results) ? fetching.withSlot(job, work) : work();
}

const areFetched = (results: readonly MediaResult[]): boolean =>
  results.some(({ from }) => from === "url");

/**
 * Fetches the result, and ends the task; false if the task had ended before, and then nothing of the result is kept.
 * @throws DownloadError if it cannot be fetched now and `canRetryLater`; the error of our storage, if the vendor keeps the result
 */
export async function collect(
  services: TaskServices,
  job: Job,
  { target, answer, canRetryLater }: Collecting,
): Promise<boolean> {
  await services.at("collect.begin");
  const { workspaceId, id: taskId } = job;
  const { shutdown, timing } = services;
  const stop = { signal: shutdown.signal, ms: timing.closeMs / 4 };
  const owner = { workspaceId, taskId, waitMs: unclaimedMs, stop };
  const drafts = new FileDrafts(services, owner, (row) =>
    retryWhileAway(writeRetryMs(job), () => recordFile(services.database, row)),
  );
  const artifacts: Artifact[] = [];
  const endMs = performance.now() + timing.downloadMs;
  try {
    const bytesMax = bytesMaxOf(services, job);
    const seconds = plausibleSeconds(job.request, answer.reported);
    const kept = { target, hasFetchSlot: areFetched(answer.results), drafts, bytesMax, endMs };
    for (const result of requestedResults(job.request, answer.results))
      artifacts.push({ ...(await keep(services, job, { ...kept, result })), seconds });
  } catch (error) {
    // Otherwise each further try would leave a part of the result here for a day.
    await drafts.discard();
    if (error instanceof DownloadError && error.retryable && canRetryLater?.() === true)
      throw error;
    return failed(services, job, { target, error });
  }
  await services.at("collect.stored");
  const { usage, isReported } = mediaUsage(job.request, answer.reported, {
    count: artifacts.length,
    as: producedFormat(job, answer),
  });
  const { price } = target.offer;
  const costNano = chargeFor(priceMedia(price, usage), { log: services.log, id: taskId });
  const hasEnded = await endTask(services, job, {
    status: "succeeded",
    usage,
    isReported,
    costNano,
    price,
    artifacts,
  });
  if (!hasEnded) await drafts.discard();
  return hasEnded;
}

/** A bad result fails the task. A failure of our storage fails it only if the vendor does not keep the result; else it is thrown. */
async function failed(
  services: TaskServices,
  job: Job,
  { target, error }: { readonly target: KeyedCandidate; readonly error: unknown },
): Promise<boolean> {
  const isBad = error instanceof DownloadError;
  if (!isBad && target.dialect.synchronous !== true) throw error;
  if (!isBad) services.log.error({ err: error, task: job.id }, "a result could not be stored");
  const why = isBad ? error.message : "the gateway's storage failed";
  const message = `The provider's result could not be stored: ${why}. Nothing was charged.`;
  return endTask(services, job, {
    status: "failed",
    error: { code: "artifact_unavailable", message },
  });
}

/** Sizes and quality of the pictures: from their own headers, else from the vendor's answer. Undefined for videos. */
function producedFormat(
  { kind, request }: Job,
  { results, rendered }: Succeeded,
): ProducedFormat | undefined {
  if (kind === "video") return undefined;
  const sizes = requestedResults(request, results).map((result) => {
    if (result.from !== "base64") return rendered?.size;
    const made = readProducedPicture(result.base64);
    return typeof made === "string" ? rendered?.size : `${made.width}x${made.height}`;
  });
  return { sizes, quality: rendered?.quality };
}

interface Kept {
  readonly target: KeyedCandidate;
  readonly result: MediaResult;
  /** True if its step has one of the slots for fetching. */
  readonly hasFetchSlot: boolean;
  readonly drafts: FileDrafts;
  readonly bytesMax: number;
  /** The deadline for all results, by `performance.now()`. */
  readonly endMs: number;
}

/**
 * Keeps one result, with retries. Only this process has the result of a synchronous vendor, and the vendor is paid: so it retries until
 * the deadline, in the memory that the step has leased. Once the engine is about to stop, it has one try left.
 */
async function keep(services: TaskServices, job: Job, kept: Kept): Promise<Artifact> {
  const { target, endMs } = kept;
  const isOnlyHere = target.dialect.synchronous === true;
  const keepOnce = keeperOf(services, job, kept);
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await keepOnce();
    } catch (error) {
      const pauseMs = Math.min(services.timing.keepPauseMs * attempt, keepPauseMsMax);
      const isOver = performance.now() + pauseMs >= endMs || services.shutdown.signal.aborted;
      const isLast = !isOnlyHere && attempt >= keepTries;
      if (!isTransientFailure(error) || isOver || isLast) throw error;
      if (attempt === keepTries)
        services.log.warn(
          { err: error, task: job.id },
          "a result that only this gateway has could not be kept; it is tried again",
        );
      const pause = () => sleep(pauseMs, undefined, services.shutdown).catch(() => undefined);
      // For other vendors the pauses are short, and waiting for a slot again would use up their download time.
      await (kept.hasFetchSlot && isOnlyHere ? fetching.pauseSlot(job, pause) : pause());
    }
  }
}

const isTransientFailure = (error: unknown): boolean =>
  error instanceof DownloadError ? error.retryable : !(error instanceof FileTooLargeError);

/** Returns a function that tries once to keep a result. @throws DownloadError if the result is not valid */
function keeperOf(services: TaskServices, job: Job, kept: Kept): () => Promise<Artifact> {
  const { result } = kept;
  if (result.from === "url") return () => fetchResult(services, job, { ...kept, url: result.url });
  const source = Buffer.from(result.base64, "base64");
  const mediaType = job.kind === "image" ? pictureTypeOf(result.base64) : mediaTypeOf(source);
  if (mediaType === undefined || !mediaType.startsWith(`${job.kind}/`)) throw isNo(job);
  // The same name for every try, so that no try leaves a row behind.
  const name = newFileName(mediaType);
  return () => store(kept, { name, mediaType, source });
}

const isNo = ({ kind }: Job): DownloadError =>
  new DownloadError("media_type", `the file is no ${kind}`);

/** The type of a picture whose header can be read. */
function pictureTypeOf(base64: string): string | undefined {
  const made = readProducedPicture(base64);
  return typeof made === "string" ? undefined : made.mediaType;
}

/**
 * Passes on a picture. The first bytes of it are right, but what follows may be no picture. @throws DownloadError then, and if its header
 * is not whole: the file may still be on its way
 */
async function* readablePicture(
  job: Job,
  source: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const reader = new ImageHeaderReader();
  let reading: HeaderReading = "incomplete";
  for await (const chunk of source) {
    if (reading === "incomplete")
      reading = reader.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length));
    if (reading === "invalid") throw isNo(job);
    yield chunk;
  }
  if (reading === "incomplete")
    throw new DownloadError("media_type", "the picture is cut off", { retryable: true });
}

const bytesMaxOf = ({ videoBytesMax }: TaskServices, { kind }: Job): number =>
  kind === "video" && videoBytesMax !== undefined ? videoBytesMax : bytesMaxDefault[kind];

interface Fetched extends Kept {
  readonly url: string;
}

function fetchResult(services: TaskServices, job: Job, kept: Fetched): Promise<Artifact> {
  const { url, endMs } = kept;
  return download(
    {
      url,
      kind: job.kind,
      bytesMax: kept.bytesMax,
      idleMs,
      totalMs: endMs - performance.now(),
      providerUrl: trustedUrl(kept.target.provider),
      provider: kept.target.provider,
      dialRoutes: services.pools,
      allowPrivate: services.allowPrivateAddresses,
    },
    (source, mediaType) =>
      store(kept, {
        mediaType,
        source: job.kind === "image" ? readablePicture(job, source) : source,
      }),
  );
}

interface Stored {
  /** Absent: a new name. */
  readonly name?: string;
  readonly mediaType: string;
  readonly source: Buffer | AsyncIterable<Uint8Array>;
}

async function store({ drafts, bytesMax }: Kept, stored: Stored): Promise<Artifact> {
  const { name, mediaType, bytes } = await drafts.put({ ...stored, purpose: "result", bytesMax });
  return { name, mediaType, bytes };
}
