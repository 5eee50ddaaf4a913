/** Fetches tokens of Entra ID with the vendor's own library: by a client secret, or the machine's identity (DefaultAzureCredential). */
import type { TokenCredential } from "@azure/identity";
import type { AzureAuth } from "../../catalog/index.ts";
import type { Lease } from "./renewing-value.ts";

/** Creates a credential for each token: the library's cache would return a refused token again. */
async function credentialOf(auth: AzureAuth): Promise<TokenCredential> {
  // Several megabytes, loaded only if such a provider is configured.
  const { ClientSecretCredential, DefaultAzureCredential } = await import("@azure/identity");
  const { tenantId, clientId, clientSecret, authorityHost } = auth;
  if (tenantId !== undefined && clientId !== undefined && clientSecret !== undefined)
    return new ClientSecretCredential(
      tenantId,
      clientId,
      clientSecret,
      authorityHost === undefined ? {} : { authorityHost, disableInstanceDiscovery: true },
    );
  return new DefaultAzureCredential({
    ...(clientId === undefined ? {} : { managedIdentityClientId: clientId }),
    ...(authorityHost === undefined ? {} : { authorityHost }),
  });
}

/** Fetches a token. */
export async function azureToken(auth: AzureAuth, signal: AbortSignal): Promise<Lease<string>> {
  const credential = await credentialOf(auth);
  const token = await credential.getToken(auth.scope, { abortSignal: signal });
  if (token === null) throw new Error("Entra ID gave no token");
  return { value: token.token, expiresMs: token.expiresOnTimestamp };
}
