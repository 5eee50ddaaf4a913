/**
 * The files that DATABASE_URL names (`sslrootcert`, `sslcert`, `sslkey`). The driver reads them anew for each connection, so that renewed
 * ones count. One that is away, such as while it is written anew, would end the process: the driver throws where nobody can
 * catch it. What was read last counts then. docs/operate.md "PostgreSQL".
 */
import { Client, type ClientConfig } from "pg";
import { atIntervals } from "../base/at-intervals.ts";
import { reasonOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";

const settings = ["sslrootcert", "sslcert", "sslkey"] as const;
/** What else of an address the driver makes TLS of, in place of what it is given. */
const others = ["sslmode", "ssl", "sslnegotiation"] as const;
const sayEveryMs = 60_000;

/** By address: what its files made of TLS last. */
const known = new Map<string, ClientConfig["ssl"]>();
const failures = atIntervals(sayEveryMs);

/** `config` as the driver can take it, whatever became of its files. @throws Error of the system where they were never read */
export function withKnownFiles(config: ClientConfig, log: Pick<Log, "warn">): ClientConfig {
  const { connectionString } = config;
  if (connectionString === undefined || !URL.canParse(connectionString)) return config;
  const url = new URL(connectionString);
  if (!settings.some((name) => url.searchParams.has(name))) return config;
  try {
    // The driver reads the files here, and keeps what it made of them; its declaration does not say so.
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

/** At most once a minute: each new connection meets it. */
function warnOf(error: unknown, log: Pick<Log, "warn">): void {
  if (failures() === undefined) return;
  log.warn(
    { reason: reasonOf(error) },
    "a file of DATABASE_URL cannot be read; what it said before counts",
  );
}

/** The driver's client for a pool, which never throws for a file. */
export const clientKnowingFiles = (log: Pick<Log, "warn">): typeof Client =>
  class extends Client {
    constructor(config: string | ClientConfig = {}) {
      super(typeof config === "string" ? config : withKnownFiles(config, log));
    }
  };
