/** The driver's connection pool with our limits and our types. docs/architecture.md. */
import {
  Pool,
  types as driverTypes,
  type ClientBase,
  type CustomTypesConfig,
  type PoolConfig,
} from "pg";
import { parseJsonText } from "../base/json-text.ts";
import type { Log } from "../base/log.ts";
import { clientWithCachedTlsFiles } from "./cached-tls-files.ts";

/** The most connections of one process, by default. */
export const connectionsMax = 10;

/**
 * Milliseconds until TCP keepalive probes an idle connection, instead of two hours. So a firewall does not forget the connection, and a
 * dead one is found before a call waits for it.
 */
export const keepAliveInitialDelayMillis = 10_000;

type Parse = (text: string) => unknown;

/** The driver's parsers; its type declaration limits them to an enumeration of types. */
const parserOf = driverTypes.getTypeParser as unknown as (oid: number, format?: string) => Parse;

const json = 114;
const jsonb = 3802;
const int8 = 20;
const int8Array = 1016;
const textArray = 1009;
const date = 1082;
const parseTexts = parserOf(textArray) as (text: string) => (string | null)[];

/** JSON member names come from callers, so base/json-text.ts parses them. Numbers in our JSON fit in doubles. */
const parseJson: Parse = (text) => parseJsonText(text, undefined, false);

/** Our parsers, where the driver's would lose digits (int8), shift a day by the time zone (date) or treat member names specially (JSON). */
const parsers = new Map<number, Parse>([
  [json, parseJson],
  [jsonb, parseJson],
  [int8, (text) => BigInt(text)],
  [int8Array, (text) => parseTexts(text).map((item) => (item === null ? null : BigInt(item)))],
  [date, (text) => text],
]);

const types: CustomTypesConfig = {
  // The driver's signature is generic over each parser's result.
  getTypeParser: ((oid: number, format?: string) =>
    parsers.get(oid) ?? parserOf(oid, format)) as CustomTypesConfig["getTypeParser"],
};

/** The driver awaits `onConnect` before it hands out the connection; its type declaration does not say so. */
type PoolOptions = Omit<PoolConfig, "onConnect"> & {
  readonly onConnect?: (client: ClientBase) => Promise<void>;
};

/**
 * Creates a bounded pool that reconnects by itself. Logs errors of connections between queries; without a listener these would end the
 * process.
 */
export function createPool(config: PoolOptions, log: Pick<Log, "warn">): Pool {
  const pool = new Pool({
    max: connectionsMax,
    // Prepared statements live as long as their connection.
    idleTimeoutMillis: 600_000,
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
    keepAliveInitialDelayMillis,
    application_name: "tollgate",
    types,
    Client: clientWithCachedTlsFiles(log),
    ...config,
  });
  const report = (error: Error) => {
    // While the pool ends, the server may close connections first.
    if (!pool.ending) log.warn({ err: error }, "a database connection failed between queries");
  };
  pool.on("error", report);
  pool.on("connect", (client) => client.on("error", report));
  return pool;
}
