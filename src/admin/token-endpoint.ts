/** Finds out how the identity provider accepts the client secret, from its discovery document. OpenID Connect Discovery 1.0, 3. */
import { isObject } from "../base/json.ts";

/** The first sign-in with the identity provider waits for it. */
const timeoutMs = 5_000;

/**
 * Returns `basic` if the provider lists HTTP Basic and not the form, otherwise `post`, which most accept. Undefined if it does not
 * answer.
 */
export async function tokenEndpointAuth(
  discoveryUrl: string,
): Promise<"basic" | "post" | undefined> {
  try {
    const answer = await fetch(discoveryUrl, { signal: AbortSignal.timeout(timeoutMs) });
    const document: unknown = answer.ok ? await answer.json() : undefined;
    return isObject(document)
      ? chosen(document["token_endpoint_auth_methods_supported"])
      : undefined;
  } catch {
    return undefined;
  }
}

function chosen(methods: unknown): "basic" | "post" {
  if (!Array.isArray(methods)) return "post";
  const takes = (method: string): boolean => methods.includes(method);
  return takes("client_secret_basic") && !takes("client_secret_post") ? "basic" : "post";
}
