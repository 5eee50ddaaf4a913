/** The settings of the configuration file, with their defaults: everything except providers and models. docs/configuration.md. */
import { camelCased, type CamelCased } from "../base/casing.ts";
import type { ExportFormat } from "../base/export-place.ts";
import { hooksOf, type HookSettings } from "./hooks.ts";
import type { ConfigFile } from "./schema.ts";
import { serverTlsOf, type ServerTls, type TlsFiles } from "./tls-files.ts";

/** A section of the file with camel-case names; settings-schema.ts describes its fields. */
type Part<Name extends keyof ConfigFile> = Readonly<CamelCased<NonNullable<ConfigFile[Name]>>>;
type Oidc = NonNullable<NonNullable<ConfigFile["console"]>["oidc"]>;

export interface Settings {
  readonly limits: {
    readonly queue: { readonly global: number; readonly perWorkspace: number };
    /** Milliseconds from its submission for which a task is retried if no provider takes it. */
    readonly taskRetryMs: number;
    /** Limits of callers' connections; absent: as many as the limit of open files and the memory allow. */
    readonly connections: {
      readonly total?: number | undefined;
      readonly perAddress?: number | undefined;
      /** Milliseconds for which a client may read nothing of an answer. */
      readonly unreadMs: number;
    };
    /** New calls that a process accepts in one round of its event loop; 0: unlimited. */
    readonly roundCalls: number;
    /** Largest request body, in bytes. */
    readonly bodyBytes: number;
    /** Largest body of a text call, in bytes; at most `bodyBytes`. */
    readonly textBodyBytes: number;
    /** All bodies in memory at once, in bytes; divided among workers. */
    readonly bodiesUnderWayBytes: number;
    /** The limits that the file sets; the others are lower on machines with little memory (cli/workers/share.ts). */
    readonly isSet: Readonly<
      Record<"bodyBytes" | "textBodyBytes" | "bodiesUnderWayBytes", boolean>
    >;
  };
  readonly storage: Part<"storage"> & { readonly retentionDays: number };
  readonly console: { readonly oidc?: Readonly<CamelCased<Oidc>> | undefined };
  /** Origins of pages that may call from a browser: exact origins, or `*`. */
  readonly cors: { readonly origins: readonly string[] };
  /** `tls` is the only setting that takes effect without a restart. */
  readonly server: { readonly tls?: ServerTls | undefined; readonly keepAliveMs: number };
  readonly accessLog: {
    /** The share of requests that get a log line, from 0 to 1. */
    readonly sample: number;
  };
  readonly retention: Part<"retention">;
  /** Absent fields are taken from the environment. The headers are secrets: the collector's key is among them. */
  readonly telemetry: Part<"telemetry"> & { readonly propagate: "none" | "local" | "all" };
  /** Absent: nothing is exported. */
  readonly exports?:
    | (Part<"exports"> & {
        readonly what: readonly ("requests" | "ledger")[];
        readonly format: ExportFormat;
      })
    | undefined;
  /** Names of the tags by which metrics count calls and by which usage is summed. */
  readonly tags: { readonly metrics: readonly string[]; readonly usage: readonly string[] };
  /** The operator's own checks of calls, in the order in which they run. */
  readonly hooks: readonly HookSettings[];
  readonly webhooks: { readonly timeoutMs: number };
}

const bytesPerMegabyte = 1024 * 1024;

/** The settings of an empty file. */
export const defaultSettings: Settings = {
  limits: {
    queue: { global: 1000, perWorkspace: 100 },
    taskRetryMs: 0,
    connections: { unreadMs: 60_000 },
    roundCalls: 64,
    bodyBytes: 64 * bytesPerMegabyte,
    textBodyBytes: 32 * bytesPerMegabyte,
    bodiesUnderWayBytes: 256 * bytesPerMegabyte,
    isSet: { bodyBytes: false, textBodyBytes: false, bodiesUnderWayBytes: false },
  },
  storage: { kind: "local", retentionDays: 7 },
  console: {},
  cors: { origins: [] },
  server: { keepAliveMs: 72_000 },
  accessLog: { sample: 1 },
  retention: {},
  telemetry: { propagate: "local" },
  tags: { metrics: [], usage: [] },
  hooks: [],
  webhooks: { timeoutMs: 15_000 },
};

function connectionsOf(row: NonNullable<ConfigFile["limits"]>["connections"]) {
  const { unreadMs } = defaultSettings.limits.connections;
  return {
    total: row?.total,
    perAddress: row?.per_address,
    unreadMs: row?.unread_s === undefined ? unreadMs : row.unread_s * 1000,
  };
}
/** As many bodies of the maximum size fit at once, unless the file sets `bodies_under_way_mb`. */
const bodiesAtOnceMin = 4;

const bytesOf = (megabytes: number | undefined): number | undefined =>
  megabytes === undefined ? undefined : Math.ceil(megabytes * bytesPerMegabyte);

function bodyLimitsOf(row: ConfigFile["limits"]) {
  const { limits: usual } = defaultSettings;
  const bodyBytes = bytesOf(row?.body_mb) ?? usual.bodyBytes;
  return {
    bodyBytes,
    textBodyBytes: Math.min(bytesOf(row?.text_body_mb) ?? usual.textBodyBytes, bodyBytes),
    bodiesUnderWayBytes:
      bytesOf(row?.bodies_under_way_mb) ??
      Math.max(usual.bodiesUnderWayBytes, bodiesAtOnceMin * bodyBytes),
    isSet: {
      bodyBytes: row?.body_mb !== undefined,
      textBodyBytes: row?.text_body_mb !== undefined,
      bodiesUnderWayBytes: row?.bodies_under_way_mb !== undefined,
    },
  };
}

function limitsOf(row: ConfigFile["limits"]): Settings["limits"] {
  const { queue, roundCalls, taskRetryMs } = defaultSettings.limits;
  return {
    queue: {
      global: row?.queue?.global ?? queue.global,
      perWorkspace: row?.queue?.per_workspace ?? queue.perWorkspace,
    },
    taskRetryMs: row?.task_retry_s === undefined ? taskRetryMs : row.task_retry_s * 1000,
    connections: connectionsOf(row?.connections),
    roundCalls: row?.round_calls ?? roundCalls,
    ...bodyLimitsOf(row),
  };
}

const storageOf = (row: ConfigFile["storage"]): Settings["storage"] =>
  row === undefined ? defaultSettings.storage : { ...defaultSettings.storage, ...camelCased(row) };

const telemetryOf = (row: ConfigFile["telemetry"]): Settings["telemetry"] => ({
  ...defaultSettings.telemetry,
  ...camelCased(row ?? {}),
});

const exportsOf = (row: NonNullable<ConfigFile["exports"]>): Settings["exports"] => ({
  what: ["requests", "ledger"],
  format: "jsonl",
  ...camelCased(row),
});

const serverOf = (row: ConfigFile["server"], files: TlsFiles): Settings["server"] => ({
  tls: row?.tls && serverTlsOf(row.tls, files),
  keepAliveMs:
    row?.keep_alive_s === undefined
      ? defaultSettings.server.keepAliveMs
      : Math.round(row.keep_alive_s * 1000),
});

/** The settings of a checked file; `files` reads the files that it names. */
export function settingsOf(file: ConfigFile, files: TlsFiles): Settings {
  const oidc = file.console?.oidc;
  const timeoutSeconds = file.webhooks?.timeout_s;
  return {
    limits: limitsOf(file.limits),
    storage: storageOf(file.storage),
    console: { oidc: oidc && camelCased(oidc) },
    cors: { origins: file.cors?.origins ?? defaultSettings.cors.origins },
    server: serverOf(file.server, files),
    accessLog: { sample: file.access_log?.sample ?? defaultSettings.accessLog.sample },
    retention: camelCased(file.retention ?? {}),
    telemetry: telemetryOf(file.telemetry),
    ...(file.exports && { exports: exportsOf(file.exports) }),
    tags: { ...defaultSettings.tags, ...file.tags },
    hooks: hooksOf(file.hooks, files),
    webhooks: {
      timeoutMs:
        timeoutSeconds === undefined
          ? defaultSettings.webhooks.timeoutMs
          : Math.max(1, Math.round(timeoutSeconds * 1000)),
    },
  };
}
