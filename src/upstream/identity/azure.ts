/** Fetches tokens of Entra ID with the vendor's own library: by a client secret, or the machine's identity (DefaultAzureCredential). */
import type { Agent } from "node:https";
import type { TokenCredential, TokenCredentialOptions } from "@azure/identity";
import { reasonOf } from "../../base/errors.ts";
import type { AzureAuth } from "../../catalog/index.ts";
import { fetchMsMax, type Lease } from "./renewing-value.ts";

type Policy = NonNullable<TokenCredentialOptions["additionalPolicies"]>[number]["policy"];

/** Receives the reason why a request for a token failed. */
type OnFailure = (reason: string) => void;

/** Settings of one fetch. */
export interface AzureFetch {
  readonly signal: AbortSignal;
  /** The connections to use; the library's own if absent. */
  readonly agent?: Agent | undefined;
}

/**
 * A step of the library's requests that limits their time, and tells why one failed. The library has no limit, and does not pass the signal
 * on to all requests.
 */
const limited = ({ agent }: AzureFetch, onFailure: OnFailure): Policy => ({
  name: "limited",
  sendRequest: (request, next) => {
    request.timeout ||= fetchMsMax;
    if (agent) request.agent = agent;
    return next(request).catch((error: unknown) => {
      onFailure(`${new URL(request.url).host}: ${reasonOf(error)}`);
      throw error;
    });
  },
});

/** Creates a credential for each token: the library's cache would return a refused token again. */
async function credentialOf(auth: AzureAuth, step: Policy): Promise<TokenCredential> {
  // Several megabytes, loaded only if such a provider is configured.
  const { ClientSecretCredential, DefaultAzureCredential } = await import("@azure/identity");
  const { tenantId, clientId, clientSecret, authorityHost } = auth;
  const options: TokenCredentialOptions = {
    additionalPolicies: [{ policy: step, position: "perRetry" }],
    ...(authorityHost !== undefined && { authorityHost }),
  };
  if (tenantId !== undefined && clientId !== undefined && clientSecret !== undefined)
    return new ClientSecretCredential(tenantId, clientId, clientSecret, {
      ...options,
      // Callers wait: by its own rules the library takes seven seconds.
      retryOptions: { maxRetries: 1, retryDelayInMs: 200 },
      disableInstanceDiscovery: authorityHost !== undefined,
    });
  return new DefaultAzureCredential({
    ...options,
    ...(clientId !== undefined && { managedIdentityClientId: clientId }),
  });
}

/** Fetches a token. The library's own errors do not tell why a server cannot be reached. */
export async function azureToken(auth: AzureAuth, fetch: AzureFetch): Promise<Lease<string>> {
  let reason: string | undefined;
  const step = limited(fetch, (first) => (reason ??= first));
  const credential = await credentialOf(auth, step);
  const token = await credential
    .getToken(auth.scope, { abortSignal: fetch.signal })
    .catch((error: unknown) => {
      if (reason === undefined) throw error;
      throw new Error(`${reason} (${reasonOf(error)})`, { cause: error });
    });
  if (token === null) throw new Error("Entra ID gave no token");
  return { value: token.token, expiresMs: token.expiresOnTimestamp };
}
