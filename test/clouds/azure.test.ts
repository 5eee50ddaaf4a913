/** Azure, simulated: the official SDKs through the gateway, and invalid credentials. */
import { createServer, type Server } from "node:https";
import { request } from "node:http";
import type { AddressInfo } from "node:net";
import * as tls from "node:tls";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { shareOfRows } from "../support/long.ts";
import { chat } from "../sdk/chat-sdk.ts";
import { messages } from "../sdk/messages-sdk.ts";
import { responses } from "../sdk/responses-sdk.ts";
import { scenarios } from "../sdk/scenarios.ts";
import { makeCertificate } from "../support/certificate.ts";
import { eventually } from "../support/patience.ts";
import { called, fileOf, useCloud } from "./support.ts";

const served = (id: string, protocol: string, ...providers: string[]) => ({
  id: `sandbox/${id}`,
  upstreamModel: "deployment-1",
  offers: providers.map((provider) => ({ provider, protocol, isDearer: provider === "spare" })),
});

describe("Azure with a key, at the current addresses", () => {
  const { world } = useCloud((url) =>
    fileOf(
      [
        `id: azure, dialect: azure, base_url: ${url}/azure/openai/v1, api_key: sandbox`,
        `id: claude, dialect: azure, base_url: ${url}/azure/anthropic/v1, api_key: sandbox`,
      ],
      [
        served("chat", "chat", "azure"),
        served("responses", "responses", "azure"),
        served("messages", "messages", "claude"),
      ],
    ),
  );
  const asking = [chat, responses, messages];
  // In the short form every second scenario with one SDK, and the others with the next.
  describe.each(asking)("$model", (sdk) => {
    const place = asking.indexOf(sdk);
    it.each(shareOfRows(scenarios, place))("$title", (scenario) => scenario.run(world, sdk));
  });
});

describe("Azure with the machine's identity, at the older addresses", () => {
  const cloud = useCloud(
    (url) =>
      fileOf(
        [
          `id: azure, dialect: azure, base_url: ${url}/azure/openai, query: { api-version: "2024-10-21" }`,
        ],
        [served("chat", "chat", "azure"), served("responses", "responses", "azure")],
      ),
    (url) => ({ IDENTITY_ENDPOINT: `${url}/azure/identity/token`, IDENTITY_HEADER: "sandbox-1" }),
  );
  const asking = [chat, responses];
  // In the short form every second scenario with one SDK, and the others with the next.
  describe.each(asking)("$model", (sdk) => {
    const place = asking.indexOf(sdk) + 1;
    it.each(shareOfRows(scenarios, place))("$title", (scenario) => scenario.run(cloud.world, sdk));
  });

  it("gets calls with the deployment in the path, and is asked for one token in all", async () => {
    await called(cloud, "sandbox/chat");
    const paths = cloud.sandbox.journal.list({}).map(({ path }) => path);
    expect(paths).toContain(
      "/azure/openai/deployments/deployment-1/chat/completions?api-version=2024-10-21",
    );
    expect(cloud.sandbox.tokens.azure.given).toBe(1);
  });
});

describe("Azure with a client secret", () => {
  const trusted = tls.getCACertificates("default");
  let entra: Server;
  let authority = "";
  // The library asks Entra ID over TLS only: this server passes everything on to the sandbox.
  beforeAll(async () => {
    const certificate = makeCertificate();
    tls.setDefaultCACertificates([...trusted, certificate.cert]);
    entra = createServer(certificate, (incoming, outgoing) => {
      const headers = { ...incoming.headers, "x-forwarded-proto": "https" };
      const path = `/azure${incoming.url!}`;
      const { port } = cloud.sandbox;
      const passed = request({ port, path, method: incoming.method, headers }, (answer) => {
        outgoing.writeHead(answer.statusCode!, answer.headers);
        answer.pipe(outgoing);
      });
      incoming.pipe(passed);
    });
    await new Promise<void>((resolve) => entra.listen(0, "127.0.0.1", resolve));
    authority = `https://localhost:${(entra.address() as AddressInfo).port}`;
  });
  const cloud = useCloud((url) =>
    fileOf(
      [
        `id: azure, dialect: azure, base_url: ${url}/azure/openai/v1, auth: { type: azure, tenant_id: t, client_id: c, client_secret: sandbox-secret, authority_host: "${authority}" }`,
        `id: wrong, dialect: azure, base_url: ${url}/azure/openai/v1, auth: { type: azure, tenant_id: t, client_id: c, client_secret: revoked-secret-of-ours, authority_host: "${authority}" }`,
        `id: spare, dialect: openai, base_url: ${url}/openai/v1, api_key: sandbox`,
      ],
      [
        served("chat", "chat", "azure"),
        served("with-spare", "chat", "wrong", "spare"),
        served("alone", "chat", "wrong"),
      ],
    ),
  );
  afterAll(async () => {
    tls.setDefaultCACertificates(trusted);
    entra.closeAllConnections();
    await new Promise((resolve) => entra.close(resolve));
  });

  it("serves all calls with one token that is fetched at the start, also simultaneous calls", async () => {
    const { azure } = cloud.sandbox.tokens;
    await eventually(() => azure.given > 0, "a token ahead of the first call");
    const calls = await Promise.all(Array.from({ length: 5 }, () => called(cloud, "sandbox/chat")));
    expect(calls.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(azure.given).toBe(1);
  });

  it("fails one call after its token is revoked, and the next call has a new token", async () => {
    await called(cloud, "sandbox/chat");
    cloud.sandbox.tokens.azure.revoke();
    const refused = await called(cloud, "sandbox/chat");
    expect(refused.status).toBe(502);
    expect(refused.attempts.at(-1)).toMatchObject({
      status: 401,
      message: expect.stringContaining("Access token is missing, invalid"),
    });
    expect((await called(cloud, "sandbox/chat")).status).toBe(200);
  });

  it("reports a revoked secret to the operator without the secret, and another provider answers", async () => {
    const { status, attempts } = await called(cloud, "sandbox/with-spare");
    expect(status).toBe(200);
    expect(attempts.map(({ provider }) => provider)).toEqual(["wrong", "spare"]);
    expect(attempts[0]).toMatchObject({ status: null, outcome: "unauthorized" });
    expect(attempts[0]!.message).toContain("no credential from Entra ID");
    expect(attempts[0]!.message).toContain("AADSTS7000215");
    expect(JSON.stringify(attempts)).not.toContain("revoked-secret");
    expect((await called(cloud, "sandbox/alone")).status).toBe(502);
  });
});
