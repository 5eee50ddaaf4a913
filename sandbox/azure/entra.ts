/**
 * Who gives the tokens of the azure-like vendor: Entra ID for a client and its secret, and the endpoint that App Service gives
 * its programs for their managed identity. Secrets and the identity's header are good if they begin with `sandbox`.
 */
import type { Tokens } from "../clouds/tokens.ts";
import type { OpenPath, Reply } from "../vendor.ts";
import { isSandboxKey, originOf } from "../vendor.ts";

const resource = "https://cognitiveservices.azure.com";
const tenantPath =
  /^\/([^/]+)(\/(?:v2\.0\/\.well-known\/openid-configuration|oauth2\/v2\.0\/token))$/;

const refused = (status: number, error: string, description: string): Reply => ({
  status,
  body: { error, error_description: description, error_codes: [7_000_215] },
});

/** Answers the paths that give tokens; undefined for all others. */
export function createEntra(tokens: Tokens): OpenPath {
  return ({ method, path, headers, query, text }) => {
    if (method === "GET" && path === "/identity/token") {
      if (!isSandboxKey(headers["x-identity-header"]?.toString()))
        return refused(401, "unauthorized", "The X-IDENTITY-HEADER is wrong.");
      if (query.get("resource") !== resource)
        return refused(400, "invalid_resource", `The resource principal is not ${resource}.`);
      const { token, expiresMs } = tokens.give();
      const expires = String(Math.floor(expiresMs / 1000));
      return {
        status: 200,
        body: { access_token: token, expires_on: expires, resource, token_type: "Bearer" },
      };
    }
    const [, tenant, rest] = tenantPath.exec(path) ?? [];
    if (tenant === undefined) return undefined;
    // Asked over TLS only, so something that has a certificate stands in front and adds the vendor's prefix.
    const base = `${originOf(headers)}/${tenant}`;
    if (rest !== "/oauth2/v2.0/token")
      return {
        status: 200,
        body: {
          issuer: `${base}/v2.0`,
          token_endpoint: `${base}/oauth2/v2.0/token`,
          authorization_endpoint: `${base}/oauth2/v2.0/authorize`,
          jwks_uri: `${base}/discovery/v2.0/keys`,
        },
      };
    return clientToken(tokens, new URLSearchParams(text));
  };
}

function clientToken(tokens: Tokens, form: URLSearchParams): Reply {
  if (form.get("grant_type") !== "client_credentials")
    return refused(400, "unsupported_grant_type", "AADSTS70003: The grant type is not supported.");
  if (form.get("scope")?.split(" ").includes(`${resource}/.default`) !== true)
    return refused(400, "invalid_scope", "AADSTS70011: The provided value for scope is not valid.");
  if (!isSandboxKey(form.get("client_secret") ?? undefined))
    return refused(
      401,
      "invalid_client",
      `AADSTS7000215: Invalid client secret provided. Ensure the secret being sent in the request is the client secret value, not the client secret ID, for a secret added to app '${form.get("client_id")}'.`,
    );
  const { token, expiresMs } = tokens.give();
  const life = Math.floor((expiresMs - Date.now()) / 1000);
  return {
    status: 200,
    body: { token_type: "Bearer", expires_in: life, ext_expires_in: life, access_token: token },
  };
}
