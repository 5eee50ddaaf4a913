/**
 * The last step of a task that succeeded at its vendor: what it made is streamed into our own storage, then the task ends.
 * A result that cannot be had, or is not what it should be, makes the task fail, unbilled. docs/tasks.md; STORE-01.
 */
import { chargeFor } from "../base/cost-bound.ts";
import { dayMs } from "../base/durations.ts";
import { setTimeout as sleep } from "node:timers/promises";
import { readMadePicture } from "../base/image-header.ts";
import { trustedUrl, type KeyedCandidate } from "../attempts/index.ts";
import { FileDrafts, FileTooLargeError, newFileName, recordFile } from "../files/index.ts";
import { mediaUsage, priceMedia, toldSeconds, wantedOf, type MadeAs } from "../media/index.ts";
import { persist } from "../storage/index.ts";
import {
  download,
  DownloadError,
  mediaTypeOf,
  type MediaResult,
  type MediaState,
} from "../upstream/index.ts";
import { endTask } from "./end.ts";
import type { TaskServices } from "./engine.ts";
import { createFetching } from "./fetching.ts";
import { writeRetryMs } from "./lease.ts";
import type { Job } from "./rows.ts";
import type { Artifact } from "./types.ts";

/** Largest result that is kept. */
const bytesMaxDefault = { video: 1024 * 1024 * 1024, image: 128 * 1024 * 1024 } as const;
/** Of a result that its vendor keeps: it is asked for it again. */
const keepTries = 3;
const keepPauseMsMax = 15_000;
const idleMs = 30_000;
/** Of this process, whatever gateways there are in it: they share its memory. */
const fetching = createFetching();
/** Until the task has ended, a result is one that may be left behind by a crash. */
const unclaimedMs = dayMs;

export type Succeeded = Extract<MediaState, { state: "succeeded" }>;

interface Collecting {
  readonly target: KeyedCandidate;
  readonly answer: Succeeded;
  /** Whether the vendor can be asked for the result once more; never where absent. */
  readonly mayComeBack?: (() => boolean) | undefined;
}

/** Runs `work`, which collects this answer, once there is a place. Results that came with it are in memory already, and wait for nobody. */
export function inTurnToCollect<Result>(
  job: Job,
  { results }: Succeeded,
  work: () => Promise<Result>,
): Promise<Result> {
  return areFetched(results) ? fetching.inTurn(job, work) : work();
}

const areFetched = (results: readonly MediaResult[]): boolean =>
  results.some(({ from }) => from === "url");

/**
 * Fetches what was made, and ends the task; false where it had ended without it, and then nothing of it is kept.
 * @throws DownloadError where it cannot be fetched now, and `mayComeBack`; what our storage fails with, where its vendor keeps it
 */
export async function collect(
  services: TaskServices,
  job: Job,
  { target, answer, mayComeBack }: Collecting,
): Promise<boolean> {
  await services.at("collect.begin");
  const { workspaceId, id: taskId } = job;
  const { ending, timing } = services;
  const stop = { signal: ending.signal, ms: timing.closeMs / 4 };
  const owner = { workspaceId, taskId, waitMs: unclaimedMs, stop };
  const drafts = new FileDrafts(services, owner, (row) =>
    persist(writeRetryMs(job), () => recordFile(services.database, row)),
  );
  const artifacts: Artifact[] = [];
  const endMs = performance.now() + timing.downloadMs;
  try {
    const bytesMax = bytesMaxOf(services, job);
    const seconds = toldSeconds(job.request, answer.reported);
    const kept = { target, isInTurn: areFetched(answer.results), drafts, bytesMax, endMs };
    for (const result of wantedOf(job.request, answer.results))
      artifacts.push({ ...(await keep(services, job, { ...kept, result })), seconds });
  } catch (error) {
    // What is here of it would stay for a day, with each further try.
    await drafts.discard();
    if (error instanceof DownloadError && error.retryable && mayComeBack?.() === true) throw error;
    return failed(services, job, { target, error });
  }
  await services.at("collect.stored");
  const { usage, isTold } = mediaUsage(job.request, answer.reported, {
    count: artifacts.length,
    as: madeAs(job, answer),
  });
  const { price } = target.offer;
  const costNano = chargeFor(priceMedia(price, usage), { log: services.log, id: taskId });
  const hasEnded = await endTask(services, job, {
    status: "succeeded",
    usage,
    isTold,
    costNano,
    price,
    artifacts,
  });
  if (!hasEnded) await drafts.discard();
  return hasEnded;
}

/** A result that is bad fails the task; one that our storage refuses only where its vendor does not keep it. */
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

/** How pictures were made: as their own headers say, else as their vendor does. Undefined for videos. */
function madeAs({ kind, request }: Job, { results, rendered }: Succeeded): MadeAs | undefined {
  if (kind === "video") return undefined;
  const sizes = wantedOf(request, results).map((result) => {
    if (result.from !== "base64") return rendered?.size;
    const made = readMadePicture(result.base64);
    return typeof made === "string" ? rendered?.size : `${made.width}x${made.height}`;
  });
  return { sizes, quality: rendered?.quality };
}

interface Kept {
  readonly target: KeyedCandidate;
  readonly result: MediaResult;
  /** Whether its step has a place among those that fetch. */
  readonly isInTurn: boolean;
  readonly drafts: FileDrafts;
  readonly bytesMax: number;
  /** When all results have to be here, by the processor's count. */
  readonly endMs: number;
}

/**
 * Of a vendor that answers with the result nobody else has it, and it is paid: it is tried until its time is over, in the memory that its
 * step has leased. An engine that is about to be gone has one try left.
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
      const isOver = performance.now() + pauseMs >= endMs || services.ending.signal.aborted;
      const isLast = !isOnlyHere && attempt >= keepTries;
      if (!mayPass(error) || isOver || isLast) throw error;
      if (attempt === keepTries)
        services.log.warn(
          { err: error, task: job.id },
          "a result that only this gateway has could not be kept; it is tried again",
        );
      const pause = () => sleep(pauseMs, undefined, services.ending).catch(() => undefined);
      // Of others the pauses are short, and what they wait for a place would count as time of their vendor's.
      await (kept.isInTurn && isOnlyHere ? fetching.pauseOf(job, pause) : pause());
    }
  }
}

const mayPass = (error: unknown): boolean =>
  error instanceof DownloadError ? error.retryable : !(error instanceof FileTooLargeError);

/** What keeps a result; each call is a try. @throws DownloadError where it is not what it should be */
function keeperOf(services: TaskServices, job: Job, kept: Kept): () => Promise<Artifact> {
  const { result } = kept;
  if (result.from === "url") return () => fetchResult(services, job, { ...kept, url: result.url });
  const source = Buffer.from(result.base64, "base64");
  const mediaType = mediaTypeOf(source);
  if (mediaType === undefined || !mediaType.startsWith(`${job.kind}/`))
    throw new DownloadError("media_type", `the file is no ${job.kind}`);
  // One name, so that no try leaves a row behind.
  const name = newFileName(mediaType);
  return () => store(kept, { name, mediaType, source });
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
      ways: services.pools,
      allowPrivate: services.allowPrivateAddresses,
    },
    (source, mediaType) => store(kept, { mediaType, source }),
  );
}

interface Stored {
  /** Absent: a new one. */
  readonly name?: string;
  readonly mediaType: string;
  readonly source: Buffer | AsyncIterable<Uint8Array>;
}

async function store({ drafts, bytesMax }: Kept, stored: Stored): Promise<Artifact> {
  const { name, mediaType, bytes } = await drafts.put({ ...stored, purpose: "result", bytesMax });
  return { name, mediaType, bytes };
}
