/**
 * Structured logs, one JSON line each (pino). Keys and credentials never enter a log line; fields that might hold one are redacted here.
 * The access log has lines of the same form, which are written in batches: docs/operate.md "Access log".
 */
import { pino, type DestinationStream } from "pino";
import { errorLines, isErrorFile, type Lines, type PromptLines } from "./lines.ts";
import { createLogThrottle } from "./log-throttle.ts";

/** The part of pino's interface that we use. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

const redacted = [
  "authorization",
  "*.authorization",
  "api_key",
  "*.api_key",
  "apiKey",
  "*.apiKey",
  "key",
  "*.key",
];

/**
 * Creates a log that writes to standard error. `level` is one of debug, info, warn, error, silent; `worker` is the number of a worker
 * process, which each of its lines has.
 */
export function createLog(
  level: string = process.env["TOLLGATE_LOG_LEVEL"] || "info",
  worker?: number,
): Log {
  const destination = level === "silent" ? { write: () => undefined } : logDestination();
  const repeats = createLogThrottle();
  return pino(
    {
      level,
      base: worker === undefined ? null : { worker },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (level) => ({ level }) },
      hooks: {
        logMethod(line, write) {
          const [fields, message] = line as [object, string];
          const written = repeats(fields, message);
          if (written !== undefined) write.apply(this, [written, message]);
        },
      },
      redact: { paths: redacted, censor: "[redacted]" },
    },
    destination,
  );
}

/** Sends each line at once. A reader that takes none, or a closed terminal, does not stop the process. */
function logDestination(): DestinationStream {
  if (isErrorFile()) {
    const file = pino.destination({ dest: 2, sync: true });
    file.on("error", () => undefined);
    return file;
  }
  const lines = (promptLines ??= openPromptLines());
  return { write: (line) => lines.writeAtOnce(line) };
}

/** One for all logs of the process. */
let promptLines: PromptLines | undefined;

function openPromptLines(): PromptLines {
  const lines = errorLines();
  process.once("exit", () => lines.flushSync());
  return lines;
}

/** A finished request. No text in it needs escapes: ids, route patterns, methods, addresses. */
export interface Access {
  readonly request: string;
  readonly method: string;
  /** The pattern of its path; undefined if no route matches. */
  readonly route: string | undefined;
  readonly status: number;
  /** Milliseconds from its head to the end of its answer. */
  readonly ms: number;
  /** Bytes written to the client, including the head of the answer. */
  readonly bytes: number;
  /** True if the answer was written to its end. */
  readonly whole: boolean;
  readonly address: string;
  readonly keyId: string | undefined;
}

export interface AccessLog {
  write(access: Access): void;
  /** Writes the waiting lines. */
  flush(): void;
}

export interface AccessLogOptions {
  /** The share of requests that get a line, from 0 to 1. */
  readonly sample: number;
  readonly worker?: number | undefined;
  /** The level of the whole log; above info there are no lines of requests. */
  readonly level?: string;
  /** The destination of the lines; standard error if absent. */
  readonly destination?: Lines;
}

/** From this status on every request gets a line. */
const failedMin = 500;

/** Returns a clock for lines; many lines of a busy gateway share one text. */
function createTime(): () => string {
  let atMs = 0;
  let text = "";
  return () => {
    const nowMs = Date.now();
    if (nowMs === atMs) return text;
    atMs = nowMs;
    return (text = new Date(nowMs).toISOString());
  };
}

/** Creates the access log; undefined if no request gets a line. */
export function createAccessLog(options: AccessLogOptions): AccessLog | undefined {
  const { sample, worker, level = process.env["TOLLGATE_LOG_LEVEL"] || "info" } = options;
  if (sample === 0 || (level !== "info" && level !== "debug")) return undefined;
  const destination = options.destination ?? errorLines();
  const time = createTime();
  const from = worker === undefined ? "" : `"worker":${worker},`;
  return {
    write({ request, method, route, status, ms, bytes, whole, address, keyId }) {
      if (status < failedMin && sample < 1 && Math.random() >= sample) return;
      const key = keyId === undefined ? "" : `"key_id":"${keyId}",`;
      const cut = whole ? "" : `"cut":true,`;
      destination.write(
        `{"level":"info","time":"${time()}",${from}"request_id":"${request}",` +
          `"method":"${method}","route":"${route ?? "none"}","status":${status},"ms":${ms.toFixed(1)},` +
          `"bytes":${bytes},${cut}"address":"${address}",${key}"msg":"request"}\n`,
      );
    },
    flush: () => destination.flushSync(),
  };
}

/** A log without output. */
export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };
