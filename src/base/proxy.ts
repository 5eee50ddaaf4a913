/**
 * Chooses the proxy for an address: the environment's, by curl's rules, or a named one. Pure; upstream/dial makes connections through it.
 * docs/network.md "Proxies".
 */
import { BlockList, isIP } from "node:net";
import { percentDecoded } from "./text.ts";

/** A proxy, parsed from its address. */
export interface Proxy {
  /** True if the connection to the proxy uses TLS. */
  readonly isTls: boolean;
  /** The host, without brackets. */
  readonly hostname: string;
  readonly port: number;
  /** The value of `Proxy-Authorization`; absent if the address has no user. */
  readonly authorization?: string | undefined;
  /** The address without the user, for logs. */
  readonly shown: string;
  /** The secret parts, for masking. */
  readonly secrets: readonly string[];
}

/** curl's default ports for addresses without one. */
const portDefaults = { http: 1080, https: 443 } as const;

const forms = "http://host:port, https://host:port, or with user:password@ before the host";

/**
 * Parses a proxy's address: `http://user:password@host:3128`. Defaults: the scheme `http`, and curl's ports. White space around it is
 * ignored.
 * @throws Error in words that follow the setting's name; the address is not in them
 */
export function parseProxy(given: string): Proxy {
  const text = given.trim();
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(text)?.[1]?.toLowerCase() ?? "http";
  if (scheme !== "http" && scheme !== "https")
    throw new Error(`names a ${scheme} proxy, which is not supported; it takes ${forms}`);
  const address = text.includes("://") ? text : `http://${text}`;
  if (!URL.canParse(address)) throw new Error(`is not the address of a proxy; it takes ${forms}`);
  const { hostname, username, password } = new URL(address);
  // URL drops a server scheme's default port, which is not the default for proxies.
  const authority = /:\/\/(?:[^/?#]*@)?([^/?#]*)/.exec(address)?.[1] ?? "";
  const port = Number(/:(\d+)$/.exec(authority)?.[1] ?? portDefaults[scheme]);
  const [user, secret] = [percentDecoded(username), percentDecoded(password)];
  return {
    isTls: scheme === "https",
    hostname: hostname.replace(/^\[|\]$/g, ""),
    port,
    authorization: user + secret === "" ? undefined : basic(user, secret),
    shown: `${scheme}://${hostname}:${port}`,
    secrets: secret === "" ? [] : [...new Set([secret, password, base64(user, secret)])],
  };
}

const base64 = (user: string, secret: string): string =>
  Buffer.from(`${user}:${secret}`).toString("base64");
const basic = (user: string, secret: string): string => `Basic ${base64(user, secret)}`;

export interface Proxies {
  /** Returns the proxy for an origin or address; undefined for a direct connection. */
  to(url: URL): Proxy | undefined;
}

/** All connections are direct. */
export const noProxies: Proxies = { to: () => undefined };

/** A variable of the environment is no valid proxy address. The message has the variable's name, and never its value. */
export class ProxySettingError extends Error {
  override name = "ProxySettingError";
}

type Variables = Readonly<Record<string, string | undefined>>;

/**
 * Reads `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`. A lower-case name takes precedence over the upper-case one.
 * @throws ProxySettingError
 */
export function proxiesOf(variables: Variables): Proxies {
  // A CGI program gets `HTTP_PROXY` from the request's header `Proxy`, which any client can set.
  const isCgi = Boolean(variables["REQUEST_METHOD"]);
  const all = named(variables, "all_proxy");
  const http = named(variables, "http_proxy", isCgi) ?? all;
  const https = named(variables, "https_proxy") ?? all;
  if (http === undefined && https === undefined) return noProxies;
  const isDirect = directHosts(variables["no_proxy"] || variables["NO_PROXY"] || "");
  return {
    to({ protocol, hostname }) {
      const proxy = protocol === "https:" || protocol === "wss:" ? https : http;
      return proxy === undefined || isDirect(hostname) ? undefined : proxy;
    },
  };
}

function named(variables: Variables, lower: string, lowerOnly = false): Proxy | undefined {
  const names = lowerOnly ? [lower] : [lower, lower.toUpperCase()];
  const name = names.find((one) => variables[one]);
  if (name === undefined) return undefined;
  try {
    return parseProxy(variables[name]!);
  } catch (error) {
    throw new ProxySettingError(`${name} ${(error as Error).message}`);
  }
}

/**
 * Parses `no_proxy` as curl does. `*` alone means all hosts. Names include everything below them, with or without a leading dot. There may
 * be IP addresses and ranges. Commas or blanks separate entries. An entry with a port matches nothing.
 */
export function directHosts(list: string): (hostname: string) => boolean {
  if (list.trim() === "*") return () => true;
  const ranges = new BlockList();
  const names: string[] = [];
  for (const entry of list.toLowerCase().split(/[\s,]+/)) {
    const name = trimDot(entry);
    if (!addRange(ranges, entry) && name !== "") names.push(name.replace(/^\./, ""));
  }
  return (hostname) => {
    const host = trimDot(hostname.toLowerCase().replace(/^\[|\]$/g, ""));
    const family = isIP(host);
    if (family !== 0) return ranges.check(host, family === 4 ? "ipv4" : "ipv6");
    return names.some((name) => host === name || host.endsWith(`.${name}`));
  };
}

const trimDot = (name: string): string => name.replace(/\.$/, "");

/** Adds an address or a range; returns false if the entry is neither. */
function addRange(ranges: BlockList, entry: string): boolean {
  const [net = "", prefix, ...more] = entry.split("/");
  const address = net.replace(/^\[|\]$/g, "");
  const family = isIP(address);
  if (family === 0 || address.includes("%")) return false;
  const bits = family === 4 ? 32 : 128;
  const length = prefix === undefined ? bits : Number(prefix);
  const isRange = more.length === 0 && /^\d{1,3}$/.test(prefix ?? "0") && length <= bits;
  // An invalid range is no name either: it matches nothing.
  if (isRange) ranges.addSubnet(address, length, family === 4 ? "ipv4" : "ipv6");
  return true;
}
