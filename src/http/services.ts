/** What the routes need from the running gateway. The composition root (cli/serve.ts) makes it. */
import type { Actors, EventHubOptions, Sessions, Throttle } from "../admin/index.ts";
import type { TrustedProxies } from "../base/client-address.ts";
import type { Clock } from "../base/clock.ts";
import { GatewayError } from "../base/errors.ts";
import type { LoadGuard } from "../base/load-guard.ts";
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
import type { SecureDoor } from "./front/secure.ts";
import type { MetricsAccess } from "./operation/metrics-routes.ts";
import type { Metrics } from "./operation/metrics.ts";

type EventTiming = EventHubOptions["timing"];

/**
 * How long a client may take to send a request, how long it may have none, and how often that is looked at. Answers may take as long
 * as they like.
 */
export interface ReceiveLimits {
  readonly keepAliveMs: number;
  readonly headersMs: number;
  readonly requestMs: number;
  readonly checkMs: number;
}

/** What the management API needs, whether over HTTP or in a command that runs beside no gateway. */
export interface AdminServices {
  /** Names of tags that usage is summed by. */
  readonly usageTags: readonly string[];
  /** The operator's hooks, as configured. */
  readonly hooks: readonly HookSettings[];
  readonly actors: Actors;
  readonly sessions: Sessions;
  readonly throttle: Throttle;
  /** The address people use. */
  readonly publicUrl: () => string;
  readonly database: Database;
  /** Where lists, usage and the like are read: what may be a moment old, and decides nothing. */
  readonly reads: Reads;
  readonly secrets: Secrets;
  readonly verifier: Verifier;
  readonly clock: Clock;
  /** The catalogue in force now. */
  readonly catalog: () => Catalog;
  /** The vendors that need no configuration file, by a list of models. */
  readonly vendors: (list: string) => readonly VendorState[];
  /** Refuses an address that a provider must not have. @throws GatewayError `invalid_value` naming the field */
  readonly checkProviderAddress: (address: string, param: string) => Promise<void>;
  /** One cheap call to a provider. @throws GatewayError as `tryProvider` */
  readonly tryProvider: (options: TrialOptions) => Promise<Trial>;
  /** How the providers are doing, as this process sees it; undefined where no calls are served. */
  readonly health: Health | undefined;
  /** How attempts at providers ended in the last hour, on all gateways. */
  readonly providerHour: () => Promise<ReadonlyMap<string, LastHour>>;
  /** Resolves when this process has written the log rows of the calls it has answered, or after a moment under load. */
  readonly logWritten: () => Promise<void>;
  /** Resolves when bodies that are to be kept so far are written. */
  readonly bodiesWritten: () => Promise<void>;
  /** Cancels a task, as its caller would. @throws GatewayError `task_not_found`, `task_not_cancelable` */
  readonly cancelTask: Tasks["cancel"];
  /** A callback was put into the outbox. */
  readonly callbackDue: () => void;
  /** The address of a kept file, by its name. */
  readonly fileUrl: (name: string) => string;
}

/** Whether the gateway takes calls; with several processes also how many of them do. */
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
  /** Refuses calls while there are more than this process can take. */
  readonly load: Pick<LoadGuard, "admit" | "check" | "told">;
  readonly tasks: Tasks;
  readonly files: WatchedFiles;
  /** The address of a kept file, by its name. */
  readonly fileUrl: (name: string) => string;
  readonly admin: AdminServices;
  readonly metrics: Metrics;
  readonly metricsAccess: MetricsAccess;
  /** The pages that may call from a browser; `*` for all. */
  readonly corsOrigins: readonly string[];
  /** Whose `X-Forwarded-For` counts. */
  readonly trustedProxies: TrustedProxies;
  readonly log: Log;
  /** Gets where each request with a key comes from. */
  readonly clients: KeyClients;
  /** Gets a line for each request that is over; absent: none is written. */
  readonly accessLog?: AccessLog | undefined;
  /** Absent: no traces. */
  readonly tracer?: Tracer | undefined;
  readonly bodies: BodyServices;
  readonly receive: ReceiveLimits;
  /** How many connections there may be, and for how long one may be left unread. */
  readonly connections: ConnectionRules;
  /** Decrypts connections, where the gateway speaks TLS itself. */
  readonly secure?: SecureDoor | undefined;
  /** How often streams of events look for what is new, and what they bound; the usual if absent. */
  readonly events?: EventTiming | undefined;
  /** Where the console is built; the package's own folder if absent. */
  readonly consoleFolder?: string | undefined;
  /** Whether text calls that arrive whole in one read are answered without Node's HTTP; yes if absent. */
  readonly fastPath?: boolean | undefined;
  /** Whether the gateway takes calls, as `/readyz` says: with several processes, whether enough of them do. */
  ready(): Promise<Readiness>;
  /** True once this process was asked to stop: answers close their connections. */
  leaving(): boolean;
  /** True once it is too late for anything new. */
  refusing(): boolean;
}

/** The answer to what comes too late while the gateway stops. */
export const shuttingDown = (): GatewayError =>
  new GatewayError(
    "shutting_down",
    "The gateway is stopping; another one, or this one in a moment, will answer.",
    { retryAfterSeconds: 1 },
  );
