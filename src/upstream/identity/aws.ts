/** Signs requests for AWS (Signature Version 4) with the vendor's own library, with given keys or the machine's own. */
import { createHash, createHmac, type Hash, type Hmac } from "node:crypto";
import type { SignatureV4 } from "@smithy/signature-v4";
import type { JsonPieces } from "../../base/json-write.ts";
import type { AwsAuth } from "../../catalog/index.ts";
import { agentsTo } from "../dial/agents.ts";
import type { DialRouteResolver } from "../dial/dial-route.ts";
import type { Exchange } from "../exchange.ts";
import type { Target } from "../vendors/types.ts";
import { fetchMsMax, type Lease } from "./renewing-value.ts";

/** Keys, with the signer that uses them. */
export interface AwsKeys {
  readonly signer: SignatureV4;
  readonly secrets: readonly string[];
}

/** How long keys without an expiry are used, in ms, before their file or variable is read again. */
const lifeMsDefault = 900_000;

/** The hash implementation for the library. */
class Sha256 {
  readonly #hash: Hash | Hmac;
  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash =
      secret === undefined
        ? createHash("sha256")
        : createHmac("sha256", typeof secret === "string" ? secret : bytesOf(secret));
  }
  update(chunk: string | ArrayBuffer | ArrayBufferView): void {
    this.#hash.update(typeof chunk === "string" ? chunk : bytesOf(chunk));
  }
  digest(): Promise<Uint8Array> {
    return Promise.resolve(this.#hash.digest());
  }
  reset(): void {
    throw new Error("a hash is used once");
  }
}

const bytesOf = (data: ArrayBuffer | ArrayBufferView): Uint8Array =>
  ArrayBuffer.isView(data)
    ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    : new Uint8Array(data);

/** Returns the keys of the file, or those of AWS's default provider chain. */
export async function awsKeys(
  auth: AwsAuth,
  dialRoutes: DialRouteResolver,
): Promise<Lease<AwsKeys>> {
  const { SignatureV4 } = await import("@smithy/signature-v4");
  const credentials =
    auth.accessKeyId !== undefined && auth.secretAccessKey !== undefined
      ? {
          accessKeyId: auth.accessKeyId,
          secretAccessKey: auth.secretAccessKey,
          ...(auth.sessionToken === undefined ? {} : { sessionToken: auth.sessionToken }),
        }
      : await fromMachine(auth, dialRoutes);
  const { region, service } = auth;
  const { secretAccessKey, sessionToken } = credentials;
  const expiration = "expiration" in credentials ? credentials.expiration : undefined;
  return {
    value: {
      signer: new SignatureV4({ credentials, region, service, sha256: Sha256 }),
      secrets: [secretAccessKey, ...(sessionToken === undefined ? [] : [sessionToken])],
    },
    expiresMs: expiration?.getTime() ?? Date.now() + lifeMsDefault,
  };
}

/**
 * Reads the profile, or the default chain. STS and single sign-on are reached as providers are; a container's or machine's metadata service
 * directly. The chain would use the machine's own keys in place of a profile that is missing or fails.
 */
async function fromMachine({ region, profile }: AwsAuth, dialRoutes: DialRouteResolver) {
  const { fromIni, fromNodeProviderChain } = await import("@aws-sdk/credential-providers");
  const agents = agentsTo(dialRoutes);
  const requestHandler = { ...agents, requestTimeout: fetchMsMax, throwOnRequestTimeout: true };
  // `ignoreCache`: otherwise the library reads its files once in the life of the process.
  const settings = { clientConfig: { region, requestHandler }, ignoreCache: true };
  const provide =
    profile === undefined ? fromNodeProviderChain(settings) : fromIni({ ...settings, profile });
  try {
    return await provide();
  } finally {
    agents.httpAgent.destroy();
    agents.httpsAgent.destroy();
  }
}

/** Returns the headers that sign one request. */
export async function awsHeaders(
  { signer }: AwsKeys,
  { origin, path, headers }: Target,
  body: JsonPieces,
): Promise<Readonly<Record<string, string>>> {
  const { protocol, host, hostname, port } = new URL(origin);
  const { pathname, searchParams } = new URL(path, origin);
  const hash = createHash("sha256");
  if (typeof body === "string") hash.update(body);
  else for (const piece of body) hash.update(piece);
  const signed = await signer.sign({
    method: "POST",
    protocol,
    hostname,
    ...(port === "" ? {} : { port: Number(port) }),
    path: pathname,
    query: Object.fromEntries(searchParams),
    headers: {
      host,
      "content-type": headers["content-type"] ?? "application/json",
      "x-amz-content-sha256": hash.digest("hex"),
    },
    body: undefined,
  });
  const { host: _ours, ...own } = signed.headers;
  return own;
}

/** True if an answer refuses the keys, such as those of an expired session, rather than what they may do: a model, for example. */
export const areKeysRefused = ({
  status,
  headers,
}: Pick<Exchange, "status" | "headers">): boolean =>
  status === 401 ||
  (status === 403 && !/^AccessDeniedException\b/.test(String(headers["x-amzn-errortype"])));
