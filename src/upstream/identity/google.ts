/** Fetches tokens of Google Cloud with the vendor's own library: by a service account's key, or application default credentials. */
import { readFile } from "node:fs/promises";
import type { AuthClient, JWTInput } from "google-auth-library";
import { isObject } from "../../base/json.ts";
import type { GoogleAuth } from "../../catalog/index.ts";
import type { Lease } from "./renewing-value.ts";

const scopes = ["https://www.googleapis.com/auth/cloud-platform"];
/** The library would search for a project for seconds, and the base URL already has it. */
const projectId = "of-the-base-url";

/** Reads a key file, given by its text or path. The library would take an unreadable file for a key without an owner, and say nothing. */
async function keyOf(key: string): Promise<JWTInput> {
  const isText = key.trimStart().startsWith("{");
  // `trim` also removes the byte order mark of some editors.
  const text = (isText ? key : await readFile(key, "utf8")).trim();
  try {
    return JSON.parse(text) as JWTInput;
  } catch {
    // The parser's message may quote the key.
    const where = isText ? "service_account_key" : key;
    throw new Error(`${where} is not JSON; a line break in its private_key is written \\n there`);
  }
}

/** Creates a client for each token: the library's cache would return a refused token again. */
async function clientOf(key: string | undefined, signal: AbortSignal): Promise<AuthClient> {
  const { GoogleAuth, JWT } = await import("google-auth-library");
  const given = key === undefined ? {} : { credentials: await keyOf(key) };
  const clientOptions = { transporterOptions: { signal } };
  const client = await new GoogleAuth({ scopes, projectId, clientOptions, ...given }).getClient();
  // A service account signs its tokens itself, without a request.
  if (client instanceof JWT) client.useJWTAccessWithScope = true;
  return client;
}

/** The expiry of a token that contains its own dates, in milliseconds. */
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

/** Fetches a token, and returns it as request headers; those of a user also name the project that pays. */
export async function googleHeaders(
  auth: GoogleAuth,
  signal: AbortSignal,
): Promise<Lease<Readonly<Record<string, string>>>> {
  const client = await clientOf(auth.serviceAccountKey, signal);
  const value = Object.fromEntries(await client.getRequestHeaders());
  const token = (value["authorization"] ?? "").replace(/^Bearer /i, "");
  if (token === "") throw new Error("Google Cloud gave no token");
  // First the token's own date: for a token that it signs itself, the library leaves the one of its placeholder.
  const expiresMs = expiryIn(token) ?? client.credentials.expiry_date ?? NaN;
  return { value, expiresMs };
}
