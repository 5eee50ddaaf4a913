/** Validates a backup's frames: a file may come from anywhere, and anyone can compute a valid digest for a changed one. */
import { isObject, type WireObject } from "../base/json.ts";
import { isFileName } from "../files/index.ts";
import { BackupError } from "./frames.ts";
import type { BackupEnd, BackupHeader } from "./write.ts";

const migrationsMax = 10_000;
const nameMax = 200;

const refuse = (what: string): never => {
  throw new BackupError(`the backup was changed or is damaged: ${what}`);
};

function objectOf(payload: Buffer, what: string): WireObject {
  let value: unknown;
  try {
    value = JSON.parse(payload.toString());
  } catch {
    return refuse(`${what} is no JSON`);
  }
  return isObject(value) ? value : refuse(`${what} is no object`);
}

/** A short text without control characters, which is safe to quote in a message. */
const isName = (value: unknown): value is string =>
  typeof value === "string" && value.length <= nameMax && !/\p{Cc}/u.test(value);

const isCount = (value: unknown): value is number =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0;

/** True if every value of the record passes `is`. */
const isRecordOf = (value: unknown, is: (one: unknown) => boolean): boolean =>
  isObject(value) && Object.values(value).every(is);

/** @throws BackupError */
export function headerOf(payload: Buffer): BackupHeader {
  const header = objectOf(payload, "its header");
  const { version, migrations } = header;
  if (!isName(version)) refuse("its header names no version");
  if (!Array.isArray(migrations) || migrations.length > migrationsMax)
    return refuse("its header names no schema");
  for (const one of migrations as unknown[])
    if (!isObject(one) || !isName(one["name"]) || !isName(one["checksum"]))
      refuse("its header has a migration without name or checksum");
  return header as unknown as BackupHeader;
}

/** Returns the name of the table that starts here. @throws BackupError */
export function tableOf(payload: Buffer): string {
  const { table } = objectOf(payload, "the beginning of a table");
  return isName(table) ? table : refuse("a table has no name");
}

/** Returns the name and size in bytes of the file that starts here. @throws BackupError */
export function fileOf(payload: Buffer): { readonly name: string; readonly bytes: number } {
  const { name, bytes } = objectOf(payload, "the beginning of a file");
  if (typeof name !== "string" || !isFileName(name)) return refuse("a file has no name");
  return isCount(bytes) ? { name, bytes } : refuse("a file has no size");
}

/** @throws BackupError */
export function endOf(payload: Buffer): BackupEnd {
  const { tables, sums, files } = objectOf(payload, "its end");
  const isEnd =
    isRecordOf(tables, isCount) &&
    isRecordOf(sums, (sum) => typeof sum === "string") &&
    isCount(files);
  if (!isEnd) refuse("its end has no counts");
  return { tables, sums, files } as BackupEnd;
}

/** PostgreSQL error classes that concern the values: data, constraints, limits such as nesting or size, errors that triggers raise. */
const ofValues = /^(?:22|23|54|P0001)/;

/** Turns a database error about the rows' values into a BackupError in words. Returns any other error unchanged. */
export function rowsError(table: string, error: unknown): unknown {
  const { code, message } = error as { code?: unknown; message?: string };
  if (typeof code !== "string" || !ofValues.test(code)) return error;
  return new BackupError(
    `the backup was changed or is damaged: rows of ${table} do not fit (${String(message).slice(0, nameMax)})`,
  );
}
