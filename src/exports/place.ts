/** The place of exports: a folder, or a bucket with a prefix. As in every file store, a file exists whole or not at all. */
import { resolve } from "node:path";
import { reasonOf } from "../base/errors.ts";
import { exportPlacePattern } from "../base/export-place.ts";
import {
  adviceOnFiles,
  isOfBucket,
  openFileStore,
  type FileStore,
  type FileStoreOptions,
} from "../files/index.ts";

type Agents = FileStoreOptions["agents"];

/** The type of the configuration's `exports`. */
export interface ExportPlace extends Pick<
  FileStoreOptions,
  "endpoint" | "region" | "accessKeyId" | "secretAccessKey"
> {
  /** A folder, or `s3://bucket/prefix`. */
  readonly to: string;
}

/** `to` is not a valid place. */
class ExportPlaceError extends Error {
  override name = "ExportPlaceError";
}

/** The bucket does not take or find files; the message has the reason and a fix. */
class ExportBucketError extends Error {
  override name = "ExportBucketError";
}

const placeShape = new RegExp(exportPlacePattern);
const bucketShape = /^s3:\/\/([^/]+)(?:\/(.*))?$/;

/** Returns the options of the file store for the place. */
function storeOptions(place: ExportPlace): FileStoreOptions {
  const { to, endpoint, region, accessKeyId, secretAccessKey } = place;
  if (!placeShape.test(to))
    throw new ExportPlaceError(
      `"${to}" is no place for exports: name a folder, or s3://bucket/prefix`,
    );
  const [, bucket, path = ""] = bucketShape.exec(to) ?? [];
  if (bucket === undefined) return { kind: "local", directory: resolve(to) };
  const folders = path.split("/").filter((name) => name !== "");
  const prefix = folders.map((name) => `${name}/`).join("");
  return { kind: "s3", bucket, prefix, endpoint, region, accessKeyId, secretAccessKey };
}

/** Returns the store of a bucket with errors that name the bucket, the reason and a fix. Errors of the source stay as they are. */
function withReasons(store: FileStore, to: string): FileStore {
  const explained = <Result>(work: Promise<Result>): Promise<Result> =>
    work.catch((error: unknown) => {
      if (!isOfBucket(error)) throw error;
      const { reason, fix } = adviceOnFiles(error, "exports");
      throw new ExportBucketError(`${to} cannot be used: ${reason}; ${fix}`, { cause: error });
    });
  return {
    ...store,
    put: (...file) => explained(store.put(...file)),
    size: (name) => explained(store.size(name)),
  };
}

/**
 * Opens the file store of the place. `agents` gives the HTTP agents for a bucket; the S3 client's own if absent. @throws
 * ExportPlaceError
 */
export async function openExportPlace(
  place: ExportPlace,
  agents?: () => Agents,
): Promise<FileStore> {
  const options = storeOptions(place);
  if (options.kind === "s3")
    return withReasons(await openFileStore({ ...options, agents: agents?.() }, ""), place.to);
  try {
    return await openFileStore(options, "");
  } catch (error) {
    throw new ExportPlaceError(
      `"${place.to}" is no place for exports, because its folder cannot be made: ${reasonOf(error)}`,
      { cause: error },
    );
  }
}
