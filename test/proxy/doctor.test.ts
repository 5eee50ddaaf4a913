/**
 * `tollgate doctor`, once in a process of its own as an operator runs it: which checks pass, the names of those that fail, and
 * the advice.
 */
import { createServer as createTlsServer } from "node:https";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeAuthority, makeCertificate } from "../support/certificate.ts";
import { tollgateHere } from "../support/command.ts";
import { preparedDataDir, sharedPostgres } from "../support/postgres.ts";
import { tollgate } from "../support/process.ts";
import { startProxy, type TestProxy } from "../support/proxy.ts";

const folder = mkdtempSync(join(tmpdir(), "tollgate-doctor-"));
const authority = makeAuthority();
const good = makeCertificate(["localhost"], { by: authority, days: [-1, 40] });
const expiringSoon = makeCertificate(["localhost"], { by: authority });
const expired = makeCertificate(["localhost"], { by: authority, days: [-9, -3] });
const [key, password] = ["key-of-vendor-5512", "pass-word-of-proxy-9921"];
const closers: (() => Promise<unknown> | void)[] = [];
let via: TestProxy;
let environment: Record<string, string>;

/** A vendor that accepts one key. */
async function vendor(tls?: object): Promise<string> {
  const server = tls ? createTlsServer(tls) : createServer();
  server.on("request", (request, response) => {
    const isKnown = request.headers.authorization === `Bearer ${key}`;
    response.writeHead(request.url === "/v1/models" ? (isKnown ? 200 : 401) : 404).end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return `${tls ? "https" : "http"}://localhost:${port}/v1`;
}

beforeAll(async () => {
  via = await startProxy({ user: `user:${password}` });
  closers.push(() => via.close());
  writeFileSync(join(folder, "ca.pem"), authority.cert);
  const provider = (id: string, url: string, rest = "tls: { ca: ca.pem }", apiKey = key) =>
    `  - { id: ${id}, dialect: openai-compatible, base_url: "${url}", api_key: ${apiKey}, ${rest} }`;
  const vendorUrl = await vendor(good);
  const throughProxy = `tls: { ca: ca.pem }, proxy: "${via.url}"`;
  writeFileSync(
    join(folder, "tollgate.yaml"),
    [
      "providers:",
      provider("well", vendorUrl),
      provider("through", vendorUrl, throughProxy),
      provider("plain", await vendor(), "tier: partner"),
      provider("wrong-key", vendorUrl, undefined, "another-key-5513"),
      provider("wrong-path", vendorUrl.replace("/v1", "/v2")),
      provider("ending", await vendor(expiringSoon)),
      provider("expired", await vendor(expired)),
      provider("unknown-authority", vendorUrl, "tier: partner"),
      provider("nowhere", "https://nobody.invalid/v1"),
      provider("refused", "https://127.0.0.1:1/v1"),
      provider("locked-out", vendorUrl, throughProxy.replace(password, `${password}-wrong`)),
      "",
    ].join("\n"),
  );
  environment = {
    TOLLGATE_CONFIG: join(folder, "tollgate.yaml"),
    TOLLGATE_DATA_DIR: join(folder, "data"),
    TOLLGATE_PUBLIC_URL: "http://gateway.example.com",
    PORT: "0",
  };
});
afterAll(async () => {
  for (const close of closers.splice(0).reverse()) await close();
  rmSync(folder, { recursive: true });
});

interface Finding {
  readonly check: string;
  readonly status: string;
  readonly message: string;
  readonly fix?: string;
}

async function doctor(more: Record<string, string> = {}) {
  const { code, stdout } = await tollgateHere(["doctor", "--json"], { ...environment, ...more });
  const { findings } = JSON.parse(stdout) as { findings: Finding[] };
  return { code, stdout, of: (check: string) => findings.find((one) => one.check === check) };
}

describe("tollgate doctor", () => {
  it("reports each provider's state with a fix, and no secret", async () => {
    const { code, stdout, of } = await doctor();
    expect(code).toBe(1);
    const lineOf = (check: string) => {
      const { status, message, fix } = of(`provider ${check}`) ?? {};
      return `${status}: ${message} -> ${fix}`;
    };
    expect(of("configuration")?.message).toContain("11 providers");
    expect(lineOf("well")).toMatch(/^ok: GET \/models answers 200/);
    expect(lineOf("well, connection")).toMatch(
      /^ok: reached directly; certificate of CN=.* good for 39 more days/,
    );
    expect(lineOf("through, connection")).toContain(`reached through http://127.0.0.1:${via.port}`);
    expect(lineOf("through")).toMatch(/^ok/);
    expect(lineOf("plain, connection")).toContain("without TLS");
    expect(lineOf("wrong-key")).toMatch(/^failed: .*401: the key is refused -> give the provider/);
    expect(lineOf("wrong-path")).toMatch(/^warning: .*404: it has no list/);
    expect(lineOf("ending, connection")).toMatch(/^warning: .*good for 0 more days/);
    expect(lineOf("expired")).toMatch(
      /^failed: CERT_HAS_EXPIRED .*valid to .* -> check the machine's clock/,
    );
    expect(lineOf("unknown-authority")).toMatch(
      /^failed: UNABLE_TO_VERIFY_LEAF_SIGNATURE.* -> .*tls\.ca/,
    );
    expect(lineOf("nowhere")).toMatch(/^failed: (ENOTFOUND|EAI_AGAIN) nobody\.invalid \(DNS: /);
    expect(lineOf("refused")).toMatch(/^failed: ECONNREFUSED .* -> check host and port/);
    expect(lineOf("locked-out")).toMatch(/^failed: PROXY_407 .* -> check user and password/);
    expect(of("public address")?.status).toBe("warning");
    expect(of("keys")?.message).toMatch(
      /this command's environment.*a gateway that runs has those/,
    );
    for (const secret of [key, password, "another-key-5513"]) expect(stdout).not.toContain(secret);
  });

  it("reports the state of the database, its schema and its clock, and a missing master key", async () => {
    const url = await (await sharedPostgres()).createMigrated();
    const { of } = await doctor({ DATABASE_URL: url });
    expect(of("database")).toMatchObject({
      status: "ok",
      message: expect.stringMatching(
        /^PostgreSQL \d+.* answers; its clock is \d+ ms (?:ahead of|behind) this machine's$/,
      ),
    });
    expect(of("durability")).toMatchObject({
      status: "warning",
      message: expect.stringMatching(/charges too: fsync, full_page_writes of the server are off$/),
    });
    expect(of("schema")).toMatchObject({ status: "ok" });
    expect(of("master key")).toMatchObject({ status: "failed", fix: expect.any(String) });
    expect(of("data directory")).toMatchObject({ status: "ok" });
  });

  it("warns that a database has no schema yet", async () => {
    const { of } = await doctor({ DATABASE_URL: await (await sharedPostgres()).createDatabase() });
    expect(of("schema")).toMatchObject({ status: "warning", message: "there is none yet" });
  });

  it("reports an unreachable database, without its password", async () => {
    const url = "postgres://tollgate:hidden-77312@127.0.0.1:1/tollgate";
    const { code, stdout, of } = await doctor({ DATABASE_URL: url });
    expect(code).toBe(1);
    expect(of("database")).toMatchObject({ status: "failed", fix: expect.any(String) });
    expect(stdout).not.toContain("hidden-77312");
  });

  it("warns if commits do not wait for the disk, and reports ok for the embedded database", async () => {
    const url = new URL(await (await sharedPostgres()).createMigrated());
    url.searchParams.set("options", "-c synchronous_commit=off");
    const off = await doctor({ DATABASE_URL: url.href });
    expect(off.of("durability")?.message).toContain("synchronous_commit");
    const { of } = await doctor({ TOLLGATE_DATA_DIR: await preparedDataDir() });
    expect(of("durability")).toMatchObject({ status: "ok" });
  });

  it("prints no failure in its text output when nothing is wrong, and exits with 0", async () => {
    const all = { TOLLGATE_CONFIG: "", TOLLGATE_PUBLIC_URL: "", TOLLGATE_SANDBOX: "on" };
    const { code, stdout } = await tollgate(["doctor"], { ...environment, ...all });
    expect(stdout).toMatch(
      /^ok +configuration: .* vendors: 0 providers, 0 models, and the sandbox's\n/,
    );
    expect(stdout).not.toMatch(/FAILED|^ok +keys/m);
    expect(code).toBe(0);
  });

  it("checks the vendors and local servers of the environment as well as the file's providers", async () => {
    const path = join(folder, "one.yaml");
    const url = await vendor();
    writeFileSync(
      path,
      `providers: [{ id: house, dialect: openai-compatible, base_url: "${url}", api_key: ${key} }]\n`,
    );
    const one = { TOLLGATE_CONFIG: path, TOLLGATE_PUBLIC_URL: "" };
    const vendors = { MISTRAL_API_KEY: "key-of-mistral-55", MISTRAL_BASE_URL: url };
    const { code, of } = await doctor({
      ...one,
      ...vendors,
      OLLAMA_BASE_URL: "http://127.0.0.1:1",
    });
    expect(code).toBe(1);
    expect(of("configuration")?.message).toContain("3 providers");
    expect(of("provider house")).toMatchObject({ status: "ok" });
    expect(of("provider mistral")).toMatchObject({ status: "failed" });
    expect(of("provider ollama")?.message).toContain("ECONNREFUSED");
    const wrong = await doctor({ ...one, ...vendors, MISTRAL_BASE_URL: "mistral.example.com" });
    expect(wrong.of("environment")?.message).toContain("MISTRAL_BASE_URL is not an address");
    expect(wrong.of("provider house")).toMatchObject({ status: "ok" });
  });

  it("warns if there is no provider, and says how to configure one", async () => {
    const { of } = await doctor({ TOLLGATE_CONFIG: "", TOLLGATE_SANDBOX: "off" });
    expect(of("configuration")).toMatchObject({
      status: "warning",
      fix: expect.stringMatching(
        /tollgate config example.*a gateway that runs has those of its own start/,
      ) as string,
    });
  });

  it("reports a mistake in the configuration file, and still runs the other checks", async () => {
    const path = join(folder, "wrong.yaml");
    writeFileSync(path, "providers:\n  - { id: x }\n");
    const { code, of } = await doctor({ TOLLGATE_CONFIG: path });
    expect(code).toBe(1);
    expect(of("configuration")).toMatchObject({ status: "failed" });
    expect(of("data directory")).toMatchObject({ status: "ok" });
  });
});
