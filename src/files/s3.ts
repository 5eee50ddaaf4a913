/**
 * Files in an S3 bucket, Amazon's or any with its protocol. An upload is sent in parts, one in memory at a time, and aborted if it fails,
 * so that a name always leads to a whole file. Requirements: STORE.
 */
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  S3Client,
  S3ServiceException,
} from "@aws-sdk/client-s3";
import { Upload } from "@aws-sdk/lib-storage";
import { Readable } from "node:stream";
import {
  checkFileName,
  countBytes,
  type ByteRange,
  type FileStore,
  type FileStoreOptions,
  type OpenFile,
} from "./store.ts";

/** The least size that S3 allows: each upload holds some of them in memory. */
const partBytes = 5 * 1024 * 1024;
/**
 * No limit of connections: a file with a slow reader holds one, and the code that opens files counts them (counted.ts). With the client's
 * own limit of 50, that many viewers of videos would block the storing of results and uploads.
 */
const connections = { keepAlive: true, maxSockets: Infinity, maxFreeSockets: 50 };
/** A bucket that does not answer must not hold a task for ever. */
const connectionTimeoutMs = 10_000;
const requestTimeoutMs = 120_000;

/** Opens the bucket, without a request to it. @throws Error where none is named */
export function openS3Files(options: FileStoreOptions): FileStore {
  const { bucket, prefix = "" } = options;
  if (bucket === undefined || bucket === "") throw new Error("storage.bucket is missing");
  const client = createClient(options);
  const object = (name: string) => {
    checkFileName(name);
    return { Bucket: bucket, Key: prefix + name };
  };
  return {
    heldBytes: partBytes,
    async put(name, source, { mediaType, bytesMax, ended }) {
      let bytes = 0;
      const place = object(name);
      const counted = countBytes(source, bytesMax, (count) => (bytes = count));
      const reading = rememberFailure(counted);
      const body = Readable.from(reading.chunks);
      const upload = new Upload({
        client,
        params: { ...place, ContentType: mediaType, Body: body },
        partSize: partBytes,
        queueSize: 1,
      });
      const giveUp = (): void => void upload.abort();
      ended?.addEventListener("abort", giveUp);
      try {
        await upload.done();
      } catch (error) {
        // If the abort fails too, its error replaces the reason.
        throw reading.failure() ?? error;
      } finally {
        ended?.removeEventListener("abort", giveUp);
        body.destroy();
      }
      return { bytes };
    },
    open: async (name, range) => openObject(client, object(name), range),
    async size(name) {
      const place = object(name);
      try {
        const { ContentLength } = await client.send(new HeadObjectCommand(place));
        if (ContentLength !== undefined) return ContentLength;
      } catch (error) {
        if (!(error instanceof S3ServiceException)) throw error;
      }
      // The answer to a HEAD has no body with the error: whether the file is missing or the bucket, and why it is refused.
      const file = await openObject(client, place);
      file?.stream.destroy();
      return file?.bytes;
    },
    async remove(name) {
      await client.send(new DeleteObjectCommand(object(name)));
    },
    close: () => Promise.resolve(client.destroy()),
  };
}

async function openObject(
  client: S3Client,
  place: { readonly Bucket: string; readonly Key: string },
  range?: ByteRange,
): Promise<OpenFile | undefined> {
  try {
    const Range = range && { Range: `bytes=${range.start}-${range.end}` };
    const answer = await client.send(new GetObjectCommand({ ...place, ...Range }));
    const stream = answer.Body as Readable;
    if (answer.ContentLength !== undefined) return { stream, bytes: answer.ContentLength };
    stream.destroy();
    throw new Error("the bucket's server does not tell how long a file is (Content-Length)");
  } catch (error) {
    // If the bucket itself is gone, its files do not count as missing.
    if (isStatus(error, 404) && error.name !== "NoSuchBucket") return undefined;
    if (isStatus(error, 416)) throw new RangeError("the range is outside the file");
    throw error;
  }
}

function createClient(options: FileStoreOptions): S3Client {
  const { endpoint, accessKeyId, secretAccessKey } = options;
  return new S3Client({
    requestHandler: {
      connectionTimeout: connectionTimeoutMs,
      requestTimeout: requestTimeoutMs,
      throwOnRequestTimeout: true,
      ...(options.agents ?? { httpAgent: connections, httpsAgent: connections }),
    },
    region: options.region ?? process.env["AWS_REGION"] ?? "us-east-1",
    // Buckets in paths, and no checksums that need trailers: servers other than Amazon's have these in common.
    ...(endpoint !== undefined && {
      endpoint,
      forcePathStyle: true,
      requestChecksumCalculation: "WHEN_REQUIRED" as const,
      responseChecksumValidation: "WHEN_REQUIRED" as const,
    }),
    ...(accessKeyId !== undefined &&
      secretAccessKey !== undefined && { credentials: { accessKeyId, secretAccessKey } }),
  });
}

/** Passes chunks on and keeps the error that ended them. */
function rememberFailure(source: AsyncIterable<Uint8Array>) {
  let failure: unknown;
  async function* chunks(): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      yield* source;
    } catch (error) {
      failure = error;
      throw error;
    }
  }
  return { chunks: chunks(), failure: () => failure };
}

const isStatus = (error: unknown, status: number): error is S3ServiceException =>
  error instanceof S3ServiceException && error.$metadata.httpStatusCode === status;
