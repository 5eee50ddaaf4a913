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
import { clientKnowingFiles } from "./known-files.ts";

/** Connections of one process at most, where nothing else is said. */
export const connectionsMax = 10;

/**
 * The system asks on an idle connection whether the server is still there: so soon, and not after two hours. A firewall that
 * forgets idle connections keeps those, and one that is dead is found before a call waits for it.
 */
export const keepAliveInitialDelayMillis = 10_000;

type Parse = (text: string) => unknown;

/** The driver's parsers, which its declaration limits to an enumeration of types. */
const parserOf = driverTypes.getTypeParser as unknown as (oid: number, format?: string) => Parse;

const json = 114;
const jsonb = 3802;
const int8 = 20;
const int8Array = 1016;
const textArray = 1009;
const date = 1082;
const parseTexts = parserOf(textArray) as (text: string) => (string | null)[];

/** Names of members are callers' text (base/json-text.ts). Numbers in our JSON are what doubles hold. */
const parseJson: Parse = (text) => parseJsonText(text, undefined, false);

/** Ours where the driver's default would lose digits (int8), shift a day by the time zone (date) or take a name for another (JSON). */
const parsers = new Map<number, Parse>([
  [json, parseJson],
  [jsonb, parseJson],
  [int8, (text) => BigInt(text)],
  [int8Array, (text) => parseTexts(text).map((item) => (item === null ? null : BigInt(item)))],
  [date, (text) => text],
]);

const types: CustomTypesConfig = {
  // The driver's own signature is generic over what each parser returns.
  getTypeParser: ((oid: number, format?: string) =>
    parsers.get(oid) ?? parserOf(oid, format)) as CustomTypesConfig["getTypeParser"],
};

/** The driver waits for `onConnect` before it gives the connection away; its declaration does not say so. */
type PoolOptions = Omit<PoolConfig, "onConnect"> & {
  readonly onConnect?: (client: ClientBase) => Promise<void>;
};

/**
 * A bounded pool that connects again by itself. Errors of connections between queries are logged here;
 * without a listener they would end the process.
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
    Client: clientKnowingFiles(log),
    ...config,
  });
  const report = (error: Error) => {
    // While it ends, the other side may be faster than the goodbye.
    if (!pool.ending)
      log.warn({ reason: error.message }, "a database connection failed between queries");
  };
  pool.on("error", report);
  pool.on("connect", (client) => client.on("error", report));
  return pool;
}
