/** Which address counts behind proxies, and which addresses share a limit. docs/network.md "Behind a proxy". */
import { describe, expect, it } from "vitest";
import {
  clientAddress,
  isLoopback,
  limitedAddress,
  normalAddress,
  parseTrustedProxies,
} from "../../src/base/client-address.ts";

const trusted = parseTrustedProxies("loopback, 10.0.0.0/8 2001:db8:1::/48,192.0.2.7");
const noProxies = parseTrustedProxies("");

describe("the caller's address", () => {
  it.each([
    ["no header", "127.0.0.1", undefined, "127.0.0.1"],
    ["one proxy", "127.0.0.1", "203.0.113.9", "203.0.113.9"],
    ["a chain of trusted proxies", "127.0.0.1", "203.0.113.9, 10.1.2.3, 192.0.2.7", "203.0.113.9"],
    [
      "addresses in front that the client added itself",
      "::1",
      "1.1.1.1, 10.9.9.9, 203.0.113.9",
      "203.0.113.9",
    ],
    [
      "a client that claims to be a trusted proxy",
      "10.0.0.1",
      "8.8.8.8, 203.0.113.9",
      "203.0.113.9",
    ],
    ["a client inside the trusted network", "10.0.0.1", "10.0.0.5", "10.0.0.5"],
    ["an untrusted peer", "198.51.100.4", "203.0.113.9", "198.51.100.4"],
    ["an IPv4-mapped peer", "::ffff:127.0.0.1", "203.0.113.9", "203.0.113.9"],
    ["an IPv6 proxy in another spelling", "2001:0DB8:0001::00ff", "2001:db8:2::1", "2001:db8:2::1"],
    [
      "ports, as some proxies write them",
      "10.0.0.1",
      "[2001:db8:2::1]:4711, 10.0.0.2:80",
      "2001:db8:2::1",
    ],
    ["no address at all", "10.0.0.1", "unknown", "10.0.0.1"],
    ["text in front of it", "10.0.0.1", "<script>, 10.0.0.9", "10.0.0.9"],
    ["an empty entry", "10.0.0.1", "203.0.113.9,", "10.0.0.1"],
    ["a zone", "fe80::1%eth0", "203.0.113.9", "fe80::1"],
  ])("is read correctly with %s", (_name, peer, header, expected) => {
    expect(clientAddress(peer, header, trusted)).toBe(expected);
  });

  it("is the connection's address if no proxies are trusted", () => {
    expect(clientAddress("127.0.0.1", "203.0.113.9", noProxies)).toBe("127.0.0.1");
  });
});

describe("the list of trusted proxies", () => {
  it.each([
    "10.0.0.0/33",
    "10.0.0",
    "proxy.internal",
    "10.0.0.0/8/8",
    "::/129",
    "10.0.0.0/",
    "1.2.3.4/-1",
  ])("refuses the entry %s", (entry) => {
    expect(() => parseTrustedProxies(`loopback, ${entry}`)).toThrow(`"${entry}" is no IP address`);
  });
  it.each(["0.0.0.0/0", "::/0"])("refuses %s, which would trust every address", (entry) => {
    expect(() => parseTrustedProxies(entry)).toThrow("trusts everybody");
  });
});

describe("limits by address", () => {
  it.each([
    ["203.0.113.9", "203.0.113.9"],
    ["2001:db8:2:3:4:5:6:7", "2001:db8:2:3::/64"],
    ["2001:db8:2::1", "2001:db8:2:0::/64"],
    ["2001:db8::", "2001:db8:0:0::/64"],
    // Each of these may stand for all clients.
    ["127.0.0.1", undefined],
    ["::1", undefined],
    ["10.2.3.4", undefined],
    ["", undefined],
  ])("count %s as %s", (address, expected) => {
    expect(limitedAddress(address, trusted)).toBe(expected);
  });

  it("count two addresses of one /64 together, in any spelling", () => {
    const group = (text: string) => limitedAddress(normalAddress(text)!, noProxies);
    expect(group("2001:DB8:0:0:ffff::1")).toBe(group("2001:db8::2"));
    expect(group("2001:db8:0:1::1")).not.toBe(group("2001:db8::1"));
  });

  it("do not apply to loopback if no proxies are trusted", () => {
    expect(limitedAddress("127.0.0.1", noProxies)).toBeUndefined();
    expect([isLoopback("127.9.9.9"), isLoopback("::ffff:127.0.0.1")]).toEqual([true, true]);
    expect(isLoopback("128.0.0.1")).toBe(false);
  });
});
