/** `proxy` and `tls` of a provider in the configuration file: which values are refused, the printed form, and files that change. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import {
  accessSecrets,
  checkConfig,
  loadConfig,
  printConfig,
  watchConfig,
  type Config,
} from "../../src/catalog/index.ts";
import { makeAuthority, makeCertificate } from "../support/certificate.ts";
import { eventually } from "../support/patience.ts";

const folder = mkdtempSync(join(tmpdir(), "tollgate-tls-"));
afterAll(() => rmSync(folder, { recursive: true }));

const authority = makeAuthority();
const own = makeCertificate(["client"], { by: authority });
const other = makeCertificate(["client"], { by: authority });
const old = makeCertificate(["client"], { by: authority, days: [-9, -3] });
/** The certificate of an RSA key of 512 bits, valid until 2119. */
const short =
  "MIIBeTCCASOgAwIBAgIUFpiaXbvlv7XHGc+aGe7DScE/pCkwDQYJKoZIhvcNAQELBQAwEDEOMAwGA1UEAwwFc2hv" +
  "cnQwIBcNMjAwMTAxMDAwMDAwWhgPMjExOTEyMDgwMDAwMDBaMBAxDjAMBgNVBAMMBXNob3J0MFwwDQYJKoZIhvcN" +
  "AQEBBQADSwAwSAJBALb77KnTGzDiQJq4fMGnyStyX20Ous+Iptk6GA78FnGGcCNrjNzzOP96HiCexlZ+q/OZTp9h" +
  "2/5XZ8CuV2WjHhsCAwEAAaNTMFEwHQYDVR0OBBYEFD3UzNDREzjPBX+jczbS2RYXkBlEMB8GA1UdIwQYMBaAFD3U" +
  "zNDREzjPBX+jczbS2RYXkBlEMA8GA1UdEwEB/wQFMAMBAf8wDQYJKoZIhvcNAQELBQADQQB/HFFIaQ3/p9qtE4LN" +
  "G86bEt/iiBkRKa+ZKg1WRY2V/MgtyzY0DCAeCTm+NyDCbCMKXQb87vyPi6mBcrG7wKnP";
for (const [name, text] of Object.entries({
  "ca.pem": authority.cert,
  "own.pem": own.cert,
  "own.key": own.key,
  "other.key": other.key,
  "old.pem": old.cert,
  "old.key": old.key,
  "text.pem": "no certificate",
  "cut.pem": "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
  "cut-chain.pem": `${own.cert}${authority.cert.slice(0, 200)}`,
  "short.pem": `-----BEGIN CERTIFICATE-----\n${short}\n-----END CERTIFICATE-----\n`,
}))
  writeFileSync(join(folder, name), text);

const fileOf = (line: string): string => `
providers:
  - id: up
    dialect: openai
    base_url: https://models.example/v1
    api_key: x
    ${line}
models:
  - id: acme/talk
    kind: text
    context_length: 1000
    max_output_tokens: 100
    offers: [{ provider: up, protocol: chat, upstream_model: m, price: { input: "1", output: "1" } }]
`;

const environment = { PROXY: "http://user:hidden-99213@proxy.example:3128", WORD: "hidden-99213" };
const check = (line: string) => checkConfig(fileOf(line), { environment, folder });

function configOf(line: string): Config {
  const result = check(line);
  if ("mistakes" in result) throw new Error(JSON.stringify(result.mistakes));
  return result.config;
}

describe("a mistake in `proxy` or `tls` of a provider", () => {
  it.each([
    ["tls: { ca: none.pem }", "providers[0].tls.ca", '"none.pem" does not exist'],
    ["tls: { ca: . }", "providers[0].tls.ca", '"." cannot be read (EISDIR)'],
    ["tls: { ca: text.pem }", "providers[0].tls.ca", '"text.pem" holds no certificate in PEM form'],
    ["tls: { ca: cut.pem }", "providers[0].tls.ca", "holds a certificate that cannot be read"],
    [
      "tls: { ca: cut-chain.pem }",
      "providers[0].tls.ca",
      '"cut-chain.pem" holds a certificate that is cut off',
    ],
    [
      "tls: { cert: cut-chain.pem, key: own.key }",
      "providers[0].tls.cert",
      '"cut-chain.pem" holds a certificate that is cut off',
    ],
    [
      "tls: { cert: short.pem, key: own.key }",
      "providers[0].tls.cert",
      '"short.pem" cannot be used (ee key too small)',
    ],
    ["tls: { ca: old.pem }", "providers[0].tls.ca", '"old.pem" expired on '],
    ["tls: { cert: own.pem }", "providers[0].tls.key", "missing"],
    ["tls: { key: own.key }", "providers[0].tls.cert", "missing"],
    ["tls: { cert: old.pem, key: old.key }", "providers[0].tls.cert", '"old.pem" expired on '],
    [
      "tls: { cert: own.pem, key: other.key }",
      "providers[0].tls.key",
      'is not the key of "own.pem"',
    ],
    ["tls: { cert: own.pem, key: own.pem }", "providers[0].tls.key", "holds no private key"],
    ["tls: { certificate: own.pem }", "providers[0].tls.certificate", "unknown"],
    ["proxy: socks5://user:hidden-99213@proxy.example", "providers[0].proxy", "socks5 proxy"],
    ['proxy: "http://user:hidden-99213@"', "providers[0].proxy", "not the address of a proxy"],
    ["proxy: http://****@proxy.example:3128", "providers[0].proxy", "is masked"],
  ])("%s is reported at its field, without the password", (line, path, message) => {
    const result = check(line);
    const mistakes = "mistakes" in result ? result.mistakes : [];
    expect(mistakes).toContainEqual(
      expect.objectContaining({ path, message: expect.stringContaining(message) }),
    );
    expect(JSON.stringify(mistakes)).not.toContain("hidden-99213");
  });
});

describe("a valid `proxy` or `tls` of a provider", () => {
  it("names files relative to the configuration file, and is printed with those names", () => {
    const config = configOf("tls: { ca: ca.pem, cert: own.pem, key: own.key, server_name: m }");
    const access = config.catalog.providers.get("up")?.access;
    expect(access?.tls).toMatchObject({
      ca: authority.cert,
      cert: own.cert,
      key: own.key,
      serverName: "m",
    });
    const printed = printConfig(config);
    expect(printed).toMatch(/ca: ca\.pem\n +cert: own\.pem\n +key: own\.key\n +server_name: m/);
    expect(checkConfig(printed.replace(/\*{4}\w*/, "x"), { environment, folder })).toHaveProperty(
      "config",
    );
  });

  it.each([
    ["proxy: ${PROXY}", "proxy: ${PROXY}"],
    ["proxy: http://user:${WORD}@proxy.example:3128", "proxy: http://****@proxy.example:3128"],
    ["proxy: ${NO:-http://user:hidden-99213@proxy.example:3128}", "proxy: ${NO}"],
  ])("%s is printed as %s, and its password is masked everywhere", (line, printed) => {
    const config = configOf(line);
    const access = config.catalog.providers.get("up")?.access;
    expect(access?.proxy).toMatchObject({ shown: "http://proxy.example:3128" });
    expect(printConfig(config)).toContain(printed);
    expect(printConfig(config)).not.toContain("hidden-99213");
    expect(accessSecrets(access)).toContain("hidden-99213");
  });

  it("may be `none` for `proxy`, and is printed so", () => {
    expect(configOf("proxy: none").catalog.providers.get("up")?.access?.proxy).toBe("none");
    expect(printConfig(configOf("proxy: none"))).toContain("proxy: none");
  });
});

it("the watched configuration reloads certificate files that change, and reports a broken one once", async () => {
  const path = join(folder, "tollgate.yaml");
  const named = join(folder, "changing.pem");
  writeFileSync(named, authority.cert);
  writeFileSync(path, fileOf("tls: { ca: changing.pem }"));
  const loaded = await loadConfig(path, { environment });
  if ("mistakes" in loaded) throw new Error("a right file is refused");
  const mistakes: unknown[] = [];
  const watch = watchConfig(path, {
    environment,
    initial: loaded.config,
    onChange: () => undefined,
    onMistakes: (found) => void mistakes.push(found),
    quietMs: 5,
    pollMs: 20,
  });
  const caNow = () => watch.current().catalog.providers.get("up")?.access?.tls?.ca;
  try {
    const next = makeAuthority().cert;
    writeFileSync(named, next);
    expect(await eventually(() => caNow() === next, "the new authority")).toBe(true);
    writeFileSync(named, "broken");
    expect(await eventually(() => mistakes.length > 0, "a mistake")).toBe(true);
    writeFileSync(named, next);
    writeFileSync(named, authority.cert);
    expect(await eventually(() => caNow() === authority.cert, "the old one again")).toBe(true);
    expect(mistakes).toHaveLength(1);
  } finally {
    watch.close();
  }
});
