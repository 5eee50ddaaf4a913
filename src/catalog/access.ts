/**
 * Access settings: how the configuration changes headers, query, paths, authorization and request fields of a provider's dialect.
 * docs/configuration.md "providers".
 */
import type { WireObject } from "../base/json.ts";
import type { Proxy } from "../base/proxy.ts";

export const authTypes = ["bearer", "header", "query", "aws", "azure", "google", "none"] as const;

/** Where the key goes in a request, or the cloud identity that gets a token or signs the request. */
export type Auth =
  | { readonly type: "bearer" | "none" }
  | { readonly type: "header" | "query"; readonly name: string }
  | AwsAuth
  | AzureAuth
  | GoogleAuth;

/** Signed requests. Without keys or a profile, the gateway uses the machine's own credentials. */
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

/** Tokens of Entra ID. Without a client secret, the gateway uses the machine's own identity. */
export interface AzureAuth {
  readonly type: "azure";
  readonly scope: string;
  readonly tenantId?: string | undefined;
  readonly clientId?: string | undefined;
  readonly clientSecret?: string | undefined;
  /** The server that issues the tokens; the public cloud's if absent. */
  readonly authorityHost?: string | undefined;
}

/** Tokens of Google Cloud. Without a service account's key, the gateway uses application default credentials. */
export interface GoogleAuth {
  readonly type: "google";
  /** The text of the key file, or its path. */
  readonly serviceAccountKey?: string | undefined;
}

/** TLS settings of a provider: the authorities to trust, and the gateway's own certificate. Contents of files, as PEM. */
export interface ProviderTls {
  /** The trusted authorities, in place of the system's. */
  readonly ca?: string | undefined;
  /** The gateway's certificate with the intermediate ones; needs `key`. */
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /** The name that the server's certificate must have, if it is not the host of the base URL. */
  readonly serverName?: string | undefined;
  /** The file names, as written in the configuration. */
  readonly files: Readonly<Partial<Record<"ca" | "cert" | "key", string | undefined>>>;
}

export interface Access {
  /** The proxy to the provider; `none`: no proxy, even if the environment has one. Absent: the environment's proxy. */
  readonly proxy?: Proxy | "none" | undefined;
  readonly tls?: ProviderTls | undefined;
  /** Absent: the dialect decides where the key goes. */
  readonly auth?: Auth | undefined;
  /** These override the dialect's headers. */
  readonly headers: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  /** Paths below the base URL by protocol, with `{model}` and `{method}`. */
  readonly paths: Readonly<Record<string, string>>;
  readonly request: {
    /** Set in every request; they override the caller's fields. */
    readonly add: WireObject;
    readonly remove: readonly string[];
  };
}
