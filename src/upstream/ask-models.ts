/** Requests a provider's list of models: the cheapest request that needs authorization. For `tollgate doctor`. */
import type { Provider } from "../catalog/index.ts";
import { ownHeaders, placeKey, queryText, withQuery } from "./access.ts";
import { inspect, type Inspected } from "./dial/inspect.ts";
import { identityOf } from "./identity/index.ts";
import { ask } from "./media/index.ts";
import type { Pools } from "./pools.ts";
import { protocolDefaults } from "./vendors/protocols.ts";

const protocolOf = { anthropic: "messages", google: "generate_content" } as const;

/**
 * Requests a provider's list of models with one of its keys; returns the status. Undefined if the provider uses a cloud identity instead of
 * a key: then only a credential is fetched. @throws ExchangeError
 */
export async function askModels(
  pools: Pools,
  provider: Provider,
  apiKey: string,
): Promise<number | undefined> {
  const { access, dialect, timeouts } = provider;
  const { origin, pathname } = new URL(provider.baseUrl);
  const defaults =
    protocolDefaults[
      dialect === "anthropic" || dialect === "google" ? protocolOf[dialect] : "chat"
    ];
  const path = `${pathname.replace(/\/$/, "")}/models`;
  const identity = identityOf(provider, pools);
  if (identity) {
    const headers = { "content-type": "application/json" };
    await identity.authorize(provider, { origin, path, headers }, "");
    return undefined;
  }
  const key = placeKey(access?.auth, dialect === "azure" ? "api-key" : defaults.keyHeader, apiKey);
  // The provider's file, key included, is already applied here: `ask` must not apply it again.
  const plain: Provider = { ...provider, access: undefined };
  const pool = pools.forMedia(origin, timeouts.connectMs, provider);
  const { status } = await ask(
    pool,
    plain,
    {
      method: "GET",
      path: [queryText(access?.query), key.query].reduce(withQuery, path),
      headers: {
        accept: "application/json",
        "user-agent": "tollgate",
        ...defaults.headers?.({}),
        ...key.headers,
        ...ownHeaders(access),
      },
    },
    { firstByteMs: answerMsMax, idleMs: answerMsMax, totalMs: answerMsMax },
  );
  return status;
}

const answerMsMax = 8_000;

/** Connects to a provider and returns the findings. @throws FaultError */
export const inspectProvider = (pools: Pools, provider: Provider): Promise<Inspected> => {
  const { origin } = new URL(provider.baseUrl);
  return inspect(origin, pools.dialRoute(origin, provider), provider.timeouts.connectMs);
};

/** As `inspectProvider`, for an address of the operator, such as a hook's. @throws FaultError */
export const inspectAddress = (pools: Pools, url: string): Promise<Inspected> => {
  const { origin } = new URL(url);
  return inspect(origin, pools.dialRoute(origin), answerMsMax);
};
