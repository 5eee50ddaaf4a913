/**
 * Connections for libraries with their own HTTP client, such as AWS's, and for `fetch`. They are made like those to providers, through the
 * same proxies. Such a library writes its requests for the server itself, so plain HTTP is tunnelled too.
 */
import { Agent as HttpAgent, type AgentOptions, type ClientRequestArgs } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import type { Duplex } from "node:stream";
import type * as Undici from "undici";
import type { buildConnector, Dispatcher } from "undici";
import { inBrackets } from "../../base/listening-host.ts";
import { getOrCreate } from "../../base/memoize.ts";
import { noProxies, type Proxies } from "../../base/proxy.ts";
import { undici } from "../undici.ts";
import { connectorOf } from "./connector.ts";
import { DialRoutes, type DialRoute, type DialRouteResolver } from "./dial-route.ts";

/** Timeout of the handshakes of proxy, TCP and TLS, in ms. */
const connectMs = 10_000;

const toOthers = (dialRoute: DialRoute): DialRoute => ({
  ...dialRoute,
  isOther: true,
  ...(dialRoute.proxy && { tunnels: true }),
});

/** Returns a connector to any origin; each origin's route and TLS sessions are cached. */
function connectorBy(dialRoutes: DialRouteResolver): buildConnector.connector {
  const connectors = new Map<string, buildConnector.connector>();
  return (options, callback) => {
    const origin = `${options.protocol}//${options.host ?? options.hostname}`;
    const connect = getOrCreate(connectors, origin, () =>
      connectorOf(origin, toOthers(dialRoutes.dialRoute(origin)), connectMs),
    );
    connect(options, callback);
  };
}

type Created = (error: Error | null, stream: Duplex) => void;

/** Returns an agent's function that opens a connection. */
function createBy(dialRoutes: DialRouteResolver, protocol: "http:" | "https:") {
  const connect = connectorBy(dialRoutes);
  return ({ host, port }: ClientRequestArgs, created?: Created): undefined => {
    const name = host ?? "localhost";
    const at = `${inBrackets(name)}:${port ?? (protocol === "https:" ? 443 : 80)}`;
    const options = { protocol, hostname: name, host: at, port: String(port ?? "") };
    connect(options, (error, socket) => {
      if (error) created?.(error, undefined as unknown as Duplex);
      else created?.(null, socket);
    });
  };
}

/** Agents of `node:http` and `node:https`, with the names that AWS's clients expect. */
export interface Agents {
  readonly httpAgent: HttpAgent;
  readonly httpsAgent: HttpsAgent;
}

/** Creates agents whose connections use these routes. The caller must destroy them. */
export function agentsTo(dialRoutes: DialRouteResolver, options: AgentOptions = {}): Agents {
  const httpAgent = new HttpAgent(options);
  const httpsAgent = new HttpsAgent(options);
  httpAgent.createConnection = createBy(dialRoutes, "http:");
  httpsAgent.createConnection = createBy(dialRoutes, "https:");
  return { httpAgent, httpsAgent };
}

const resolverThrough = (proxies: Proxies): DialRouteResolver => {
  const dialRoutes = new DialRoutes(proxies);
  return { dialRoute: (origin) => dialRoutes.to(origin) };
};

/** Without a limit per host: each file of a bucket that is read slowly holds a connection. */
const agentOptions: AgentOptions = { keepAlive: true, maxFreeSockets: 50 };

/** Returns agents that connect through these proxies; undefined if there are none: the client then uses its own. */
export const agentsThrough = (proxies: Proxies): Agents | undefined =>
  proxies === noProxies ? undefined : agentsTo(resolverThrough(proxies), agentOptions);

/** Returns a `dispatcher` for `fetch` that connects through these proxies. */
const dispatcherThrough = (proxies: Proxies): Dispatcher =>
  new (undici().Agent)({ connect: connectorBy(resolverThrough(proxies)) });

/** Makes every `fetch` of this process use these proxies, also those of libraries. */
export function fetchThrough(proxies: Proxies): void {
  if (proxies !== noProxies) undici().setGlobalDispatcher(dispatcherThrough(proxies));
}

/** Fetches a public page through these proxies. */
export function fetchBy(
  proxies: Proxies,
  url: string,
  signal: AbortSignal,
): ReturnType<typeof Undici.fetch> {
  return undici().fetch(url, { signal, dispatcher: dispatcherThrough(proxies) });
}
