/**
 * Checks addresses that strangers name (callbacks, media, artifacts): their form, and which IP addresses are public. Pure; upstream/guarded
 * resolves and connects. Rows HOOK-07, HOOK-08; trap T77.
 */
import { BlockList, isIP } from "node:net";
import { GatewayError, type ErrorCode } from "./errors.ts";

export interface AddressRule {
  /** True: only HTTPS; false: HTTP too. */
  readonly https: boolean;
  /** True if loopback and private networks are allowed: by the operator's switch, or for a host that the operator configured. */
  readonly allowPrivate: boolean;
  /** The field with the address, for the error. */
  readonly param: string;
  /** The error's code; `invalid_value` if absent. */
  readonly code?: Extract<ErrorCode, "invalid_value" | "invalid_webhook_url"> | undefined;
  /** The most characters; 2048 unless set otherwise. */
  readonly charactersMax?: number | undefined;
}

const defaultCharactersMax = 2048;

/**
 * Checks an address as far as possible without resolving it. Use the returned URL, never the text: parsers differ.
 * @throws GatewayError of the rule's code, naming the field
 */
export function parseSafeUrl(text: string, rule: AddressRule): URL {
  const refuse = (why: string) => addressError(rule, why);
  const charactersMax = rule.charactersMax ?? defaultCharactersMax;
  if (text.length > charactersMax)
    throw refuse(`must not be longer than ${charactersMax} characters`);
  // URL would remove or convert these, and another parser would not.
  // oxlint-disable-next-line no-control-regex -- these are what is refused
  if (/[\u0000-\u0020\u007f\\]/.test(text)) throw refuse("must not contain spaces or backslashes");
  if (!URL.canParse(text)) throw refuse("is not a URL");
  const url = new URL(text);
  if (url.protocol !== "https:" && (rule.https || url.protocol !== "http:"))
    throw refuse(rule.https ? "must begin with https://" : "must begin with https:// or http://");
  if (url.username !== "" || url.password !== "") throw refuse("must not contain credentials");
  const host = hostOf(url);
  if (host.endsWith(".")) throw refuse("must not have a host that ends in a dot");
  if (!rule.allowPrivate && isLocal(host)) throw privateAddressError(rule);
  return url;
}

type Named = Pick<AddressRule, "param" | "code">;

export function addressError({ param, code = "invalid_value" }: Named, why: string): GatewayError {
  return new GatewayError(code, `${param} ${why}.`, { param });
}

export function privateAddressError(named: Named): GatewayError {
  const why = "must not point at a private or reserved network (TOLLGATE_ALLOW_PRIVATE_ADDRESSES)";
  return addressError(named, why);
}

/** Returns the host of a URL as it is resolved and connected to: an IPv6 address without brackets. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, "$1");
}

/** Top-level names that are never registered, and so belong to private networks (RFC 6761, RFC 6762, ICANN). */
const localSuffix =
  /\.(?:localhost|local|localdomain|internal|intranet|private|corp|home|lan|home\.arpa|svc)$/;

/** True for a reserved IP address, or a name that only private networks know: one word, or one under a private suffix. */
export const isLocal = (host: string): boolean =>
  isIP(host) === 0 ? !host.includes(".") || localSuffix.test(host) : !isPublicAddress(host);

/** IANA's special-purpose IPv4 blocks, and one address that clouds serve only to their own machines. */
const reservedIpv4 = [
  "0.0.0.0/8", // this network
  "10.0.0.0/8",
  "100.64.0.0/10", // carrier-grade NAT
  "127.0.0.0/8",
  "168.63.129.16/32", // Azure's machine agent
  "169.254.0.0/16", // link-local, with the metadata services
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24", // documentation
  "192.88.99.0/24", // 6to4 relays
  "192.168.0.0/16",
  "198.18.0.0/15", // benchmarks
  "198.51.100.0/24", // documentation
  "203.0.113.0/24", // documentation
  "224.0.0.0/4", // multicast
  "240.0.0.0/4", // reserved, broadcast
];
/** Ranges of the global unicast addresses, 2000::/3, that are not global after all. Everything outside 2000::/3 is reserved too. */
const reservedIpv6 = [
  "2001::/23", // protocol assignments: Teredo, benchmarks, ORCHID
  "2001:db8::/32", // documentation
  "2002::/16", // 6to4: an IPv4 address inside
  "3fff::/20", // documentation
];

function blockList(ranges: readonly string[], family: "ipv4" | "ipv6"): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [net, prefix] = range.split("/") as [string, string];
    list.addSubnet(net, Number(prefix), family);
  }
  return list;
}

const ipv4Reserved = blockList(reservedIpv4, "ipv4");
const ipv6Reserved = blockList(reservedIpv6, "ipv6");
const ipv6Global = blockList(["2000::/3"], "ipv6");
/** IPv6 ranges with an IPv4 address in the last 32 bits, to which packets go: mapped, and NAT64. */
const ipv6Embedding = blockList(["::ffff:0:0/96", "64:ff9b::/96"], "ipv6");

/** True if an IP address, in any spelling, belongs to the public internet. False for other texts. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !ipv4Reserved.check(address, "ipv4");
  if (family !== 6) return false;
  const plain = address.replace(/%.*$/, "");
  if (ipv6Embedding.check(plain, "ipv6")) return isPublicAddress(lastFourBytes(plain));
  if (isIsatap(plain) && !isPublicAddress(lastFourBytes(plain))) return false;
  return ipv6Global.check(plain, "ipv6") && !ipv6Reserved.check(plain, "ipv6");
}

/** Returns the eight groups of an IPv6 address in any spelling: URL normalizes it, with one run of zeros left out. */
export function groupsOf(address: string): number[] {
  const [before = "", after = ""] = hostOf(new URL(`http://[${address}]`)).split("::");
  const [left, right] = [before, after].map((part) =>
    part === "" ? [] : part.split(":").map((group) => Number.parseInt(group, 16)),
  ) as [number[], number[]];
  const zeros = Array<number>(8 - left.length - right.length).fill(0);
  return [...left, ...zeros, ...right];
}

/** True for an address of a host that is reached over IPv4, in any network: `...:0:5efe:` and its IPv4 address. RFC 5214, 6.1. */
function isIsatap(address: string): boolean {
  const [flags = 0, mark] = groupsOf(address).slice(4);
  // The bits "universal" and "group" may be set.
  return (flags & ~0x0300) === 0 && mark === 0x5efe;
}

/** Returns the last 32 bits of an IPv6 address, as an IPv4 address. */
export function lastFourBytes(address: string): string {
  const [high = 0, low = 0] = groupsOf(address).slice(-2);
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}
