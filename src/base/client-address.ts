/**
 * Where a request comes from. Behind proxies that the operator trusts, `X-Forwarded-For` tells it: each proxy appends the
 * address that it was called from, so the list is read from the right, up to the first address that is no trusted proxy.
 * What stands left of that is the client's own text. Pure.
 */
import { BlockList, isIP } from "node:net";
import { groupsOf, hostOf, lastFourBytes } from "./safe-url.ts";

/** The proxies whose word counts. */
export interface TrustedProxies {
  /** Whether an IP address, in any spelling, is one of theirs. */
  includes(address: string): boolean;
}

const familyOf = (address: string): "ipv4" | "ipv6" => (isIP(address) === 4 ? "ipv4" : "ipv6");

const mapped = new BlockList();
mapped.addSubnet("::ffff:0:0", 96, "ipv6");

/** An IP address in its one spelling: without a zone, an IPv4-mapped one as IPv4. Undefined for what is no IP address. */
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

/** Whether an IP address is this machine's own. */
export const isLoopback = (address: string): boolean => loopback.includes(address);

/** An entry of the header: an address, with a port in the two ways that proxies write it. */
function addressIn(entry: string): string | undefined {
  const text = entry.trim();
  const bare = /^\[([^\]]*)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1];
  return normalAddress(bare ?? text);
}

/**
 * The address that a request comes from. `peer` is the connection's other end, `forwardedFor` the header's value with
 * repeated headers joined by commas. An untrusted peer's header is ignored; an entry that is no address ends the walk
 * at the proxy that passed it on.
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
 * What limits by address count together: an IPv4 address, or the /64 of an IPv6 one, which is one customer's network.
 * Undefined for an address that may stand for many callers, and so is not limited: loopback, and a trusted proxy that did
 * not tell whom it speaks for.
 */
export function limitedAddress(address: string, trusted: TrustedProxies): string | undefined {
  const family = isIP(address);
  if (family === 0 || isLoopback(address) || trusted.includes(address)) return undefined;
  if (family === 4) return address;
  const network = groupsOf(address).slice(0, 4);
  return `${network.map((group) => group.toString(16)).join(":")}::/64`;
}
