/** The services that the routes use. The composition root (cli/serve.ts) creates them. */
import type { Actors, EventHubOptions, Sessions, Throttle } from "../admin/index.ts";
import type { TrustedProxies } from "../base/client-address.ts";
import type { Clock } from "../base/clock.ts";
import { GatewayError } from "../base/errors.ts";
import type { ErrorExplainer, LoadGuard } from "../base/load-guard.ts";
import type { AccessLog, Log } from "../base/log.ts";
import type { Tracer } from "../base/tracing.ts";
import type { ImageServices, TextServices, Trial, TrialOptions } from "../calls/index.ts";
import type { Catalog, HookSettings, VendorState } from "../catalog/index.ts";
import type { WatchedFiles } from "../files/index.ts";
import type { Verifier } from "../verification/index.ts";
import type { RateLimiter } from "../rates/index.ts";
import type { KeyClients } from "../request-log/index.ts";
import type { Health, LastHour } from "../routing/index.ts";
import type { Database, Reads } from "../storage/index.ts";
import type { Tasks } from "../tasks/index.ts";
import type { Authenticator, Secrets } from "../tenancy/index.ts";
import type { BodyServices } from "./bodies/body-limits.ts";
import type { ConnectionRules } from "./front/connections.ts";
import type { TlsTerminator } from "./front/secure.ts";
import type { MetricsAccess } from "./operation/metrics-routes.ts";
import type { Metrics } from "./operation/metrics.ts";

type EventTiming = EventHubOptions["timing"];

/**
 * Time limits for receiving: an idle connection, the headers, the whole request, and the interval of the checks. Answers may take as
 * long as they like.
 */
export interface ReceiveLimits {
  readonly keepAliveMs: number;
  readonly headersMs: number;
  readonly requestMs: number;
  readonly checkMs: number;
}

/** The services of the management API, over HTTP or in a command that runs without a gateway. */
export interface AdminServices {
  /** Names of the tags by which usage is summed. */
  readonly usageTags: readonly string[];
  /** The operator's hooks, as configured. */
  readonly hooks: readonly HookSettings[];
  readonly actors: Actors;
  readonly sessions: Sessions;
  readonly throttle: Throttle;
  /** The public address of the gateway for people. */
  readonly publicUrl: () => string;
  readonly database: Database;
  /** Reads for lists, usage and the like: they may be a moment old, and decide nothing. */
  readonly reads: Reads;
  readonly secrets: Secrets;
  readonly verifier: Verifier;
  readonly clock: Clock;
  /** The catalogue in force now. */
  readonly catalog: () => Catalog;
  /** The vendors that work without a configuration file, from a list of models. */
  readonly vendors: (list: string) => readonly VendorState[];
  /** Refuses addresses that a provider must not have. @throws GatewayError `invalid_value` naming the field */
  readonly checkProviderAddress: (address: string, param: string) => Promise<void>;
  /** Sends one cheap call to a provider. @throws GatewayError as `tryProvider` */
  readonly tryProvider: (options: TrialOptions) => Promise<Trial>;
  /** The health of the providers, as this process sees it; undefined in a process that serves no calls. */
  readonly health: Health | undefined;
  /** Outcomes of attempts at providers in the last hour, on all gateways. */
  readonly providerHour: () => Promise<ReadonlyMap<string, LastHour>>;
  /** Resolves when this process has written the log rows of the calls that it has answered, or after a moment under load. */
  readonly logWritten: () => Promise<void>;
  /** Resolves when the bodies to be kept so far are written. */
  readonly bodiesWritten: () => Promise<void>;
  /** Cancels a task, as its caller can. @throws GatewayError `task_not_found`, `task_not_cancelable` */
  readonly cancelTask: Tasks["cancel"];
  /** Call it after a callback was added to the outbox. */
  readonly wakeDeliverer: () => void;
  /** The address of a kept file, by its name. */
  readonly fileUrl: (name: string) => string;
}

/** Whether the gateway takes calls; with several processes, also how many of them are ready. */
export interface Readiness {
  readonly isReady: boolean;
  readonly workers?: { readonly ready: number; readonly of: number };
}

export interface HttpServices {
  readonly text: TextServices;
  readonly images: ImageServices;
  readonly database: Database;
  readonly authenticator: Authenticator;
  readonly rates: RateLimiter;
  /** Refuses calls while more are in flight than this process can take. */
  readonly load: Pick<LoadGuard, "admit" | "check"> & ErrorExplainer;
  readonly tasks: Tasks;
  readonly files: WatchedFiles;
  /** The address of a kept file, by its name. */
  readonly fileUrl: (name: string) => string;
  readonly admin: AdminServices;
  readonly metrics: Metrics;
  readonly metricsAccess: MetricsAccess;
  /** The origins whose pages may call from a browser; `*` for all. */
  readonly corsOrigins: readonly string[];
  /** The proxies whose `X-Forwarded-For` is trusted. */
  readonly trustedProxies: TrustedProxies;
  readonly log: Log;
  /** The database's clock, for ids of calls. */
  readonly clock: Clock;
  /** Receives the address and user agent of each request with a key. */
  readonly clients: KeyClients;
  /** Receives a line for each finished request; absent: no access log. */
  readonly accessLog?: AccessLog | undefined;
  /** Absent: no traces. */
  readonly tracer?: Tracer | undefined;
  readonly bodies: BodyServices;
  readonly receive: ReceiveLimits;
  /** Limits of connections, and of the time for which a client may leave output unread. */
  readonly connections: ConnectionRules;
  /** Decrypts connections, if the gateway speaks TLS itself. */
  readonly secure?: TlsTerminator | undefined;
  /** Intervals and limits of the event streams; defaults if absent. */
  readonly events?: EventTiming | undefined;
  /** The folder of the built console; the package's own if absent. */
  readonly consoleFolder?: string | undefined;
  /** Whether plain text calls use the fast path; true if absent. */
  readonly fastPath?: boolean | undefined;
  /** Whether the gateway takes calls, as `/readyz` answers; with several processes, whether enough of them do. */
  ready(): Promise<Readiness>;
  /** True once this process was asked to stop: answers close their connections. */
  leaving(): boolean;
  /** True once new requests are refused. */
  refusing(): boolean;
}

/** The error for requests that come too late while the gateway stops. */
export const shuttingDown = (): GatewayError =>
  new GatewayError(
    "shutting_down",
    "The gateway is stopping; another one, or this one in a moment, will answer.",
    { retryAfterSeconds: 1 },
  );
