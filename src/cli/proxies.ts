/** The proxies of the environment, for all requests of a gateway. docs/network.md "Proxies". */
import type { Log } from "../base/log.ts";
import { noProxies, proxiesOf, ProxySettingError, type Proxies } from "../base/proxy.ts";
import { fetchThrough } from "../upstream/index.ts";
import type { Environment } from "./environment.ts";
import { UsageError } from "./usage-error.ts";

/** Reads the proxies of the environment. @throws UsageError naming the variable */
export function environmentProxies({ variables }: Pick<Environment, "variables">): Proxies {
  try {
    return proxiesOf(variables);
  } catch (error) {
    if (error instanceof ProxySettingError) throw new UsageError(error.message);
    throw error;
  }
}

/**
 * Sends the process's other requests through the proxies too: to the console's identity provider, and to local servers for their
 * models.
 * @throws UsageError
 */
export const proxyFetches = (environment: Environment): void =>
  fetchThrough(environmentProxies(environment));

/** Reads the proxies for a gateway. Requests to its own sandbox bypass them. Logs the proxies if there are any. */
export function openProxies(
  environment: Environment,
  log: Log,
  sandboxUrl: string | undefined,
): Proxies {
  const proxies = environmentProxies(environment);
  if (proxies === noProxies) return proxies;
  const shown = ["https://api.example.com", "http://api.example.com"].map(
    (url) => proxies.to(new URL(url))?.shown ?? "none",
  );
  log.info({ https: shown[0], http: shown[1] }, "providers are reached through a proxy");
  const own = sandboxUrl === undefined ? undefined : new URL(sandboxUrl).origin;
  return { to: (url) => (url.origin === own ? undefined : proxies.to(url)) };
}
