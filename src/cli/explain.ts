/**
 * Explains the error of a failed command: one line if the operator can fix it, the whole error if only a developer can.
 * Exit codes: 1 failed, 2 wrong usage or configuration. docs/cli.md.
 */
import { GatewayError } from "../base/errors.ts";
import { settingsOf } from "./listening-settings.ts";
import { UsageError } from "./usage-error.ts";
import { RefusedError } from "./remote-api.ts";
import { WorkerFailedError } from "./workers/failed.ts";

export interface Explanation {
  /** The line to print; undefined if the error itself, with its stack, says more. */
  readonly text: string | undefined;
  readonly exitCode: 1 | 2;
}

/** Errors whose message is complete, with their exit code. */
const expectedNames = new Map<string, 1 | 2>([
  ["MasterKeyError", 2],
  ["DataDirectoryInUseError", 1],
  ["DataDirectoryUnusableError", 1],
  ["DatabaseUnreachableError", 1],
  ["DatabaseNotStartedError", 1],
  ["SchemaError", 1],
  ["RotationRefusedError", 1],
  ["BackupError", 1],
  ["DayGoneError", 2],
  ["DayOpenError", 1],
  ["ExportPlaceError", 2],
  ["ExportBucketError", 1],
  ["NoEmbeddedDatabaseError", 1],
]);

interface SystemError extends Error {
  readonly code?: string;
  readonly syscall?: string;
  readonly address?: string;
  readonly hostname?: string;
  readonly port?: number;
  /** Path of the file, if the error is about one. */
  readonly path?: string;
}

/** Reasons why a file or folder that the operator named cannot be used, by error code. */
const refusals = new Map([
  ["EACCES", "this user has no right to it"],
  ["EPERM", "this user has no right to it"],
  ["EROFS", "its file system is read-only"],
  ["ENOSPC", "its disk is full"],
  ["EDQUOT", "the quota of its disk is used up"],
]);

const tooManyFiles = new Map([
  ["EMFILE", "this process has as many files open as it may, by `ulimit -n`"],
  ["ENFILE", "this machine has as many files open as it may, by fs.file-max"],
]);

/** Explains an error that ended a command. */
export async function explain(error: unknown): Promise<Explanation> {
  if (error instanceof UsageError) return { text: error.message, exitCode: 2 };
  if (error instanceof WorkerFailedError) return { text: error.message, exitCode: error.exitCode };
  if (error instanceof GatewayError || error instanceof RefusedError) {
    return { text: error.message, exitCode: error.status === 400 ? 2 : 1 };
  }
  if (!(error instanceof Error)) return { text: undefined, exitCode: 1 };
  const exitCode = expectedNames.get(error.name);
  if (exitCode !== undefined) return { text: error.message, exitCode };
  return { text: ofSystem(error) ?? (await ofDatabase(error)), exitCode: 1 };
}

/** Explains that the database went away, or refused a connection, after it had been opened. */
async function ofDatabase(error: Error): Promise<string | undefined> {
  // Imported late: help and wrong usage do not need the database's modules.
  const { adviceOn, isMissing, isOfDatabase, isTransient } = await import("../storage/index.ts");
  const isOfOther = "syscall" in error && !isOfDatabase(error);
  if (isOfOther || isMissing(error) || !isTransient(error)) return undefined;
  const { reason, fix } = adviceOn(error);
  return `the database cannot be used: ${reason}; ${fix}`;
}

/** Explains an error of the operating system: a file, the working directory, a port to listen on, or output whose reader has closed it. */
function ofSystem(error: SystemError): string | undefined {
  const { code = "", path, syscall } = error;
  if (code === "EMFILE" || code === "ENFILE")
    return `${tooManyFiles.get(code)} (${code}); raise that limit`;
  const refusal = refusals.get(code);
  if (path !== undefined && refusal !== undefined)
    return `${path} cannot be used: ${refusal} (${code})`;
  if (syscall === "uv_cwd") return "the working directory was removed; change to one that exists";
  if (syscall === "write" && code === "EPIPE") return "whoever read the output has gone";
  if (syscall === "write" && code === "ENOSPC") return "the disk that it is written to is full";
  return ofNetwork(error);
}

function ofNetwork(error: SystemError): string | undefined {
  const { code, syscall, address, hostname, port } = error;
  const settings = settingsOf(error);
  if (syscall === "getaddrinfo")
    return `the address "${hostname}" cannot be listened on: no such host name; set ${settings.host}`;
  if (syscall !== "listen" && syscall !== "bind") return undefined;
  switch (code) {
    case "EADDRINUSE":
      return (
        `port ${port} on ${address} is in use by another program; ` +
        `stop it, or choose another with ${settings.port} (0 takes any that is free)`
      );
    case "EADDRNOTAVAIL":
      return `${address} is no address of this machine; set ${settings.host}`;
    case "EINVAL":
      return `${address} cannot be listened on; a link-local address needs its interface, as in fe80::1%eth0`;
    case "EACCES":
      return `no permission to listen on port ${port}; choose one above 1023 with ${settings.port}`;
    default:
      return undefined;
  }
}
