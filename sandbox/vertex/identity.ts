/**
 * Who may call the vertex-like vendor: a token of the metadata server, or one that the sandbox's service account has signed
 * itself. The account's key file is at `/vertex/service-account.json`.
 */
import { generateKeyPairSync, verify, type KeyObject } from "node:crypto";
import type { Json } from "../json.ts";
import { asNumber, asText, isObject } from "../json.ts";
import type { Tokens } from "../clouds/tokens.ts";
import type { OpenPath, Vendor } from "../vendor.ts";

const scope = "https://www.googleapis.com/auth/cloud-platform";
const email = "sandbox@sandbox-project.iam.gserviceaccount.com";
const keyId = "sandbox-key-1";
const skewSeconds = 300;

export interface GoogleIdentity {
  /** What is wrong with a token; undefined where nothing is. */
  faultOf(token: string): string | undefined;
  readonly open: OpenPath;
}

const jsonIn = (part: string | undefined): Json => {
  try {
    const value: unknown = JSON.parse(Buffer.from(part ?? "", "base64url").toString());
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
};

function faultOfSigned(token: string, key: KeyObject | undefined): string | undefined {
  const [head, claims, signature] = token.split(".");
  const { alg, kid } = jsonIn(head);
  const { iss, scope: scopes, ...dates } = jsonIn(claims);
  const [iat, exp] = [asNumber(dates["iat"]) ?? Infinity, asNumber(dates["exp"]) ?? 0];
  const nowSeconds = Date.now() / 1000;
  if (!key || kid !== keyId || iss !== email || alg !== "RS256") return "unknown";
  const signed = Buffer.from(`${head}.${claims}`);
  if (!verify("RSA-SHA256", signed, key, Buffer.from(signature ?? "", "base64url")))
    return "wrong signature";
  if (iat > nowSeconds + skewSeconds) return "not valid yet";
  if (exp < nowSeconds || exp > iat + 3600) return "expired";
  return asText(scopes).split(" ").includes(scope) ? undefined : "wrong scope";
}

/** Tokens and keys of one sandbox. */
export function createGoogleIdentity(tokens: Tokens): GoogleIdentity {
  let publicKey: KeyObject | undefined;
  let file: Json | undefined;
  const keyFile = (): Json => {
    if (file) return file;
    const pair = generateKeyPairSync("rsa", { modulusLength: 2048 });
    ({ publicKey } = pair);
    file = {
      type: "service_account",
      project_id: "sandbox-project",
      private_key_id: keyId,
      private_key: pair.privateKey.export({ type: "pkcs8", format: "pem" }),
      client_email: email,
      client_id: "100000000000000000001",
      token_uri: "https://oauth2.googleapis.com/token",
      universe_domain: "googleapis.com",
    };
    return file;
  };
  return {
    faultOf: (token) =>
      token.includes(".") ? faultOfSigned(token, publicKey) : tokens.faultOf(token),
    open: ({ method, path }) =>
      method === "GET" && path === "/service-account.json"
        ? { status: 200, body: keyFile() }
        : undefined,
  };
}

/** The metadata server of a machine in the cloud: `GCE_METADATA_HOST` names the sandbox's host and port. */
export function createMetadata(tokens: Tokens): Vendor {
  const instance = "/v1/instance/service-accounts/default";
  return {
    name: "computeMetadata",
    authorise: () => undefined,
    route: () => undefined,
    headers: () => ({ "metadata-flavor": "Google" }),
    errorBody: (_status, { message }) => ({ error: message }),
    open({ path, headers }) {
      if (headers["metadata-flavor"] !== "Google")
        return { status: 403, body: { error: "Missing Metadata-Flavor:Google header." } };
      if (path === `${instance}/token`) {
        const { token, expiresMs } = tokens.give();
        const seconds = Math.floor((expiresMs - Date.now()) / 1000);
        return {
          status: 200,
          body: { access_token: token, expires_in: seconds, token_type: "Bearer" },
        };
      }
      if (path === "/v1/universe/universe-domain") return { status: 404, body: {} };
      if (path === `${instance}/email`) return { status: 200, body: { email } };
      return path.startsWith("/v1/instance") ? { status: 200, body: {} } : undefined;
    },
  };
}
