/**
 * Which proxy leads to an address: the environment's, by curl's rules, or one that is named. Pure; connections through it
 * are made in upstream/dial. docs/operate.md "Proxies".
 */
import { BlockList, isIP } from "node:net";
import { percentDecoded } from "./text.ts";

/** A proxy as its address names it. */
export interface Proxy {
  /** Whether it is spoken to over TLS. */
  readonly isTls: boolean;
  /** Without brackets. */
  readonly hostname: string;
  readonly port: number;
  /** The value of `Proxy-Authorization`; absent where its address has no user. */
  readonly authorization?: string | undefined;
  /** Its address without the user, for logs. */
  readonly shown: string;
  /** What of it is secret. */
  readonly secrets: readonly string[];
}

/** The ports that curl takes where an address names none. */
const portDefaults = { http: 1080, https: 443 } as const;

const forms = "http://host:port, https://host:port, or with user:password@ before the host";

/**
 * Reads a proxy's address: `http://user:password@host:3128`. Without a scheme it is `http`, without a port curl's own.
 * @throws Error in words that follow the setting's name; the address is not in them
 */
export function parseProxy(text: string): Proxy {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(text)?.[1]?.toLowerCase() ?? "http";
  if (scheme !== "http" && scheme !== "https")
    throw new Error(`names a ${scheme} proxy, which is not supported; it takes ${forms}`);
  const address = text.includes("://") ? text : `http://${text}`;
  if (!URL.canParse(address)) throw new Error(`is not the address of a proxy; it takes ${forms}`);
  const { hostname, username, password } = new URL(address);
  // URL leaves out a port that is the scheme's own for servers, which it is not for proxies.
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
  /** The one that leads to an origin or address; undefined where it is connected to directly. */
  to(url: URL): Proxy | undefined;
}

/** Nobody is asked through a proxy. */
export const noProxies: Proxies = { to: () => undefined };

/** The environment names a proxy that is none. The message has the variable's name, and never its value. */
export class ProxySettingError extends Error {
  override name = "ProxySettingError";
}

type Variables = Readonly<Record<string, string | undefined>>;

/**
 * Reads `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`. A name in lower case counts before the one in upper case.
 * @throws ProxySettingError
 */
export function proxiesOf(variables: Variables): Proxies {
  // A CGI program gets `HTTP_PROXY` from a header `Proxy` of whoever asks.
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
 * The hosts of `no_proxy`, as curl reads it: `*` alone for all, else names with everything below them, with or without a
 * dot in front, IP addresses and their ranges. Divided by commas or blanks. An entry with a port is none of these.
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

/** Adds an address or a range; false where the entry is neither. */
function addRange(ranges: BlockList, entry: string): boolean {
  const [net = "", prefix, ...more] = entry.split("/");
  const address = net.replace(/^\[|\]$/g, "");
  const family = isIP(address);
  if (family === 0 || address.includes("%")) return false;
  const bits = family === 4 ? 32 : 128;
  const length = prefix === undefined ? bits : Number(prefix);
  const isRange = more.length === 0 && /^\d{1,3}$/.test(prefix ?? "0") && length <= bits;
  // Not a name either: it matches nothing.
  if (isRange) ranges.addSubnet(address, length, family === 4 ? "ipv4" : "ipv6");
  return true;
}
