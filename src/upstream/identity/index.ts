/** Who authorizes a provider's requests where no key of the file does: one identity of a cloud, kept once per process. */
import type { JsonPieces } from "../../base/json-source.ts";
import type { Auth, Provider } from "../../catalog/index.ts";
import { ExchangeError } from "../exchange-error.ts";
import { maskAlso } from "../masking.ts";
import type { Target } from "../vendors/types.ts";
import { awsHeaders, awsKeys } from "./aws.ts";
import { azureToken } from "./azure.ts";
import { googleHeaders } from "./google.ts";
import { Renewed, type Lease } from "./renewed.ts";

type Headers = Readonly<Record<string, string>>;

/** Authorizes requests. */
interface Identity {
  /** The headers for one request. @throws ExchangeError `unauthorized` */
  authorize(provider: Provider, target: Target, body: JsonPieces): Promise<Headers>;
  /** The vendor's status where it refused a request: what the headers carried may not be good any more. */
  refused(status: number): void;
  /** Loads the library. */
  load(): Promise<unknown>;
}

/** Longest wait for a token, milliseconds. */
const fetchMsMax = 10_000;

/** An identity with its value. `headers` writes it into a request. */
function identity<Value>(parts: {
  readonly name: string;
  /** Loads the library. On a busy machine this takes longer than its answer, and is no fault of the cloud's. */
  readonly load: () => Promise<unknown>;
  readonly fetch: (signal: AbortSignal) => Promise<Lease<Value>>;
  readonly secrets: (value: Value) => readonly string[];
  readonly headers: (value: Value, target: Target, body: JsonPieces) => Headers | Promise<Headers>;
  /** The statuses that mean so; 401 if absent. */
  readonly refusals?: readonly number[];
}): Identity {
  const { refusals = [401] } = parts;
  const renewed = new Renewed(async () => {
    await parts.load();
    return await within(parts.name, parts.fetch);
  });
  let last: Value | undefined;
  return {
    load: parts.load,
    async authorize(provider, target, body) {
      const value = await renewed.get();
      last = value;
      for (const secret of parts.secrets(value)) maskAlso(provider, secret);
      return parts.headers(value, target, body);
    },
    refused(status) {
      if (last !== undefined && refusals.includes(status)) renewed.drop(last);
    },
  };
}

/** What is fetched within ten seconds. @throws ExchangeError `unauthorized` with the library's words */
async function within<Value>(
  name: string,
  fetch: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const gone = new AbortController();
  const timer = setTimeout(() => {
    gone.abort();
    reject(new Error(`no answer within ${fetchMsMax} ms`));
  }, fetchMsMax);
  try {
    return await Promise.race([fetch(gone.signal), late]);
  } catch (error) {
    const { message } = error instanceof Error ? error : new Error(String(error));
    throw new ExchangeError("unauthorized", `no credential from ${name}: ${message}`, error);
  } finally {
    clearTimeout(timer);
  }
}

function make(auth: Auth): Identity | undefined {
  switch (auth.type) {
    case "azure":
      return identity({
        name: "Entra ID",
        load: () => import("@azure/identity"),
        fetch: (signal) => azureToken(auth, signal),
        secrets: (token) => [token],
        headers: (token) => ({ authorization: `Bearer ${token}` }),
      });
    case "google":
      return identity({
        name: "Google Cloud",
        load: () => import("google-auth-library"),
        fetch: () => googleHeaders(auth),
        secrets: ({ authorization = "" }) => [authorization.replace(/^Bearer /i, "")],
        headers: (headers) => headers,
      });
    case "aws":
      return identity({
        name: "AWS",
        load: () =>
          Promise.all([import("@smithy/signature-v4"), import("@aws-sdk/credential-providers")]),
        fetch: () => awsKeys(auth),
        secrets: ({ secrets }) => secrets,
        headers: awsHeaders,
        // 403 is also what an expired session gets.
        refusals: [401, 403],
      });
    default:
      return undefined;
  }
}

/** By what the file says, so that a reload keeps the tokens, and by who takes them: what one refuses may be good elsewhere. */
const identities = new Map<string, Identity>();
const known = new WeakMap<Provider, Identity>();

/** The identity of a provider; undefined where its requests carry a key, or nothing. */
export function identityOf(provider: Provider): Identity | undefined {
  const auth = provider.access?.auth;
  if (auth === undefined) return undefined;
  let found = known.get(provider);
  if (found) return found;
  const name = `${new URL(provider.baseUrl).origin} ${JSON.stringify(auth)}`;
  found = identities.get(name) ?? make(auth);
  if (!found) return undefined;
  identities.set(name, found);
  known.set(provider, found);
  return found;
}
