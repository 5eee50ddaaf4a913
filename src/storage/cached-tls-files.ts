/**
 * The files that DATABASE_URL names (`sslrootcert`, `sslcert`, `sslkey`). The driver reads them for each new connection, so that renewed
 * files take effect. If a file is missing, for example during a renewal, the driver throws where the gateway cannot catch it, which would
 * end the process. So the last content that could be read is used. docs/database.md "PostgreSQL".
 */
import { Client, type ClientConfig } from "pg";
import { throttleCounter } from "../base/throttle-counter.ts";
import { reasonOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";

const settings = ["sslrootcert", "sslcert", "sslkey"] as const;
/** Further URL parameters from which the driver makes TLS options, which would override those given to it. */
const others = ["sslmode", "ssl", "sslnegotiation"] as const;
const sayEveryMs = 60_000;

/** The last TLS options made from the files, by address. */
const known = new Map<string, ClientConfig["ssl"]>();
const failures = throttleCounter(sayEveryMs);

/** Returns `config` in a form that the driver accepts even if its files are gone. @throws Error of the system where they were never read */
export function withCachedTlsFiles(config: ClientConfig, log: Pick<Log, "warn">): ClientConfig {
  const { connectionString } = config;
  if (connectionString === undefined || !URL.canParse(connectionString)) return config;
  const url = new URL(connectionString);
  if (!settings.some((name) => url.searchParams.has(name))) return config;
  try {
    // The constructor reads the files and keeps the result in `ssl`; its type declaration lacks that.
    const { ssl } = new Client(config) as unknown as ClientConfig;
    known.set(connectionString, ssl);
    return config;
  } catch (error) {
    const ssl = known.get(connectionString);
    if (ssl === undefined) throw error;
    warnOf(error, log);
    const isDirect = url.searchParams.get("sslnegotiation") === "direct";
    for (const name of [...settings, ...others]) url.searchParams.delete(name);
    const tls = { ssl, ...(isDirect && { sslnegotiation: "direct" as const }) };
    return { ...config, connectionString: url.href, ...tls };
  }
}

/** Logs at most once a minute, because each new connection fails the same way. */
function warnOf(error: unknown, log: Pick<Log, "warn">): void {
  if (failures() === undefined) return;
  log.warn(
    { reason: reasonOf(error) },
    "a file of DATABASE_URL cannot be read; what it said before counts",
  );
}

/** Returns a client class for a pool that does not throw because of a missing file. */
export const clientWithCachedTlsFiles = (log: Pick<Log, "warn">): typeof Client =>
  class extends Client {
    constructor(config: string | ClientConfig = {}) {
      super(typeof config === "string" ? config : withCachedTlsFiles(config, log));
    }
  };
