/** Authorizes a provider's requests by a cloud identity instead of a key of the file; each identity is shared within the process. */
import { withTimeout } from "../../base/timeouts.ts";
import type { JsonPieces } from "../../base/json-write.ts";
import { memoizeByObject } from "../../base/memoize.ts";
import type { Auth, Provider } from "../../catalog/index.ts";
import type { Exchange } from "../exchange.ts";
import { ExchangeError } from "../exchange-error.ts";
import { agentsTo } from "../dial/agents.ts";
import type { DialRouteResolver } from "../dial/dial-route.ts";
import { maskSecret } from "../masking.ts";
import type { Target } from "../vendors/types.ts";
import { areKeysRefused, awsHeaders, awsKeys } from "./aws.ts";
import { azureToken } from "./azure.ts";
import { endingPrograms } from "./child-processes.ts";
import { googleHeaders } from "./google.ts";
import { fetchMsMax, RenewingValue, type Lease } from "./renewing-value.ts";

type Headers = Readonly<Record<string, string>>;

type AnswerHead = Pick<Exchange, "status" | "headers">;

/** The authorization of one request. */
export interface Authorized {
  readonly headers: Headers;
  /** Reports the answer. After some refusals the token or keys of this request are dropped; newer ones are kept. */
  readonly answered: (answer: AnswerHead) => void;
}

/** Authorizes requests. */
export interface Identity {
  /** Authorizes one request. @throws ExchangeError `unauthorized` */
  authorize(provider: Provider, target: Target, body: JsonPieces): Promise<Authorized>;
  /** Loads the library. */
  load(): Promise<unknown>;
  /**
   * Fetches the token or keys before the first call, and renews them from then on. `onFailure` gets the error if that fails later, once
   * until it succeeds again. @throws ExchangeError
   */
  keep(onFailure?: (error: unknown) => void): Promise<void>;
  /** Called when no provider of the catalogue uses it any more. */
  release(): void;
}

/** Creates an identity from its parts. `headers` writes the value into a request. */
export function createIdentity<Value>(parts: {
  readonly name: string;
  /** Loads the library. Not part of the timeout: on a busy machine it takes longer than the answer, and is not the cloud's fault. */
  readonly load: () => Promise<unknown>;
  readonly fetch: (signal: AbortSignal) => Promise<Lease<Value>>;
  readonly secrets: (value: Value) => readonly string[];
  readonly headers: (value: Value, target: Target, body: JsonPieces) => Headers | Promise<Headers>;
  /** True if the answer refuses the value itself; by default those with 401. */
  readonly isRefused?: (answer: AnswerHead) => boolean;
}): Identity {
  const { isRefused = ({ status }) => status === 401 } = parts;
  const renewing = new RenewingValue(async () => {
    await parts.load();
    return await within(parts.name, parts.fetch);
  });
  return {
    load: parts.load,
    keep: (onFailure) => renewing.keep(onFailure),
    release: () => renewing.release(),
    async authorize(provider, target, body) {
      const value = await renewing.get();
      for (const secret of parts.secrets(value)) maskSecret(provider, secret);
      return {
        headers: await parts.headers(value, target, body),
        answered(answer) {
          if (isRefused(answer)) renewing.drop(value);
        },
      };
    },
  };
}

/** Returns the result of `fetch` within ten seconds. @throws ExchangeError `unauthorized` with the library's message */
async function within<Value>(
  name: string,
  fetch: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const gone = new AbortController();
  try {
    const fetched = endingPrograms(gone.signal, () => fetch(gone.signal));
    return await withTimeout(fetched, fetchMsMax, () => {
      gone.abort();
      return new Error(`no answer within ${fetchMsMax} ms`);
    });
  } catch (error) {
    const { message } = error instanceof Error ? error : new Error(String(error));
    throw new ExchangeError("unauthorized", `no credential from ${name}: ${message}`, error);
  }
}

function make(provider: Provider, auth: Auth, dialRoutes: DialRouteResolver): Identity | undefined {
  switch (auth.type) {
    case "azure": {
      // The server may name another one for its tokens.
      const agent = provider.guarded ? publicOnly(provider, dialRoutes) : undefined;
      return createIdentity({
        name: "Entra ID",
        load: () => import("@azure/identity"),
        fetch: (signal) => azureToken(auth, { signal, agent }),
        secrets: (token) => [token],
        headers: (token) => ({ authorization: `Bearer ${token}` }),
      });
    }
    case "google":
      return createIdentity({
        name: "Google Cloud",
        load: () => import("google-auth-library"),
        fetch: (signal) => googleHeaders(auth, signal),
        secrets: ({ authorization = "" }) => [authorization.replace(/^Bearer /i, "")],
        headers: (headers) => headers,
      });
    case "aws":
      return createIdentity({
        name: "AWS",
        load: () =>
          Promise.all([import("@smithy/signature-v4"), import("@aws-sdk/credential-providers")]),
        fetch: () => awsKeys(auth, dialRoutes),
        secrets: ({ secrets }) => secrets,
        headers: awsHeaders,
        isRefused: areKeysRefused,
      });
    default:
      return undefined;
  }
}

/** The connections of a provider from outside the file: to public addresses only. */
const publicOnly = (provider: Provider, dialRoutes: DialRouteResolver) =>
  agentsTo({ dialRoute: (origin) => dialRoutes.dialRoute(origin, provider) }).httpsAgent;

interface Known {
  /** Keyed by the file's settings, so that a reload keeps the tokens, and by origin: a token that one refuses may be good elsewhere. */
  readonly byName: Map<string, Identity>;
  readonly byProvider: WeakMap<Provider, Identity>;
  /** Those whose credentials are renewed without calls. */
  readonly kept: Set<Identity>;
}

/** Keyed by a gateway's connections, over which credentials are fetched. */
const knownBy = memoizeByObject((_dialRoutes: DialRouteResolver): Known => ({
  byName: new Map(),
  byProvider: new WeakMap(),
  kept: new Set(),
}));

/** Returns the identity of a provider; undefined if its requests carry a key, or nothing. `dialRoutes`: the gateway's connections. */
export function identityOf(
  provider: Provider,
  dialRoutes: DialRouteResolver,
): Identity | undefined {
  const auth = provider.access?.auth;
  if (auth === undefined) return undefined;
  const { byName, byProvider } = knownBy(dialRoutes);
  let found = byProvider.get(provider);
  if (found) return found;
  const { baseUrl, guarded = false } = provider;
  const name = `${new URL(baseUrl).origin} ${guarded} ${JSON.stringify(auth)}`;
  found = byName.get(name) ?? make(provider, auth, dialRoutes);
  if (!found) return undefined;
  byName.set(name, found);
  byProvider.set(provider, found);
  return found;
}

/** Keeps these identities, and releases and forgets all others. */
export function keepOnly(identities: ReadonlySet<Identity>, dialRoutes: DialRouteResolver): void {
  const { kept, byName } = knownBy(dialRoutes);
  for (const one of kept) if (!identities.has(one)) one.release();
  kept.clear();
  for (const one of identities) kept.add(one);
  for (const [name, one] of byName) if (!kept.has(one)) byName.delete(name);
}
