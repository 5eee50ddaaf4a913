/** Which proxy applies to an address: the environment by curl's rules, and the addresses of proxies. */
import { describe, expect, it } from "vitest";
import { directHosts, parseProxy, proxiesOf, ProxySettingError } from "../../src/base/proxy.ts";

const shownFor = (variables: Record<string, string>, url: string): string | undefined =>
  proxiesOf(variables).to(new URL(url))?.shown;

describe("the proxy variables of the environment", () => {
  const http = "http://proxy.example:3128";
  const other = "http://other.example:8080";
  it.each<[Record<string, string>, string, string | undefined]>([
    [{}, "https://api.example.com", undefined],
    [{ https_proxy: http }, "https://api.example.com", http],
    [{ HTTPS_PROXY: http }, "https://api.example.com", http],
    [{ HTTPS_PROXY: other, https_proxy: http }, "https://api.example.com", http],
    [{ HTTPS_PROXY: http, https_proxy: "" }, "https://api.example.com", http],
    [{ HTTPS_PROXY: http }, "http://api.example.com", undefined],
    [{ http_proxy: http }, "http://api.example.com", http],
    [{ HTTP_PROXY: http }, "http://api.example.com", http],
    [{ HTTP_PROXY: http, REQUEST_METHOD: "GET" }, "http://api.example.com", undefined],
    [{ http_proxy: http, REQUEST_METHOD: "GET" }, "http://api.example.com", http],
    [{ HTTP_PROXY: http }, "https://api.example.com", undefined],
    [{ ALL_PROXY: http }, "https://api.example.com", http],
    [{ all_proxy: http }, "http://api.example.com", http],
    [{ ALL_PROXY: other, HTTPS_PROXY: http }, "https://api.example.com", http],
    [{ ALL_PROXY: other, HTTPS_PROXY: http }, "http://api.example.com", other],
    [{ HTTPS_PROXY: http, NO_PROXY: "example.com" }, "https://api.example.com", undefined],
    [{ HTTPS_PROXY: http, no_proxy: "a", NO_PROXY: "example.com" }, "https://example.com", http],
    [{ HTTPS_PROXY: http, NO_PROXY: "*" }, "https://api.example.com", undefined],
    [{ HTTP_PROXY: http }, "http://127.0.0.1:11434", http],
    [{ HTTP_PROXY: http, NO_PROXY: "127.0.0.0/8" }, "http://127.0.0.1:11434", undefined],
    [{ HTTP_PROXY: http, NO_PROXY: "::1" }, "http://[::1]:11434", undefined],
  ])("with %j, the proxy of %s is %s", (variables, url, proxy) => {
    expect(shownFor(variables, url)).toBe(proxy);
  });

  it.each([
    ["HTTPS_PROXY", "socks5://user:hidden@proxy.example:1080", "socks5 proxy"],
    ["https_proxy", "http://user:hidden@", "not the address of a proxy"],
    ["ALL_PROXY", "http://hidden host:1", "not the address of a proxy"],
  ])("%s=%s is refused, and the error names only the variable", (name, value, why) => {
    expect(() => proxiesOf({ [name]: value })).toThrow(ProxySettingError);
    expect(() => proxiesOf({ [name]: value })).toThrow(
      expect.objectContaining({ message: expect.stringMatching(new RegExp(`^${name} .*${why}`)) }),
    );
    expect(() => proxiesOf({ [name]: value })).not.toThrow(/hidden/);
  });
});

describe("NO_PROXY, with curl's own table of cases", () => {
  it.each<[host: string, list: string, isDirect: boolean]>([
    ["www.example.com", "localhost,.example.com,.example.de", true],
    ["www.example.com.", "localhost,.example.com,.example.de", true],
    ["example.com", "localhost,.example.com,.example.de", true],
    ["example.com.", "localhost,.example.com,.example.de", true],
    ["www.example.com", "localhost,.example.com.,.example.de", true],
    ["www.example.com", "localhost,www.example.com.,.example.de", true],
    ["example.com", "localhost,example.com,.example.de", true],
    ["www.example.com", "localhost,example.com,.example.de", true],
    ["127.0.0.1", "127.0.0.1,localhost,", true],
    ["127.0.0.1", "127.0.0.1/8,localhost,", true],
    ["127.0.0.1", "127.0.0.1/28,localhost,", true],
    ["127.0.0.1", "127.0.0.1/31,localhost,", true],
    ["127.0.0.1", "localhost,127.0.0.1.127.0.0.1.127.0.0.1", false],
    ["localhost", "127.0.0.1,localhost", true],
    ["foobar", "barfoo", false],
    ["192.168.0.1", "foobar", false],
    ["192.168.0.1", "192.168.0.0/16", true],
    ["192.168.0.1", "192.168.0.0/24", true],
    ["192.168.0.1", "192.168.0.0/32", false],
    ["192.168.0.1", "192.168.0.0", false],
    ["192.168.1.1", "foo, bar, 192.168.0.0/24", false],
    ["192.168.1.1", "foo, bar, 192.168.0.0/16", true],
    ["192.168.1.1", "192.168.0.0/33", false],
    ["[::1]", "foo, bar, 192.168.0.0/16", false],
    ["[::1]", "foo, bar, ::1/64", true],
    ["[fe80::1]", "[fe80::1]", true],
    ["BAr", "foo,,,,,              bar, ::1/64", true],
    ["www.example.com", "www2.example.com, .example.net", false],
    ["nonexample.com", ".example.com, .example.net", false],
    ["example.com", "*", true],
    ["example.com", "a, *", false],
    ["example.com", "*.example.com", false],
    ["example.com", "example.com:443", false],
    ["example.com", "", false],
    ["example.com", ".", false],
  ])("%s is matched by %s: %s", (host, list, isDirect) => {
    expect(directHosts(list)(host)).toBe(isDirect);
  });
});

describe("a proxy's address", () => {
  it.each([
    ["proxy.example:3128", "http://proxy.example:3128", undefined],
    ["http://proxy.example", "http://proxy.example:1080", undefined],
    ["http://proxy.example:80", "http://proxy.example:80", undefined],
    ["https://proxy.example", "https://proxy.example:443", undefined],
    ["http://[::1]:3128/", "http://[::1]:3128", undefined],
    ["http://user:p%40ss@proxy.example:3128", "http://proxy.example:3128", "user:p@ss"],
    ["user@proxy.example:3128", "http://proxy.example:3128", "user:"],
  ])("%s is read as %s", (text, shown, user) => {
    const proxy = parseProxy(text);
    expect(proxy.shown).toBe(shown);
    expect(proxy.authorization).toBe(user && `Basic ${Buffer.from(user).toString("base64")}`);
  });
});
