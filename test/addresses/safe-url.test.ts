/** The accepted forms of an address, and which IP addresses are public. Rows HOOK-07, HOOK-08; trap T77. */
import { describe, expect, it } from "vitest";
import { GatewayError } from "../../src/base/errors.ts";
import { isPublicAddress, parseSafeUrl } from "../../src/base/safe-url.ts";

const rule = { https: true, allowPrivate: false, param: "webhook_url" };

const words = (text: string): string[] => text.trim().split(/\s+/);

function refusal(text: string, changes: Partial<typeof rule> = {}): GatewayError {
  try {
    parseSafeUrl(text, { ...rule, ...changes });
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  throw new Error(`passed: ${text}`);
}

describe("T77: IP addresses", () => {
  it.each([
    // Loopback, private, link-local with the metadata service, carrier-grade NAT.
    ...words(`
      127.0.0.1 127.255.255.254 10.0.0.1 10.255.255.255 172.16.0.1
      172.31.255.255 192.168.0.1 192.168.255.255 169.254.169.254 169.254.0.1
      100.64.0.1 100.127.255.255 100.100.100.200 168.63.129.16`),
    // Unspecified, multicast, reserved, broadcast, documentation, benchmarks.
    ...words(`
      0.0.0.0 0.1.2.3 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255
      192.0.0.8 192.0.2.1 198.18.0.1 198.19.255.255 198.51.100.1 203.0.113.9
      192.88.99.1`),
    // IPv6: loopback, unspecified, unique local, link-local, site-local, multicast, documentation.
    ...words(`
      ::1 :: fc00::1 fd00:ec2::254 fe80::1 fe80::1%eth0 febf::1 fec0::1
      ff02::1 2001:db8::1 3fff::1 100::1 4000::1`),
    // IPv6 addresses that contain an IPv4 address: mapped, in both spellings; compatible; translated; NAT64; 6to4; Teredo.
    ...words(`
      ::ffff:127.0.0.1 ::ffff:7f00:1 ::ffff:169.254.169.254 ::ffff:10.0.0.1
      0:0:0:0:0:ffff:c0a8:1 ::127.0.0.1 ::7f00:1 ::ffff:0:7f00:1
      64:ff9b::7f00:1 64:ff9b::10.0.0.1 64:ff9b::a9fe:a9fe 64:ff9b:: 64:ff9b:1::1
      2002:7f00:1:: 2002:a00:1::1 2001:0:1::1 2001:10::1`),
    // ISATAP within a public network, with the bits "universal" and "group" of its interface set or not.
    ...words(`
      2606:4700::5efe:7f00:1 2606:4700::5efe:10.0.0.1 2606:4700:0:0:200:5efe:a9fe:a9fe
      2a00:1450:4001:1:0:5efe:c0a8:1 2606:4700:1:2:100:5efe:7f00:1 2606:4700:1:2:300:5efe:7f00:1
      2606:4700:1:2:0:5EFE:0:0`),
    // No IP address at all.
    ...words(`
      localhost 127.1 0x7f.0.0.1 1.2.3`),
    "",
    "127.0.0.1 ",
  ])("%j is not public", (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  it.each([
    ...words(`
      1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0
      126.255.255.255 128.0.0.0 169.253.255.255 169.255.0.0 172.15.255.255
      172.32.0.0 192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0
      223.255.255.255 2606:4700::1111 2a00:1450:4001::8a 2001:4860:4860::8888
      ::ffff:8.8.8.8 64:ff9b::808:808 2606:4700::5efe:8.8.8.8 2606:4700::200:5efe:808:808
      2606:4700:1:2:4:5efe:7f00:1 2606:4700:1:2:0:5eff:7f00:1 2606:4700:5efe::1 2606:4700::`),
  ])("%j is public", (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });
});

describe("an address as text", () => {
  it.each(["http://example.com/hook", "ftp://example.com/", "file:///etc/passwd", "data:,x"])(
    "HOOK-07: %s is refused for a callback, with the field's name",
    (text) => {
      const error = refusal(text);
      expect(error).toMatchObject({ status: 400, code: "invalid_value", param: "webhook_url" });
      expect(error.message).toBe("webhook_url must begin with https://.");
    },
  );

  it("may be HTTP for media only; other schemes are refused", () => {
    expect(parseSafeUrl("http://example.com/a.png", { ...rule, https: false }).protocol).toBe(
      "http:",
    );
    expect(refusal("ftp://example.com/a.png", { https: false }).param).toBe("webhook_url");
  });

  it.each([
    ...words(`
      127.0.0.1 10.1.2.3 172.16.9.9 192.168.1.1 169.254.169.254 [::1]`),
    // Other spellings of 127.0.0.1 and 169.254.169.254, and names of the local machine.
    ...words(`
      127.1 127.0.1 2130706433 0x7f000001 0177.0.0.1 0x7f.1 127.0.0.1.
      ①②⑦.⓪.⓪.① 2852039166 0xa9fea9fe 0 [::ffff:127.0.0.1] [::]
      [0:0:0:0:0:0:0:1] [64:ff9b::7f00:1] [2606:4700::5efe:127.0.0.1] localhost LOCALHOST a.localhost`),
  ])("HOOK-08, T77: https://%s is refused", (host) => {
    const error = refusal(`https://${host}/hook`);
    expect(error).toMatchObject({ status: 400, code: "invalid_value", param: "webhook_url" });
    expect(error.message).toBe(
      "webhook_url must not point at a private or reserved network (TOLLGATE_ALLOW_PRIVATE_ADDRESSES).",
    );
    const port = refusal(`https://${host}:8443/hook`);
    expect(port.message).toBe(error.message);
  });

  it("may be private where the operator allows that; all other rules still apply", () => {
    const open = { ...rule, allowPrivate: true };
    expect(parseSafeUrl("https://127.0.0.1:9/hook", open).href).toBe("https://127.0.0.1:9/hook");
    expect(parseSafeUrl("https://localhost/hook", open).hostname).toBe("localhost");
    expect(refusal("http://127.0.0.1/hook", open).message).toMatch("https://");
    expect(refusal("https://a:b@127.0.0.1/", open).message).toMatch("credentials");
  });

  it.each([
    ["https://user@example.com/", "credentials"],
    ["https://:secret@example.com/", "credentials"],
    ["https://example.com./", "dot"],
    ["https://localhost./", "dot"],
    ["https://example.com\\@10.0.0.1/", "backslashes"],
    ["https:\\\\example.com/", "backslashes"],
    [" https://example.com/", "spaces"],
    ["https://exam\tple.com/", "spaces"],
    ["https://example.com/\r\nx: y", "spaces"],
    ["https://", "not a URL"],
    ["https://[::1", "not a URL"],
    ["https://1.2.3.4.5/", "not a URL"],
    ["/hook", "not a URL"],
    ["", "not a URL"],
    [`https://example.com/${"x".repeat(2048)}`, "2048 characters"],
  ])("T77: %j is refused: %s", (text, why) => {
    expect(refusal(text).message).toMatch(why);
  });

  it("is never repeated in a refusal, because it may hold a secret", () => {
    expect(refusal("https://user:hunter2@example.com/").message).not.toMatch("hunter2");
  });

  it("may have 2048 characters", () => {
    const text = `https://example.com/${"x".repeat(2048 - 20)}`;
    expect(parseSafeUrl(text, rule).href).toBe(text);
  });
});
