/** Credentials of clouds as their vendors' libraries give them: how long they are used, and when they are read again. */
import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, expect, it, vi } from "vitest";
import { hourMs } from "../../src/base/durations.ts";
import { awsKeys } from "../../src/upstream/identity/aws.ts";
import { googleHeaders } from "../../src/upstream/identity/google.ts";
import { eventually } from "../support/patience.ts";

const directory = mkdtempSync(join(tmpdir(), "tollgate-credentials-"));
afterAll(() => rmSync(directory, { recursive: true }));
afterEach(() => {
  vi.unstubAllEnvs();
  vi.useRealTimers();
});

const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const account = JSON.stringify({
  type: "service_account",
  client_email: "gateway@project.iam.gserviceaccount.com",
  private_key_id: "k",
  private_key: privateKey.export({ type: "pkcs8", format: "pem" }),
});

it("a token that a service account signed itself is used until the date in it, not signed anew for each call", async () => {
  const { expiresMs } = await fromGoogle(account);
  expect(expiresMs - Date.now()).toBeGreaterThan(hourMs / 2);
  expect(expiresMs - Date.now()).toBeLessThanOrEqual(hourMs + 1000);
});

const fromGoogle = (serviceAccountKey: string, signal = new AbortController().signal) =>
  googleHeaders({ type: "google", serviceAccountKey }, signal);
it("a key with a byte order mark, as some editors write it, is read as text and as a file", async () => {
  const marked = `\uFEFF${account}`;
  const file = join(directory, "marked.json");
  writeFileSync(file, marked);
  for (const key of [marked, file])
    expect((await fromGoogle(key)).value["authorization"]).toMatch(/^Bearer ey/);
});

it.each([
  ["a text with line breaks in its key", account.replaceAll("\\n", "\n"), "line break"],
  ["a file of another kind", "-----BEGIN PRIVATE KEY-----\nMIIEsecret\n", "not JSON"],
])("%s is reported as such, without its words", async (_case, text, reason) => {
  const file = join(directory, "wrong.json");
  writeFileSync(file, text);
  for (const key of text.startsWith("{") ? [text, file] : [file]) {
    const { message } = (await fromGoogle(key).catch((error: unknown) => error)) as Error;
    expect(message).toContain(reason);
    expect(message).not.toContain("MII");
  }
});

const dialRoutes = { dialRoute: () => ({ name: "" }) };
const profile = {
  type: "aws",
  region: "us-east-1",
  service: "bedrock",
  profile: "models",
} as const;

it("a profile's keys are read again from its file, which another program has rotated or only now written", async () => {
  const file = join(directory, "credentials");
  vi.stubEnv("AWS_SHARED_CREDENTIALS_FILE", file);
  vi.stubEnv("AWS_CONFIG_FILE", join(directory, "none"));
  const secretsNow = async (): Promise<readonly string[]> =>
    (await awsKeys(profile, dialRoutes)).value.secrets;
  await expect(secretsNow()).rejects.toThrow(/credentials/);
  for (const secret of ["first-secret", "second-secret"]) {
    writeFileSync(file, `[models]\naws_access_key_id = AKID\naws_secret_access_key = ${secret}\n`);
    expect(await secretsNow()).toEqual([secret]);
  }
});

it.each([
  [
    "has no such profile",
    "[others]\naws_access_key_id = A\naws_secret_access_key = B",
    /\[models\]/,
  ],
  [
    "has a program that fails",
    "[models]\ncredential_process = sh -c 'echo the vault is sealed >&2; exit 1'",
    /the vault is sealed/,
  ],
])(
  "if the file %s, the reason is told, and the machine's own keys are not taken instead",
  async (_case, text, reason) => {
    writeFileSync(join(directory, "credentials"), `${text}\n`);
    vi.stubEnv("AWS_SHARED_CREDENTIALS_FILE", join(directory, "credentials"));
    vi.stubEnv("AWS_CONFIG_FILE", join(directory, "none"));
    const machine = createServer((_incoming, outgoing) => {
      const keys = { AccessKeyId: "ASIA", SecretAccessKey: "machine", Token: "t" };
      outgoing.end(JSON.stringify({ ...keys, Expiration: "2099-01-01T00:00:00Z" }));
    }).listen(0, "127.0.0.1");
    await once(machine, "listening");
    const { port } = machine.address() as AddressInfo;
    vi.stubEnv("AWS_CONTAINER_CREDENTIALS_FULL_URI", `http://127.0.0.1:${port}/`);
    const { profile: _profile, ...ofMachine } = profile;
    expect((await awsKeys(ofMachine, dialRoutes)).value.secrets).toContain("machine");
    await expect(awsKeys(profile, dialRoutes)).rejects.toThrow(reason);
    machine.close();
  },
);

/** The credentials of a user who signed in through a federation, with this address of tokens. */
const accountOf = (url: string): string =>
  JSON.stringify({
    type: "external_account_authorized_user",
    audience: "//iam.googleapis.com/locations/global/workforcePools/p/providers/q",
    client_id: "client",
    client_secret: "secret",
    refresh_token: "refresh",
    token_url: `${url}/token`,
  });

/** A server that takes requests and never answers, and the number of requests that wait for it. */
async function startSilent() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  let asked = 0;
  let waiting = 0;
  server.on("request", (incoming) => {
    asked += 1;
    waiting += 1;
    incoming.socket.once("close", () => (waiting -= 1));
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    counts: () => ({ asked, waiting }),
    close: () => server.close(),
  };
}

it.each(["AWS", "Google Cloud"])(
  "a request for credentials that %s never answers ends, and leaves no connection behind",
  async (cloud) => {
    const silent = await startSilent();
    vi.stubEnv("AWS_ENDPOINT_URL_STS", silent.url);
    vi.stubEnv("AWS_WEB_IDENTITY_TOKEN_FILE", join(directory, "token"));
    vi.stubEnv("AWS_ROLE_ARN", "arn:aws:iam::123456789012:role/models");
    writeFileSync(join(directory, "token"), "a-web-identity");
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const gone = new AbortController();
    let ended: unknown;
    const { profile: _profile, ...machine } = profile;
    const fetched =
      cloud === "AWS"
        ? awsKeys(machine, dialRoutes)
        : fromGoogle(accountOf(silent.url), gone.signal);
    fetched.catch((error: unknown) => (ended = error));
    await eventually(() => silent.counts().asked > 0, "it was asked");
    gone.abort();
    await eventually(async () => {
      await vi.advanceTimersByTimeAsync(1_000);
      return ended instanceof Error && silent.counts().waiting === 0;
    }, "it ends");
    silent.close();
  },
);
