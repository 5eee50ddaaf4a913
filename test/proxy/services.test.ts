/** Requests of a gateway to other services use the environment's proxies too: S3, AWS's STS, the list of models, OIDC. */
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { startSandbox } from "../../sandbox/index.ts";
import { noProxies, proxiesOf } from "../../src/base/proxy.ts";
import { openExportPlace } from "../../src/exports/index.ts";
import { openFileStore } from "../../src/files/index.ts";
import { awsKeys } from "../../src/upstream/identity/aws.ts";
import { agentsThrough, createPools } from "../../src/upstream/index.ts";
import { startIdentityProvider } from "../admin/identity-provider.ts";
import { startS3, type S3Server } from "../files/s3-server.ts";
import { tollgateHere } from "../support/command.ts";
import { eventually } from "../support/patience.ts";
import { spawnGateway } from "../support/process.ts";
import { startProxy, type TestProxy } from "../support/proxy.ts";

const directory = mkdtempSync(join(tmpdir(), "tollgate-proxied-"));
const credentials = "user:pass-word-77120";

/** Names that only the proxy can resolve, with the port that it connects them to. */
const portsByAddress = new Map<string, number>();
const servers: Server[] = [];
let via: TestProxy;
let s3: S3Server;

/** Starts a server, and gives it a name behind the proxy. */
async function startBehindProxy(name: string, listener: RequestListener): Promise<void> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  servers.push(server);
  portsByAddress.set(`${name}:80`, (server.address() as AddressInfo).port);
}

beforeAll(async () => {
  via = await startProxy({
    user: credentials,
    to: (authority) => {
      const port = portsByAddress.get(authority) ?? Number(/:(\d+)$/.exec(authority)?.[1] ?? 80);
      return { host: "127.0.0.1", port };
    },
  });
  s3 = await startS3();
});
afterEach(() => void via.asked.splice(0));
afterAll(async () => {
  for (const server of servers) server.close();
  await via.close();
  await s3.close();
  rmSync(directory, { recursive: true });
});

const proxies = () => proxiesOf({ HTTP_PROXY: via.url });
const bucketHost = () => new URL(s3.options.endpoint!).host;
const bytesOf = (words: string) => Readable.from([Buffer.from(words)]);

describe("a bucket", () => {
  it("is written to, read from and deleted from through the proxy, by CONNECT", async () => {
    const store = await openFileStore({ ...s3.options, agents: agentsThrough(proxies()) }, "");
    await store.put("a.json", bytesOf("{}"), { mediaType: "application/json", bytesMax: 10 });
    const opened = await store.open("a.json");
    expect(await text(opened!.stream)).toBe("{}");
    await store.remove("a.json");
    expect(await store.open("a.json")).toBeUndefined();
    await store.close();
    expect([...new Set(via.asked)]).toEqual([`CONNECT ${bucketHost()}`]);
    expect(via.headers.at(-1)).toHaveProperty("proxy-authorization");
  });

  it("receives exports through the proxy too", async () => {
    const { bucket, endpoint, region, accessKeyId, secretAccessKey } = s3.options;
    const place = await openExportPlace(
      { to: `s3://${bucket}/days`, endpoint, region, accessKeyId, secretAccessKey },
      () => agentsThrough(proxies()),
    );
    await place.put("day.csv", bytesOf("a,b"), { mediaType: "text/csv", bytesMax: 10 });
    await place.close();
    expect(via.asked).toEqual([`CONNECT ${bucketHost()}`]);
  });

  it("is reached directly if NO_PROXY names it; without a proxy the client uses its default agents", async () => {
    const direct = proxiesOf({ HTTP_PROXY: via.url, NO_PROXY: "127.0.0.0/8" });
    const store = await openFileStore({ ...s3.options, agents: agentsThrough(direct) }, "");
    expect(await store.open("none.json")).toBeUndefined();
    await store.close();
    expect(via.asked).toEqual([]);
    expect(agentsThrough(noProxies)).toBeUndefined();
  });
});

describe("credentials of AWS", () => {
  const variables: Record<string, string> = {};
  const set = (more: Record<string, string>): void => {
    for (const [name, value] of Object.entries(more)) {
      variables[name] = process.env[name] ?? "";
      process.env[name] = value;
    }
  };
  afterEach(() => {
    for (const name of Object.keys(variables)) delete process.env[name];
  });
  const auth = { type: "aws", region: "us-east-1", service: "bedrock" } as const;

  it("are fetched from STS through the proxy", async () => {
    const stsRequests: string[] = [];
    await startBehindProxy("sts.corp.invalid", (incoming, outgoing) => {
      void text(incoming).then((body) => {
        stsRequests.push(body);
        outgoing.writeHead(200, { "content-type": "text/xml" });
        outgoing.end(
          "<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials>" +
            "<AccessKeyId>ASIALENT</AccessKeyId><SecretAccessKey>lent-secret</SecretAccessKey>" +
            "<SessionToken>lent-session</SessionToken><Expiration>2099-01-01T00:00:00Z</Expiration>" +
            "</Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>",
        );
      });
    });
    const tokenFile = join(directory, "token");
    writeFileSync(tokenFile, "a-web-identity");
    set({
      AWS_WEB_IDENTITY_TOKEN_FILE: tokenFile,
      AWS_ROLE_ARN: "arn:aws:iam::123456789012:role/models",
      AWS_ENDPOINT_URL_STS: "http://sts.corp.invalid",
      AWS_EC2_METADATA_DISABLED: "true",
    });
    const pools = createPools({ proxies: proxies() });
    const lease = await awsKeys(auth, pools);
    await pools.close();
    expect(lease.value.secrets).toEqual(["lent-secret", "lent-session"]);
    expect(lease.expiresMs).toBe(Date.parse("2099-01-01T00:00:00Z"));
    expect(stsRequests[0]).toContain("WebIdentityToken=a-web-identity");
    expect(via.asked).toEqual(["CONNECT sts.corp.invalid:80"]);
  });

  it("are fetched from a container's credential endpoint directly, never through the proxy", async () => {
    const sandbox = await startSandbox({ port: 0, host: "127.0.0.1" });
    set({
      AWS_CONTAINER_CREDENTIALS_FULL_URI: `${sandbox.url}/bedrock/credentials`,
      AWS_CONTAINER_AUTHORIZATION_TOKEN: "sandbox",
    });
    const pools = createPools({ proxies: proxiesOf({ ALL_PROXY: via.url }) });
    const lease = await awsKeys(auth, pools);
    await pools.close();
    await sandbox.close();
    expect(lease.value.secrets).toContain("sandbox-secret");
    expect(via.asked).toEqual([]);
  });
});

it("the list of models is fetched through the proxy, and no message shows the proxy's password", async () => {
  await startBehindProxy(
    "list.corp.invalid",
    (_incoming, outgoing) => void outgoing.end('{"nobody":{}}'),
  );
  const update = (http: string, from: string) =>
    tollgateHere(["catalog", "update", "--from", from], {
      HTTP_PROXY: http,
      TOLLGATE_DATA_DIR: join(directory, "none"),
    });
  // The command has read the list: the next error is that no gateway has run here.
  const read = await update(via.url, "http://list.corp.invalid/api.json");
  expect(read.stderr).toContain("no gateway has run on the data directory");
  expect(via.asked).toEqual(["CONNECT list.corp.invalid:80"]);
  const wrong = via.url.replace("77120", "wrong");
  const refused = await update(wrong, "http://list.corp.invalid/api.json");
  expect(refused.stderr).toMatch(/list\.corp\.invalid.*cannot be read: .*407/);
  expect(refused.stderr).not.toContain("pass-word");
});

it("if the list of models cannot be fetched, the error advises on the address or the proxy, never on a provider's settings", async () => {
  const failed = async (from: string, variables: Record<string, string> = {}) =>
    (await tollgateHere(["catalog", "update", "--from", from], variables)).stderr;
  const unknown = await failed("https://no-such-name.invalid/api.json");
  expect(unknown).toMatch(/cannot be read: .*check the name in the address, .*--from/);
  const plain = await failed(`https://${new URL(via.url).host}`);
  expect(plain).toMatch(
    /cannot be read: .*does not speak TLS.*check that the address and its port/,
  );
  const nowhere = await failed("https://list.corp.invalid", { HTTPS_PROXY: "http://127.0.0.1:9" });
  expect(nowhere).toMatch(/cannot be read: .*check the proxy's address \(HTTPS_PROXY\), and NO/);
  expect(unknown + plain + nowhere).not.toMatch(/base_url|provider/);
});

it("the gateway calls its identity provider and local model servers through the proxy, and its own sandbox and commands need none", async () => {
  const client = { id: "tollgate", secret: "the client's secret" };
  const provider = await startIdentityProvider(client);
  await startBehindProxy("models.corp.invalid", (_incoming, outgoing) => {
    outgoing.writeHead(200, { "content-type": "application/json" });
    outgoing.end('{"data":[{"id":"house-model"}]}');
  });
  const config = join(directory, "tollgate.yaml");
  const adminToken = "an-admin-token-of-this-test";
  writeFileSync(
    config,
    `console: { oidc: { issuer: "${provider.issuer}", client_id: ${client.id}, client_secret: "${client.secret}" } }\n`,
  );
  const gateway = await spawnGateway({
    TOLLGATE_CONFIG: config,
    TOLLGATE_DATA_DIR: join(directory, "data"),
    OLLAMA_BASE_URL: "http://models.corp.invalid",
    TOLLGATE_ADMIN_TOKEN: adminToken,
    TOLLGATE_INITIAL_CREDIT: "10",
    TOLLGATE_SANDBOX: "on",
    ALL_PROXY: via.url,
  });
  try {
    expect(via.asked).toContain("CONNECT models.corp.invalid:80");
    const listed = (await (await fetch(`${gateway.url}/v1/models`)).json()) as {
      data: { id: string }[];
    };
    expect(listed.data.map(({ id }) => id)).toContain("ollama/house-model");
    const begun = await eventually(async () => {
      const answer = await fetch(`${gateway.url}/auth/sign-in/social`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ provider: "oidc" }),
      });
      return answer.ok ? ((await answer.json()) as { url: string }) : undefined;
    }, "the identity provider is known");
    expect(begun.url).toContain(provider.issuer);
    expect(via.asked).toContain(`CONNECT ${new URL(provider.issuer).host}`);
    const before = via.asked.length;
    const remote = { HTTP_PROXY: via.url, TOLLGATE_ADMIN_TOKEN: adminToken };
    const command = ["keys", "create", "--name", "direct", "--url", gateway.url, "--json"];
    const created = await tollgateHere(command, remote);
    expect(created.stderr).toBe("");
    const { key } = JSON.parse(created.stdout) as { key: string };
    const send = async (path: string, body?: object) => {
      const answer = await fetch(gateway.url + path, {
        method: body === undefined ? "GET" : "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        ...(body && { body: JSON.stringify(body) }),
      });
      return (await answer.json()) as { id: string; object?: string; status?: string };
    };
    const messages = [{ role: "user", content: "Hi" }];
    const answered = await send("/v1/chat/completions", { model: "sandbox/chat", messages });
    expect(answered).toHaveProperty("object", "chat.completion");
    // This vendor has tasks, and names its results by address.
    const { id } = await send("/v1/tasks", { model: "sandbox/image-model-c", prompt: "A boat" });
    await eventually(
      async () => (await send(`/v1/tasks/${id}`)).status === "succeeded",
      "the image of the sandbox",
    );
    expect(via.asked.slice(before)).toEqual([]);
  } finally {
    await gateway.stop();
    await provider.close();
  }
});
