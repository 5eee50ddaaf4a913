/** Tokens of Google Cloud, by the vendor's own library: a service account's key, or application default credentials. */
import type { AuthClient, JWTInput } from "google-auth-library";
import { isObject } from "../../base/json.ts";
import type { GoogleAuth } from "../../catalog/index.ts";
import type { Lease } from "./renewed.ts";

const scopes = ["https://www.googleapis.com/auth/cloud-platform"];
/** The library looks for a project for seconds, and the base URL has it. */
const projectId = "of-the-base-url";
/** Of a token that does not say when it expires. */
const lifeMsDefault = 300_000;

/** A new client for each token: the library would give a refused one out again. */
async function clientOf(key: string | undefined): Promise<AuthClient> {
  const { GoogleAuth, JWT } = await import("google-auth-library");
  const given =
    key === undefined
      ? {}
      : key.trimStart().startsWith("{")
        ? { credentials: JSON.parse(key) as JWTInput }
        : { keyFilename: key };
  const client = await new GoogleAuth({ scopes, projectId, ...given }).getClient();
  // A service account signs its tokens itself: nobody has to be asked for one.
  if (client instanceof JWT) client.useJWTAccessWithScope = true;
  return client;
}

/** When a token expires that carries its own dates, milliseconds. */
function expiryIn(token: string): number | undefined {
  try {
    const claims: unknown = JSON.parse(
      Buffer.from(token.split(".")[1] ?? "", "base64url").toString(),
    );
    const expires = isObject(claims) ? claims["exp"] : undefined;
    return typeof expires === "number" ? expires * 1000 : undefined;
  } catch {
    return undefined;
  }
}

/** Fetches a token, as the headers that requests carry it in: a user's also name the project that pays. */
export async function googleHeaders(
  auth: GoogleAuth,
): Promise<Lease<Readonly<Record<string, string>>>> {
  const client = await clientOf(auth.serviceAccountKey);
  const value = Object.fromEntries(await client.getRequestHeaders());
  const token = (value["authorization"] ?? "").replace(/^Bearer /i, "");
  if (token === "") throw new Error("Google Cloud gave no token");
  const expiresMs = client.credentials.expiry_date ?? expiryIn(token) ?? Date.now() + lifeMsDefault;
  return { value, expiresMs };
}
