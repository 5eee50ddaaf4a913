/** The place of exports: a folder, or a bucket with a prefix. As in every file store, a file exists whole or not at all. */
import { resolve } from "node:path";
import { reasonOf } from "../base/errors.ts";
import { exportPlacePattern } from "../base/export-place.ts";
import { openFileStore, type FileStore, type FileStoreOptions } from "../files/index.ts";

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

/**
 * Opens the file store of the place. `agents` gives the HTTP agents for a bucket; the S3 client's own if absent. @throws
 * ExportPlaceError
 */
export async function openExportPlace(
  place: ExportPlace,
  agents?: () => Agents,
): Promise<FileStore> {
  const options = storeOptions(place);
  if (options.kind === "s3") return openFileStore({ ...options, agents: agents?.() }, "");
  try {
    return await openFileStore(options, "");
  } catch (error) {
    throw new ExportPlaceError(
      `"${place.to}" is no place for exports, because its folder cannot be made: ${reasonOf(error)}`,
      { cause: error },
    );
  }
}
