/** Reads the environment variables once, with the files of secrets. An empty variable counts as absent. docs/operate.md. */
import { resolve } from "node:path";
import { hostInUrl, isEveryAddress } from "../base/listening-host.ts";
import { amountNanoMax, formatUsd, parseUsd, type NanoUsd } from "../base/money.ts";
import { parseTrustedProxies, type TrustedProxies } from "../base/client-address.ts";
import { quotedHint } from "../base/quoted.ts";
import { withSecretFiles } from "./secret-files.ts";
import { UsageError } from "./usage-error.ts";

/** The values of the environment variables, with their defaults. */
export interface Environment {
  readonly host: string;
  readonly port: number;
  /** An explicit `TOLLGATE_CONFIG`; if undefined, `tollgate.yaml` is used if it exists. */
  readonly configPath: string | undefined;
  readonly dataDir: string;
  readonly databaseUrl: string | undefined;
  /** A standby of that database, for heavy reads; undefined if there is none. */
  readonly databaseReadUrl: string | undefined;
  /** Longest replication lag of the standby that reads may see. */
  readonly readLagMs: number;
  readonly masterKey: string | undefined;
  /** The previous master key, while it is being replaced. */
  readonly previousMasterKey: string | undefined;
  readonly adminToken: string | undefined;
  readonly publicUrl: string | undefined;
  /** `on`, `off`, or undefined: on if there is neither a configuration file nor a vendor key. */
  readonly sandbox: "on" | "off" | undefined;
  /** Allows loopback and private addresses for callbacks, media and artifacts: for development. */
  readonly allowPrivateAddresses: boolean;
  /** Proxies whose `X-Forwarded-For` is trusted; none if the variable is not set. */
  readonly trustedProxies: TrustedProxies;
  /** Access to `/metrics`; `own` is a separate port. */
  readonly metrics: {
    readonly token: string | undefined;
    readonly own: { readonly host: string; readonly port: number } | undefined;
  };
  /** Number of serving processes; undefined: one with the embedded database, one for each core and gigabyte with a server. */
  readonly workers: number | undefined;
  /** How long the gateway keeps serving after SIGTERM while it reports that it is not ready. */
  readonly drainMs: number;
  /** Credit of the first workspace; may be 0. */
  readonly initialCreditNano: NanoUsd;
  /** The variables unchanged, for `${NAME}` in the configuration. */
  readonly variables: Readonly<Record<string, string | undefined>>;
}

/** Reads the environment, and the files that contain secrets. @throws UsageError naming the variable and what it takes. */
export function readEnvironment(own: NodeJS.ProcessEnv): Environment {
  const variables = withSecretFiles(own);
  const value = (name: string): string | undefined => variables[name] || undefined;
  const sandbox = oneOf(value("TOLLGATE_SANDBOX"), "TOLLGATE_SANDBOX", ["on", "off"]);
  const privateAddresses = oneOf(
    value("TOLLGATE_ALLOW_PRIVATE_ADDRESSES"),
    "TOLLGATE_ALLOW_PRIVATE_ADDRESSES",
    ["on", "off"],
  );
  oneOf(value("TOLLGATE_LOG_LEVEL"), "TOLLGATE_LOG_LEVEL", logLevels);
  return {
    host: value("HOST") ?? "127.0.0.1",
    port: parsePort(value("PORT") ?? "8080", "PORT"),
    configPath: value("TOLLGATE_CONFIG"),
    dataDir: resolve(value("TOLLGATE_DATA_DIR") ?? ".tollgate"),
    ...databases(value),
    masterKey: value("TOLLGATE_MASTER_KEY"),
    previousMasterKey: value("TOLLGATE_MASTER_KEY_PREVIOUS"),
    adminToken: bearerToken(value("TOLLGATE_ADMIN_TOKEN"), "TOLLGATE_ADMIN_TOKEN", 512),
    publicUrl: publicUrl(value("TOLLGATE_PUBLIC_URL")),
    sandbox,
    allowPrivateAddresses: privateAddresses === "on",
    trustedProxies: trustedProxies(value("TOLLGATE_TRUSTED_PROXIES")),
    metrics: metrics(value),
    initialCreditNano: usd(value("TOLLGATE_INITIAL_CREDIT") ?? "100", "TOLLGATE_INITIAL_CREDIT"),
    workers: optional(value("TOLLGATE_WORKERS"), (text) => parseWorkers(text, "TOLLGATE_WORKERS")),
    drainMs: seconds(value("TOLLGATE_DRAIN_SECONDS"), "TOLLGATE_DRAIN_SECONDS") * 1000,
    variables,
  };
}

/**
 * Checks the public URL; addresses of results are built by appending to it. Its scheme is in small letters: it decides whether cookies
 * are `Secure`. @throws UsageError
 */
function publicUrl(text: string | undefined): string | undefined {
  const name = "TOLLGATE_PUBLIC_URL";
  const example = "https://gateway.example.com";
  const checked = url(text, name, { protocols: ["https:", "http:"], example });
  if (checked === undefined) return undefined;
  const { origin, href, pathname } = new URL(checked);
  if (href === origin + pathname)
    return checked.replace(/^https?:/i, (scheme) => scheme.toLowerCase());
  throw new UsageError(
    `${name} has a query, a fragment or a password: set scheme, host and port alone, such as ${example}`,
  );
}

/** Describes what does not work with the address in results and links; undefined if everything works. */
export function publicAddressProblem(environment: Environment): string | undefined {
  const { publicUrl: given, host } = environment;
  if (given === undefined)
    return isEveryAddress(host)
      ? `HOST is ${host} and TOLLGATE_PUBLIC_URL is not set: the addresses of results, and links to join, name ${hostInUrl(host)} and work on this machine only`
      : undefined;
  if (/^\/*$/.test(new URL(given).pathname)) return undefined;
  return "TOLLGATE_PUBLIC_URL has a path: the console, signing in and the links of invitations work at the root of a host only";
}

const server = {
  protocols: ["postgres:", "postgresql:"],
  example: "postgres://user:password@host:5432/database",
  password:
    "; special characters in user and password are written as %2F (/), %23 (#), %3F (?), %40 (@)",
};
const lagDefault = "10";

function databases(
  value: (name: string) => string | undefined,
): Pick<Environment, "databaseUrl" | "databaseReadUrl" | "readLagMs"> {
  const databaseUrl = url(value("DATABASE_URL"), "DATABASE_URL", server);
  const databaseReadUrl = url(value("DATABASE_READ_URL"), "DATABASE_READ_URL", server);
  if (databaseReadUrl !== undefined && databaseUrl === undefined)
    throw new UsageError(
      "DATABASE_READ_URL needs DATABASE_URL: the embedded database has no replicas. Name the server that the replica follows by DATABASE_URL, or leave DATABASE_READ_URL out",
    );
  const name = "TOLLGATE_READ_LAG_SECONDS";
  const readLagMs = seconds(value(name) ?? lagDefault, name, 1) * 1000;
  return { databaseUrl, databaseReadUrl, readLagMs };
}

/** True for the value that Kubernetes gives each pod for a Service: `TOLLGATE_METRICS_PORT` for one that is named tollgate-metrics. */
export const isServiceLink = (text: string): boolean => /^(?:tcp|udp|sctp):\/\//.test(text);

function metrics(value: (name: string) => string | undefined): Environment["metrics"] {
  const given = value("TOLLGATE_METRICS_PORT");
  const port = given !== undefined && isServiceLink(given) ? undefined : given;
  const host = value("TOLLGATE_METRICS_HOST");
  if (port === undefined && host !== undefined)
    throw new UsageError("TOLLGATE_METRICS_HOST needs TOLLGATE_METRICS_PORT");
  return {
    token: bearerToken(value("TOLLGATE_METRICS_TOKEN"), "TOLLGATE_METRICS_TOKEN"),
    own:
      port === undefined
        ? undefined
        : { port: parsePort(port, "TOLLGATE_METRICS_PORT"), host: host ?? "127.0.0.1" },
  };
}

/** Checks a token that callers send as `Authorization: Bearer <token>`; never shows it. `max`: longest token that its routes take. */
function bearerToken(text: string | undefined, name: string, max = Infinity): string | undefined {
  if (text === undefined || (/^[\x21-\x7e]+$/.test(text) && text.length <= max)) return text;
  const limit = max === Infinity ? "" : `at most ${max} `;
  throw new UsageError(
    `${name} cannot be sent as a bearer token: it takes ${limit}visible ASCII characters without spaces, such as from openssl rand -hex 32`,
  );
}

const optional = <T>(text: string | undefined, parse: (text: string) => T): T | undefined =>
  text === undefined ? undefined : parse(text);

const workersMax = 256;

/** Parses a number of worker processes. @throws UsageError */
export function parseWorkers(text: string, name: string): number {
  const count = Number(text);
  if (!/^\d+$/.test(text) || count < 1 || count > workersMax)
    throw new UsageError(
      `${name} is "${text}"; it takes a number of processes from 1 to ${workersMax}`,
    );
  return count;
}

function usd(text: string, name: string): NanoUsd {
  const amountNano = /^\d{1,9}(\.\d{1,9})?$/.test(text) ? parseUsd(text) : undefined;
  if (amountNano !== undefined && amountNano <= amountNanoMax) return amountNano;
  const most = formatUsd(amountNanoMax);
  throw new UsageError(`${name} is "${text}"; it takes USD such as 100 or 2.50, at most ${most}`);
}

const secondsMax = 3600;

function seconds(text: string | undefined, name: string, min = 0): number {
  if (text === undefined) return 0;
  if (!/^\d+(\.\d+)?$/.test(text) || Number(text) < min || Number(text) > secondsMax)
    throw new UsageError(`${name} is "${text}"; it takes seconds from ${min} to ${secondsMax}`);
  return Number(text);
}

function trustedProxies(text = ""): TrustedProxies {
  try {
    return parseTrustedProxies(text);
  } catch (error) {
    throw new UsageError(`TOLLGATE_TRUSTED_PROXIES: ${(error as Error).message}`);
  }
}

const logLevels = ["debug", "info", "warn", "error", "silent"] as const;

function oneOf<Word extends string>(
  text: string | undefined,
  name: string,
  words: readonly Word[],
): Word | undefined {
  const word = words.find((one) => one === text);
  if (text === undefined || word !== undefined) return word;
  throw new UsageError(`${name} is "${text}"; it takes ${words.join(", ")}`);
}

interface UrlKind {
  readonly protocols: readonly string[];
  readonly example: string;
  /** Set if the URL holds a password: a hint for passwords with special characters. */
  readonly password?: string;
}

/**
 * Checks a URL. The message does not repeat the value, because a database's URL holds a password. White space around it is removed: URL
 * ignores it, and everything that is built from the text would not.
 */
function url(given: string | undefined, name: string, kind: UrlKind): string | undefined {
  if (given === undefined) return undefined;
  const text = given.trim();
  const { protocols, example, password } = kind;
  const found = URL.canParse(text) ? new URL(text) : undefined;
  // If the path contains an @, the parsed host is a part of the password and must not be shown.
  const isSplit = password !== undefined && found?.pathname.includes("@") === true;
  if (password !== undefined) refuseSeveralHosts(text, name);
  if (found !== undefined && protocols.includes(found.protocol) && !isSplit) return text;
  const hint = quotedHint(text) || (text.includes("@") ? (password ?? "") : "");
  throw new UsageError(`${name} is not a URL such as ${example}${hint}`);
}

/** Refuses several hosts. libpq accepts several and looks for the primary among them, but the driver does not. @throws UsageError */
function refuseSeveralHosts(text: string, name: string): void {
  // The hosts follow the last @, or else the slashes: a password may contain commas.
  const hosts = /^(?:[^?]*@|[^?@/]*\/\/(?![^?]*@))([^/?@]*)/.exec(text)?.[1] ?? "";
  if (!hosts.includes(",") && !/[?&](?:host|port)=[^&]*,/.test(text)) return;
  throw new UsageError(
    `${name} names several hosts, and the gateway does not choose among them; name one that follows the primary: a DNS name, a virtual address, or a proxy`,
  );
}

/** Parses a TCP port; 0 lets the system choose. @throws UsageError */
export function parsePort(text: string, name: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535)
    throw new UsageError(`${name} is "${text}"; it takes a port from 0 to 65535`);
  return port;
}
