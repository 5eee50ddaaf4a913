/** What the configuration file says beside providers and models, with its defaults. Contract "Configuration file". */
import type { ConfigFile } from "./schema.ts";

export interface Settings {
  readonly limits: {
    readonly queue: { readonly global: number; readonly perWorkspace: number };
    /** Largest request body, in bytes. */
    readonly bodyBytes: number;
  };
  readonly storage: {
    readonly kind: "local" | "s3";
    readonly bucket?: string | undefined;
    readonly endpoint?: string | undefined;
    readonly region?: string | undefined;
    readonly accessKeyId?: string | undefined;
    readonly secretAccessKey?: string | undefined;
    /** How long result files are kept; fractions allowed. */
    readonly retentionDays: number;
  };
  readonly console: { readonly oidc?: OidcSettings | undefined };
  readonly telemetry: { readonly otlpEndpoint?: string | undefined };
  readonly webhooks: { readonly timeoutMs: number };
}

export interface OidcSettings {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

const bytesPerMegabyte = 1024 * 1024;

/** What holds where the file says nothing. */
export const defaultSettings: Settings = {
  limits: { queue: { global: 1000, perWorkspace: 100 }, bodyBytes: 64 * bytesPerMegabyte },
  storage: { kind: "local", retentionDays: 7 },
  console: {},
  telemetry: {},
  webhooks: { timeoutMs: 15_000 },
};

function limitsOf(row: ConfigFile["limits"]): Settings["limits"] {
  const { queue, bodyBytes } = defaultSettings.limits;
  return {
    queue: {
      global: row?.queue?.global ?? queue.global,
      perWorkspace: row?.queue?.per_workspace ?? queue.perWorkspace,
    },
    bodyBytes: row?.body_mb === undefined ? bodyBytes : Math.ceil(row.body_mb * bytesPerMegabyte),
  };
}

function storageOf(row: ConfigFile["storage"]): Settings["storage"] {
  if (row === undefined) return defaultSettings.storage;
  return {
    kind: row.kind,
    bucket: row.bucket,
    endpoint: row.endpoint,
    region: row.region,
    accessKeyId: row.access_key_id,
    secretAccessKey: row.secret_access_key,
    retentionDays: row.retention_days ?? defaultSettings.storage.retentionDays,
  };
}

/** The settings of a checked file. */
export function settingsOf(file: ConfigFile): Settings {
  const oidc = file.console?.oidc;
  const timeoutSeconds = file.webhooks?.timeout_s;
  return {
    limits: limitsOf(file.limits),
    storage: storageOf(file.storage),
    console: {
      oidc: oidc && {
        issuer: oidc.issuer,
        clientId: oidc.client_id,
        clientSecret: oidc.client_secret,
      },
    },
    telemetry: { otlpEndpoint: file.telemetry?.otlp_endpoint },
    webhooks: {
      timeoutMs:
        timeoutSeconds === undefined
          ? defaultSettings.webhooks.timeoutMs
          : Math.max(1, Math.round(timeoutSeconds * 1000)),
    },
  };
}
