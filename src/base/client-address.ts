/**
 * The address that a request comes from. Behind trusted proxies, `X-Forwarded-For` names it: each proxy appends the address that called it.
 * So the list is read from the right, up to the first address that is no trusted proxy. Everything left of that is the client's own text.
 * Pure.
 */
import { BlockList, isIP } from "node:net";
import { groupsOf, hostOf, lastFourBytes } from "./safe-url.ts";

/** The proxies that the operator trusts. */
export interface TrustedProxies {
  /** True if the IP address, in any spelling, belongs to a trusted proxy. */
  includes(address: string): boolean;
}

const familyOf = (address: string): "ipv4" | "ipv6" => (isIP(address) === 4 ? "ipv4" : "ipv6");

const mapped = new BlockList();
mapped.addSubnet("::ffff:0:0", 96, "ipv6");

/** Returns an IP address in its canonical spelling: without a zone, an IPv4-mapped one as IPv4. Undefined for other texts. */
export function normalAddress(text: string): string | undefined {
  const plain = text.replace(/%.*$/, "");
  const family = isIP(plain);
  if (family === 4) return plain;
  if (family !== 6) return undefined;
  if (mapped.check(plain, "ipv6")) return lastFourBytes(plain);
  return hostOf(new URL(`http://[${plain}]`));
}

const loopbackRanges = ["127.0.0.0/8", "::1"];

/**
 * Reads a list of addresses and CIDR ranges, separated by commas or spaces; `loopback` stands for 127.0.0.0/8 and ::1.
 * @throws Error naming the entry that is neither
 */
export function parseTrustedProxies(text: string): TrustedProxies {
  const list = new BlockList();
  for (const entry of text.split(/[\s,]+/).filter((one) => one !== ""))
    for (const range of entry === "loopback" ? loopbackRanges : [entry]) addRange(list, range);
  return {
    includes(address) {
      const normal = normalAddress(address);
      return normal !== undefined && list.check(normal, familyOf(normal));
    },
  };
}

function addRange(list: BlockList, entry: string): void {
  const [net = "", prefix, ...more] = entry.split("/");
  const address = normalAddress(net);
  const bits = address === undefined ? 0 : familyOf(address) === "ipv4" ? 32 : 128;
  const length = prefix === undefined ? bits : Number(prefix);
  const valid = more.length === 0 && /^\d{1,3}$/.test(prefix ?? "0") && length <= bits;
  if (address === undefined || !valid)
    throw new Error(`"${entry}" is no IP address, range such as 10.0.0.0/8, or loopback`);
  if (length === 0)
    throw new Error(`"${entry}" trusts everybody, so that anybody could name any address`);
  list.addSubnet(address, length, familyOf(address));
}

const loopback = parseTrustedProxies("loopback");

/** True if the IP address is a loopback address. */
export const isLoopback = (address: string): boolean => loopback.includes(address);

/** Parses an entry of the header: an address, optionally with a port in either of the two common spellings. */
function addressIn(entry: string): string | undefined {
  const text = entry.trim();
  const bare = /^\[([^\]]*)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1];
  return normalAddress(bare ?? text);
}

/**
 * Returns the address that a request comes from. `peer` is the other end of the connection, `forwardedFor` the header's value with repeated
 * headers joined by commas. The header of an untrusted peer is ignored. An entry that is no address ends the walk at the proxy that passed
 * it on.
 */
export function clientAddress(
  peer: string,
  forwardedFor: string | undefined,
  trusted: TrustedProxies,
): string {
  let address = normalAddress(peer) ?? peer;
  for (const entry of forwardedFor?.split(",").reverse() ?? []) {
    if (!trusted.includes(address)) break;
    const next = addressIn(entry);
    if (next === undefined) break;
    address = next;
  }
  return address;
}

/**
 * Returns the unit that limits per address count: an IPv4 address, or the /64 of an IPv6 address, which is one customer's network.
 * Undefined for an address that may stand for many callers, and so is not limited: loopback, or a trusted proxy that did not name its
 * client.
 */
export function limitedAddress(address: string, trusted: TrustedProxies): string | undefined {
  const family = isIP(address);
  if (family === 0 || isLoopback(address) || trusted.includes(address)) return undefined;
  if (family === 4) return address;
  const network = groupsOf(address).slice(0, 4);
  return `${network.map((group) => group.toString(16)).join(":")}::/64`;
}
