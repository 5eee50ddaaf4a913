/**
 * The connections of libraries that speak HTTP themselves, such as AWS's, and of `fetch`: made as those to providers are,
 * through the same proxies. Such a library writes its requests as to the server itself, so plain HTTP is tunnelled too.
 */
import { Agent as HttpAgent, type AgentOptions, type ClientRequestArgs } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import type { Duplex } from "node:stream";
import type * as Undici from "undici";
import type { buildConnector, Dispatcher } from "undici";
import { inBrackets } from "../../base/listening-host.ts";
import { getOrMake } from "../../base/made-once.ts";
import { noProxies, type Proxies } from "../../base/proxy.ts";
import { undici } from "../undici.ts";
import { connectorOf } from "./connector.ts";
import { Ways, type Way, type WaysTo } from "./way.ts";

/** How long the handshakes of proxy, TCP and TLS may take. */
const connectMs = 10_000;

const toOthers = (way: Way): Way => ({
  ...way,
  isOther: true,
  ...(way.proxy && { tunnels: true }),
});

/** Connects to whatever origin is asked for; each origin's way and TLS sessions are kept. */
function connectorBy(ways: WaysTo): buildConnector.connector {
  const connectors = new Map<string, buildConnector.connector>();
  return (options, callback) => {
    const origin = `${options.protocol}//${options.host ?? options.hostname}`;
    const connect = getOrMake(connectors, origin, () =>
      connectorOf(origin, toOthers(ways.way(origin)), connectMs),
    );
    connect(options, callback);
  };
}

type Created = (error: Error | null, stream: Duplex) => void;

/** The part of an agent that opens a connection. */
function createBy(ways: WaysTo, protocol: "http:" | "https:") {
  const connect = connectorBy(ways);
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

/** Agents of `node:http` and `node:https`, by the names that AWS's clients take them. */
export interface Agents {
  readonly httpAgent: HttpAgent;
  readonly httpsAgent: HttpsAgent;
}

/** Makes agents whose connections go these ways. Whoever makes them destroys them. */
export function agentsTo(ways: WaysTo, options: AgentOptions = {}): Agents {
  const httpAgent = new HttpAgent(options);
  const httpsAgent = new HttpsAgent(options);
  httpAgent.createConnection = createBy(ways, "http:");
  httpsAgent.createConnection = createBy(ways, "https:");
  return { httpAgent, httpsAgent };
}

const waysThrough = (proxies: Proxies): WaysTo => {
  const ways = new Ways(proxies);
  return { way: (origin) => ways.to(origin) };
};

/** As many connections to one place as are asked for: each file of a bucket that is read slowly holds one. */
const agentOptions: AgentOptions = { keepAlive: true, maxFreeSockets: 50 };

/** The agents of a client whose connections go through these proxies; undefined where there are none: it has its own. */
export const agentsThrough = (proxies: Proxies): Agents | undefined =>
  proxies === noProxies ? undefined : agentsTo(waysThrough(proxies), agentOptions);

/** What `fetch` takes as its `dispatcher`: its connections go through these proxies. */
const dispatcherThrough = (proxies: Proxies): Dispatcher =>
  new (undici().Agent)({ connect: connectorBy(waysThrough(proxies)) });

/** From now on every `fetch` of this process goes through these proxies, those of libraries too. */
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
