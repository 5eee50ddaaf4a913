/**
 * How a provider differs from its dialect by configuration: headers, query, paths, authorization and fields of requests.
 * docs/configuration.md "providers".
 */
import type { WireObject } from "../base/json.ts";
import type { Proxy } from "../base/proxy.ts";

export const authTypes = ["bearer", "header", "query", "aws", "azure", "google", "none"] as const;

/** A key where the vendor wants it, or an identity that a cloud gives tokens or signatures to. */
export type Auth =
  | { readonly type: "bearer" | "none" }
  | { readonly type: "header" | "query"; readonly name: string }
  | AwsAuth
  | AzureAuth
  | GoogleAuth;

/** Signed requests. Without keys, or a profile, the machine's own credentials. */
export interface AwsAuth {
  readonly type: "aws";
  readonly region: string;
  /** The name in the signature's scope, such as `bedrock`. */
  readonly service: string;
  readonly accessKeyId?: string | undefined;
  readonly secretAccessKey?: string | undefined;
  readonly sessionToken?: string | undefined;
  readonly profile?: string | undefined;
}

/** Tokens of Entra ID. Without a client's secret, the machine's own identity. */
export interface AzureAuth {
  readonly type: "azure";
  readonly scope: string;
  readonly tenantId?: string | undefined;
  readonly clientId?: string | undefined;
  readonly clientSecret?: string | undefined;
  /** Who gives the tokens; the public cloud's if absent. */
  readonly authorityHost?: string | undefined;
}

/** Tokens of Google Cloud. Without a service account's key, application default credentials. */
export interface GoogleAuth {
  readonly type: "google";
  /** The key file's text, or its path. */
  readonly serviceAccountKey?: string | undefined;
}

/** Whom a provider's server must be certified by, and as whom the gateway shows itself to it. Contents of files, as PEM. */
export interface ProviderTls {
  /** The authorities, in place of the system's. */
  readonly ca?: string | undefined;
  /** Ours, with those between it and its authority; together with `key`. */
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /** The name its certificate must have, in place of the address's. */
  readonly serverName?: string | undefined;
  /** As the configuration has it: the names of the files. */
  readonly files: Readonly<Partial<Record<"ca" | "cert" | "key", string | undefined>>>;
}

export interface Access {
  /** The proxy that leads to it, or none, whatever the environment says. Absent: the environment's. */
  readonly proxy?: Proxy | "none" | undefined;
  readonly tls?: ProviderTls | undefined;
  /** Absent: the key stands where the dialect has it. */
  readonly auth?: Auth | undefined;
  /** They win over the dialect's own. */
  readonly headers: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  /** Paths below the base URL by protocol, with `{model}` and `{method}`. */
  readonly paths: Readonly<Record<string, string>>;
  readonly request: {
    /** Set in every request, over what the caller says. */
    readonly add: WireObject;
    readonly remove: readonly string[];
  };
}
