/** How the identity provider takes the client's secret, by its discovery document. OpenID Connect Discovery 1.0, 3. */
import { isObject } from "../base/json.ts";

/** Whoever signs in waits for it, with a password too. */
const timeoutMs = 5_000;

/**
 * `basic` where the provider names HTTP Basic and not the form; `post`, which most take, otherwise. Undefined where it does
 * not answer.
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
