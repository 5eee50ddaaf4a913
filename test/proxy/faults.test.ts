/** TLS with a provider's own certificate authority and client certificate, and the error names of failed connections. */
import { createServer as createTlsServer } from "node:https";
import { createServer as createTcpServer, type AddressInfo } from "node:net";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { afterEach, describe, expect, it } from "vitest";
import type { Provider, ProviderTls } from "../../src/catalog/index.ts";
import { createPools } from "../../src/upstream/index.ts";
import { ask } from "../../src/upstream/media/ask.ts";
import { makeAuthority, makeCertificate } from "../support/certificate.ts";
import { asker, resultOf } from "../upstream/http1-support.ts";
import { provider } from "../upstream/media-support.ts";

const closers: (() => Promise<unknown> | void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const authority = makeAuthority();
const intermediate = makeAuthority(authority);
const certificateOf = (days: readonly [number, number] = [-1, 1], name = "localhost") =>
  makeCertificate([name], { by: authority, days });

/** Serves over TLS. Returns the server's URL. */
async function serve(options: object): Promise<string> {
  const server = createTlsServer(options, (request, response) => {
    request.resume().on("end", () => response.end("ok"));
  });
  server.on("tlsClientError", () => undefined);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `https://localhost:${(server.address() as AddressInfo).port}`;
}

/** The results of a text call and a media call to a server. */
async function resultsOf(url: string, tls?: Omit<ProviderTls, "files">) {
  const pools = createPools({ quietMs: 0 });
  closers.push(() => pools.close());
  const access = { headers: {}, query: {}, paths: {}, request: { add: {}, remove: [] } };
  const testProvider: Provider = {
    ...provider("openai", url),
    access: { ...access, ...(tls && { tls: { ...tls, files: {} } }) },
  };
  const get = (origin: string) => pools.get(origin, 5_000, testProvider);
  const text = await resultOf(asker(url, { ...pools, get })());
  const media = await ask(pools.forMedia(url, 5_000, testProvider), testProvider, {
    method: "GET",
    path: "/",
    headers: {},
  }).catch((error: { failure: string; message: string; sent: boolean }) => error);
  return { text, media };
}

const ca = authority.cert;

describe("a provider's tls", () => {
  it("trusts the configured authority, and sends the client certificate", async () => {
    const client = makeCertificate(["client"], { by: authority });
    const mutual = { requestCert: true, rejectUnauthorized: true, ca };
    const url = await serve({ ...certificateOf(), ...mutual });
    const withCertificate = await resultsOf(url, { ca, cert: client.cert, key: client.key });
    expect(withCertificate).toMatchObject({ text: { status: 200 }, media: { status: 200 } });
    const withoutCertificate = await resultsOf(url, { ca });
    expect(withoutCertificate.text).toMatchObject({ failure: "tls" });
    // The media client sees the end of the connection before the reason.
    expect(withoutCertificate.media).toHaveProperty("failure", "broken");
    expect(withoutCertificate.text.message).toMatch(
      /CERTIFICATE_REQUIRED.*client certificate.*tls\.cert/,
    );
  });

  it("trusts the configured authority in place of all others, those of the system too", async () => {
    const url = await serve(certificateOf());
    const trusted = getCACertificates("default");
    setDefaultCACertificates([...trusted, ca]);
    try {
      const byDefault = await resultsOf(url);
      expect(byDefault).toMatchObject({ text: { status: 200 }, media: { status: 200 } });
      const other = await resultsOf(url, { ca: makeAuthority().cert });
      expect(other).toMatchObject({ text: { failure: "tls" }, media: { failure: "tls" } });
    } finally {
      setDefaultCACertificates(trusted);
    }
  });

  it("checks the certificate for `server_name` instead of the URL's host", async () => {
    const url = await serve(certificateOf([-1, 1], "models.corp.example"));
    const asIs = await resultsOf(url, { ca });
    expect(asIs.text.message).toMatch(
      /ERR_TLS_CERT_ALTNAME_INVALID.*models\.corp\.example.*tls\.server_name/,
    );
    const renamed = await resultsOf(url, { ca, serverName: "models.corp.example" });
    expect(renamed).toMatchObject({ text: { status: 200 }, media: { status: 200 } });
  });
});

describe("the error of a failed connection", () => {
  const chained = makeCertificate(["localhost"], { by: intermediate });
  const year = (days: number) => new Date(Date.now() + days * 86_400_000).getUTCFullYear();
  it.each<[string, object, Omit<ProviderTls, "files"> | undefined, RegExp]>([
    [
      "an expired certificate",
      certificateOf([-9, -3]),
      { ca },
      new RegExp(`CERT_HAS_EXPIRED localhost:\\d+ \\(TLS: .*valid to .*${year(-3)}`),
    ],
    [
      "a certificate that is not valid yet",
      certificateOf([3, 9]),
      { ca },
      /CERT_NOT_YET_VALID localhost:\d+ \(TLS: .*valid from /,
    ],
    [
      "a self-signed certificate",
      makeCertificate(),
      undefined,
      /DEPTH_ZERO_SELF_SIGNED_CERT.*tls\.ca/,
    ],
    [
      "an unknown authority that the server sends along",
      { key: chained.key, cert: chained.cert + intermediate.cert + ca },
      undefined,
      /SELF_SIGNED_CERT_IN_CHAIN.*tls\.ca/,
    ],
    [
      "a missing intermediate certificate",
      chained,
      { ca },
      /UNABLE_TO_VERIFY_LEAF_SIGNATURE.*tls\.ca/,
    ],
    [
      "a certificate for another name",
      certificateOf([-1, 1], "other.example"),
      { ca },
      /ERR_TLS_CERT_ALTNAME_INVALID.*other\.example/,
    ],
  ])("names the cause: %s", async (_what, server, tls, message) => {
    const { text, media } = await resultsOf(await serve(server), tls);
    expect(text).toMatchObject({ failure: "tls", message: expect.stringMatching(message) });
    expect(media).toMatchObject({
      failure: "tls",
      message: expect.stringMatching(message),
      sent: false,
    });
  });

  it("says that a host name does not exist", async () => {
    const { text, media } = await resultsOf("https://nobody.invalid");
    for (const one of [text, media])
      expect(one).toMatchObject({
        failure: "dns",
        message: expect.stringMatching(
          /(ENOTFOUND|EAI_AGAIN) nobody\.invalid \(DNS: .*base_url|resolver/,
        ),
      });
  });

  it("says that nothing listens on the port, or that the server does not speak TLS", async () => {
    const refused = await resultsOf("https://127.0.0.1:1");
    expect(refused.text).toMatchObject({
      failure: "connect",
      message: expect.stringContaining("ECONNREFUSED 127.0.0.1:1 at 127.0.0.1:1 (nobody listens"),
    });
    const plain = createTcpServer((socket) => socket.end("HTTP/1.1 400 no\r\n\r\n"));
    await new Promise<void>((resolve) => plain.listen(0, "127.0.0.1", resolve));
    closers.push(() => void plain.close());
    const { port } = plain.address() as AddressInfo;
    const { text, media } = await resultsOf(`https://127.0.0.1:${port}`);
    for (const one of [text, media])
      expect(one).toMatchObject({
        failure: "tls",
        message: expect.stringContaining("HTTPS server"),
      });
  });
});
