/** The proxies of the environment, for everything that a gateway asks. docs/operate.md "Proxies". */
import type { Log } from "../base/log.ts";
import { noProxies, proxiesOf, ProxySettingError, type Proxies } from "../base/proxy.ts";
import { fetchThrough } from "../upstream/index.ts";
import { UsageError, type Environment } from "./environment.ts";

/** Reads them. @throws UsageError naming the variable */
export function environmentProxies({ variables }: Pick<Environment, "variables">): Proxies {
  try {
    return proxiesOf(variables);
  } catch (error) {
    if (error instanceof ProxySettingError) throw new UsageError(error.message);
    throw error;
  }
}

/**
 * The process asks whatever else it asks through them as well: the identity provider of the console, local servers for
 * their models. @throws UsageError
 */
export const proxyFetches = (environment: Environment): void =>
  fetchThrough(environmentProxies(environment));

/** The same for a gateway, whose own sandbox is asked directly. A start says that there are any. */
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
