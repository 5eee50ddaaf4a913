/** Keeps the server's messages in a file of bounded size, and the last lines for the error of a failed start. */
import { appendFileSync, closeSync, fchownSync, openSync, renameSync, statSync } from "node:fs";
import type { Readable } from "node:stream";
import { createInterface } from "node:readline";
import { join } from "node:path";
import { diskFix } from "../base/data-directory.ts";
import type { Log } from "../base/log.ts";
import { customFile } from "./settings.ts";

/** The server ended before it accepted connections. The error quotes its messages; only the operator can fix the cause. */
export class DatabaseNotStartedError extends Error {
  override name = "DatabaseNotStartedError";
  /** The problem, and how to fix it; the message has both. */
  readonly problem: string;
  readonly fix: string;

  /** @param directory `database` in the data directory */
  constructor(directory: string, output: string) {
    const problem = `the embedded database did not start: ${output}`;
    const more = `All that it said is in ${join(directory, "server.log")}; settings of your own are in ${join(directory, customFile)}.`;
    const fix = [diskFix(output), more].filter((part) => part !== undefined).join(" ");
    super(`${problem}\n${fix}`);
    this.problem = problem;
    this.fix = fix;
  }
}

const bytesMax = 1_000_000;
const linesKept = 12;
/** The time and the process id, which our log does not need: without them it recognises a message that repeats. */
const prefix = /^\S+ \S+ \S+ \[\d+\] /;
/** The messages for clients that connect while the server starts, recovers or stops. */
const refusal =
  / FATAL: +the database system is (?:starting up|shutting down|not yet accepting connections|in recovery mode)/;

/** Logs the server's messages until its end; returns a getter of the last lines. @param file its predecessor is kept as `<file>.1` */
export function keepServerLog(stream: Readable, file: string, log: Log): () => string {
  const lines: string[] = [];
  let size = sizeOf(file);
  createInterface({ input: stream }).on("line", (line) => {
    const isRefusal = refusal.test(line);
    // There are many, and they would push out why a start failed.
    if (!isRefusal) lines.push(line.slice(0, 1_000));
    if (lines.length > linesKept) lines.shift();
    if (
      / (?:FATAL|PANIC): /.test(line) &&
      !isRefusal &&
      !/terminating connection|due to administrator command/.test(line)
    )
      log.error(
        { database: line.replace(prefix, "").slice(0, 500) },
        "the embedded database reports an error",
      );
    try {
      if (size > bytesMax) {
        startNext(file);
        size = 0;
      }
      appendFileSync(file, `${line}\n`, { mode: 0o600 });
      size += line.length + 1;
    } catch {
      // The disk may be full. A lost message is not worth an error.
    }
  });
  return () => lines.join("\n");
}

/** Keeps the file as `<file>.1`. The next one has its owner: a command under root may write it, and then the gateway's own user again. */
function startNext(file: string): void {
  const { uid, gid } = statSync(file);
  renameSync(file, `${file}.1`);
  // Only root makes files for others, and only root may give them away.
  if (process.getuid?.() !== 0) return;
  const next = openSync(file, "ax", 0o600);
  try {
    fchownSync(next, uid, gid);
  } finally {
    closeSync(next);
  }
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
