/** Structured logs, one JSON line each (pino). Keys and credentials never enter a log line; what might hold one is redacted here. */
import { pino } from "pino";

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
 * A log that writes to standard error. `level` is one of debug, info, warn, error, silent; `worker` is the number of a
 * worker process, named in each of its lines.
 */
export function createLog(
  level: string = process.env["TOLLGATE_LOG_LEVEL"] || "info",
  worker?: number,
): Log {
  return pino(
    {
      level,
      base: worker === undefined ? null : { worker },
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: { paths: redacted, censor: "[redacted]" },
    },
    pino.destination({ dest: 2, sync: true }),
  );
}

/** A log that says nothing. */
export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };
