/**
 * The gateway's own TLS: both front ends answer behind it, changed files are read again, client certificates may be required, and
 * connections without TLS do no harm. docs/network.md "TLS".
 */
import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { Agent, request, type RequestOptions } from "node:https";
import { connect as connectPlain } from "node:net";
import { join } from "node:path";
import { connect, type TLSSocket } from "node:tls";
import { afterAll, beforeAll, expect, it } from "vitest";
import { checkConfig, formatMistakes } from "../../src/catalog/index.ts";
import { makeAuthority, makeCertificate } from "../support/certificate.ts";
import { startTestGateway, type GatewayUnderTest } from "../support/gateway.ts";
import { isLong } from "../support/long.ts";
import { eventually } from "../support/patience.ts";
import { sharedPostgres, temporaryDirectory } from "../support/postgres.ts";
import { spawnGateway } from "../support/process.ts";
import { unreadAt } from "../support/unread.ts";

const authority = makeAuthority();
const clients = makeAuthority();
const first = makeCertificate(["one.test"], { by: authority });
const second = makeCertificate(["two.test"], { by: authority, days: [-1, 90] });
const client = makeCertificate(["client.test"], { by: clients });

const directory = temporaryDirectory();
const logged: string[] = [];
const note = (level: string) => (fields: object, message: string) =>
  void logged.push(`${level} ${message} ${JSON.stringify(fields)}`);
const log = { debug() {}, info: note("info"), warn: note("warn"), error: note("error") };
let gateway: GatewayUnderTest;

const put = (name: string, text: string): void => writeFileSync(join(directory, name), text);
const configOf = (more = ""): string =>
  `server: { tls: { cert: cert.pem, key: key.pem${more} } }\n`;

function putPair({ cert, key }: { readonly cert: string; readonly key: string }): void {
  put("cert.pem", cert);
  put("key.pem", key);
}

beforeAll(async () => {
  putPair(first);
  put("clients.pem", clients.cert);
  gateway = await startTestGateway({ config: configOf(), sandbox: "on", directory, log });
  await gateway.credit("10");
});
afterAll(() => gateway.close());

interface Answer {
  readonly status: number;
  readonly text: string;
  /** Arrival time of each chunk, in milliseconds from the request. */
  readonly times: readonly number[];
  /** The name in the connection's server certificate. */
  readonly name: string;
}

const nameOf = (socket: TLSSocket): string =>
  /DNS:([\w.]+)/.exec(socket.getPeerCertificate().subjectaltname ?? "")?.[1] ?? "";

/** One shared function, because an agent separates connections by it. */
const anyName = (): undefined => undefined;

interface AskOptions extends Omit<RequestOptions, "headers"> {
  readonly headers?: Record<string, string>;
}

/** One request to the gateway. Only its certificate authority is checked, not its name. */
async function ask(path: string, options: AskOptions = {}, body?: string): Promise<Answer> {
  const startedMs = performance.now();
  const asked = request(gateway.url + path, {
    ca: authority.cert,
    checkServerIdentity: anyName,
    agent: false,
    ...options,
    headers: { authorization: `Bearer ${gateway.key}`, ...options.headers },
  });
  asked.end(body);
  const [response] = await once(asked, "response");
  // Read the name now: after the answer, the agent owns a kept connection.
  const name = nameOf(response.socket);
  let text = "";
  const times: number[] = [];
  for await (const piece of response) {
    text += String(piece);
    times.push(performance.now() - startedMs);
  }
  return { status: response.statusCode, text, times, name };
}

const post = (path: string, body: unknown, options: AskOptions = {}): Promise<Answer> =>
  ask(
    path,
    {
      method: "POST",
      ...options,
      headers: { "content-type": "application/json", ...options.headers },
    },
    JSON.stringify(body),
  );

const health = "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n";

/** One connection for raw requests. */
async function openConnection() {
  const port = Number(new URL(gateway.url).port);
  const socket = connect({ host: "127.0.0.1", port, rejectUnauthorized: false });
  await once(socket, "secureConnect");
  let text = "";
  socket.on("data", (bytes: Buffer) => (text += bytes.toString()));
  return {
    socket,
    name: nameOf(socket),
    /** Sends `times` health checks in one write, and waits for the answers. */
    async ask(times = 1): Promise<void> {
      text = "";
      socket.write(health.repeat(times));
      await eventually(() => text.split("HTTP/1.1 200 OK").length > times, "the answers");
    },
  };
}

/** Expiry of the certificate in use, from the metrics, in seconds. */
async function expiryOnMetrics(): Promise<number> {
  const { text } = await ask("/metrics", { headers: { authorization: "" } });
  return Number(/^tollgate_tls_certificate_expiry_timestamp_seconds (\d+)$/m.exec(text)?.[1]);
}
const endOf = ({ cert }: { readonly cert: string }): number =>
  Date.parse(new X509Certificate(cert).validTo) / 1_000;
const expires = (line: string): boolean =>
  /^warn the gateway's own certificate expires soon .*"days_left":0,.*server\.tls\.cert/.test(line);

const hello = { model: "sandbox/chat", messages: [{ role: "user", content: "Hello!" }] };

it("text calls, streams, reads and pages are answered over TLS as without it", async () => {
  expect(gateway.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
  const whole = await post("/v1/chat/completions", hello);
  expect([whole.status, whole.name]).toEqual([200, "one.test"]);
  const slow = { reply: "one two three", chunk_chars: 4, chunk_delay_ms: 150 };
  const content = `#sandbox ${JSON.stringify(slow)}`;
  const stream = await post("/v1/chat/completions", {
    ...hello,
    stream: true,
    messages: [{ role: "user", content }],
  });
  expect(stream.text).toContain("[DONE]");
  expect(stream.times.at(-1)! - stream.times[0]!).toBeGreaterThan(250);
  const large = { ...hello, messages: [{ role: "user", content: "x".repeat(3_000_000) }] };
  expect([200, 400]).toContain((await post("/v1/chat/completions", large)).status);
  for (const path of ["/v1/models", "/healthz", "/openapi.json"])
    expect((await ask(path)).status).toBe(200);
  const stranger = { headers: { authorization: "Bearer gw_live_none" } };
  expect((await post("/v1/chat/completions", large, stranger)).status).toBe(401);
});

it("a single TLS connection carries many calls, and two pipelined requests", async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  for (let at = 0; at < 5; at += 1)
    expect((await post("/v1/chat/completions", hello, { agent })).status).toBe(200);
  agent.destroy();
  const two = await openConnection();
  await two.ask(2);
  two.socket.destroy();
});

it("a connection without TLS is closed and logged; a probe of the port is not a failed handshake", async () => {
  const { port } = new URL(gateway.url);
  for (let count = 0; count < 5; count += 1) {
    const look = connectPlain(Number(port), "127.0.0.1");
    await once(look, "connect");
    look.resetAndDestroy();
  }
  expect((await ask("/healthz")).status).toBe(200);
  const plain = connectPlain(Number(port), "127.0.0.1");
  plain.on("error", () => undefined);
  plain.write("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n");
  await once(plain, "close");
  await eventually(
    () =>
      logged.some((line) =>
        /TLS handshakes of clients failed .*"count":1,.*HTTP_REQUEST/.test(line),
      ),
    "a line about it",
  );
  expect((await ask("/healthz")).status).toBe(200);
});

it("changed files are read again: new connections use them, open ones stay, and wrong files change nothing", async () => {
  const kept = await openConnection();
  // An unused connection is closed after some seconds, so this one is used all the time.
  const isLogged = (text: string) => async (): Promise<boolean> => {
    await kept.ask();
    return logged.some((line) => line.includes(text));
  };
  expect(kept.name).toBe("one.test");
  expect(await expiryOnMetrics()).toBe(endOf(first));
  expect(logged.filter(expires)).toHaveLength(1);
  put("cert.pem", second.cert);
  await eventually(isLogged("is not the key of"), "the mismatch");
  expect((await ask("/healthz")).name).toBe("one.test");
  put("key.pem", second.key);
  await eventually(isLogged("new connections get the changed"), "the new certificate");
  expect((await ask("/healthz")).name).toBe("two.test");
  expect(await expiryOnMetrics()).toBe(endOf(second));
  put("cert.pem", "no certificate");
  await eventually(isLogged("holds no certificate"), "the mistake");
  expect((await ask("/healthz")).name).toBe("two.test");
  expect(logged.join("\n")).not.toMatch(/BEGIN|PRIVATE KEY/);
  put("cert.pem", second.cert);
  expect(kept.socket.closed).toBe(false);
  kept.socket.destroy();
});

it("with client_ca only clients with a certificate of that authority can connect", async () => {
  put("tollgate.yaml", configOf(", client_ca: clients.pem"));
  const refused = async (options: AskOptions = {}) =>
    ask("/healthz", options).then(
      () => false,
      () => true,
    );
  await eventually(() => refused(), "a client without a certificate is refused");
  expect((await ask("/healthz", client)).status).toBe(200);
  expect((await post("/v1/chat/completions", hello, client)).status).toBe(200);
  expect(await refused(makeCertificate(["client.test"]))).toBe(true);
  expect(await refused(second)).toBe(true);
  put("tollgate.yaml", configOf());
  await eventually(async () => !(await refused()), "everybody is let in again");
});

it("configuration mistakes name the file and its fault", () => {
  const folder = join(directory, "wrong");
  mkdirSync(folder);
  writeFileSync(join(folder, "cert.pem"), first.cert);
  writeFileSync(join(folder, "key.pem"), second.key);
  const mistakesOf = (tls: string): string => {
    const found = checkConfig(`server: { tls: ${tls} }`, { environment: {}, folder });
    return "mistakes" in found ? formatMistakes(found.mistakes) : "none";
  };
  expect(mistakesOf("{ cert: cert.pem, key: key.pem }")).toContain(
    'server.tls.key: "key.pem" is not the key of "cert.pem"',
  );
  expect(mistakesOf("{ cert: absent.pem, key: key.pem }")).toContain('"absent.pem" does not exist');
  expect(mistakesOf("{ cert: cert.pem }")).toContain("server.tls.key");
  expect(mistakesOf("{ cert: cert.pem, key: key.pem, client_ca: key.pem }")).toContain(
    'server.tls.client_ca: "key.pem" holds no certificate',
  );
});

it("a silent connection does not delay the stop of a gateway", async () => {
  const own = temporaryDirectory();
  for (const [name, text] of Object.entries({ "cert.pem": first.cert, "key.pem": first.key }))
    writeFileSync(join(own, name), text);
  const other = await startTestGateway({ config: configOf(), sandbox: "on", directory: own });
  const silent = connectPlain(Number(new URL(other.url).port), "127.0.0.1");
  silent.on("error", () => undefined);
  await once(silent, "connect");
  const startedMs = performance.now();
  await other.close();
  // Running calls would have 20 s to end.
  expect(performance.now() - startedMs).toBeLessThan(18_000);
});

it.skipIf(!isLong)("each worker speaks TLS, and reads changed files again", async () => {
  const own = temporaryDirectory();
  const write = (pair: typeof first): void => {
    writeFileSync(join(own, "cert.pem"), pair.cert);
    writeFileSync(join(own, "key.pem"), pair.key);
  };
  write(first);
  writeFileSync(join(own, "tollgate.yaml"), configOf());
  const several = await spawnGateway({
    DATABASE_URL: await (await sharedPostgres()).createMigrated(),
    TOLLGATE_DATA_DIR: own,
    TOLLGATE_CONFIG: join(own, "tollgate.yaml"),
    TOLLGATE_WORKERS: "2",
  });
  expect(several.url).toMatch(/^https:/);
  const names = async (): Promise<string[]> => {
    const sockets = Array.from({ length: 12 }, () =>
      connect({
        host: "127.0.0.1",
        port: Number(new URL(several.url).port),
        rejectUnauthorized: false,
      }),
    );
    await Promise.all(sockets.map((socket) => once(socket, "secureConnect")));
    const found = sockets.map(nameOf);
    for (const socket of sockets) socket.destroy();
    return [...new Set(found)];
  };
  expect(await names()).toEqual(["one.test"]);
  write(second);
  await eventually(
    async () => (await names()).join(" ") === "two.test",
    "both workers' new certificate",
  );
  expect(await several.stop()).toBe(0);
});

it("a client that does not read is cut off over TLS too, with all that the system holds for it", async () => {
  const config = `${configOf()}limits: { connections: { unread_s: 1 } }\n`;
  const place = temporaryDirectory();
  writeFileSync(join(place, "cert.pem"), first.cert);
  writeFileSync(join(place, "key.pem"), first.key);
  const slow = await startTestGateway({ config, sandbox: "on", directory: place, log });
  await slow.credit("10");
  const { port } = new URL(slow.url);
  const socket = connect({ host: "127.0.0.1", port: Number(port), rejectUnauthorized: false });
  await once(socket, "secureConnect");
  // The gateway resets the connection, which the client sees as an error.
  const ended = once(socket, "error");
  socket.pause();
  const content = `Hi\n#sandbox ${JSON.stringify({ flood: 9_000_000 })}`;
  const body = JSON.stringify({ model: "sandbox/chat", messages: [{ role: "user", content }] });
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${slow.key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  await eventually(() => unreadAt(slow.url) === 1, "an answer that is not read");
  await eventually(() => unreadAt(slow.url) === 0, "nothing is held for it");
  socket.resume();
  expect(await ended).toMatchObject([{ code: "ECONNRESET" }]);
  await slow.close();
});
