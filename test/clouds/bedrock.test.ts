/** Amazon Bedrock, simulated: the official SDKs through the gateway by key and by signature, and invalid credentials. */
import { describe, expect, it } from "vitest";
import { shareOfRows } from "../support/long.ts";
import { chat } from "../sdk/chat-sdk.ts";
import { messages } from "../sdk/messages-sdk.ts";
import { responses } from "../sdk/responses-sdk.ts";
import { scenarios } from "../sdk/scenarios.ts";
import { called, fileOf, useCloud } from "./support.ts";

const served = (id: string, protocol: string, ...providers: string[]) => ({
  id: `sandbox/${id}`,
  upstreamModel: "us.anthropic.claude-x-v1:0",
  offers: providers.map((provider) => ({ provider, protocol, isDearer: provider === "spare" })),
});

const aws = (more: string): string => `auth: { type: aws, ${more} }`;
const runtime = aws(
  "region: us-east-1, service: bedrock, access_key_id: AKIASANDBOX, secret_access_key: sandbox-secret",
);

describe("bedrock-mantle with a key", () => {
  const { world } = useCloud((url) =>
    fileOf(
      [
        `id: mantle, dialect: bedrock, base_url: ${url}/bedrock/mantle/v1, api_key: sandbox`,
        `id: claude, dialect: bedrock, base_url: ${url}/bedrock/mantle/anthropic/v1, api_key: sandbox`,
      ],
      [
        served("chat", "chat", "mantle"),
        served("responses", "responses", "mantle"),
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

describe("bedrock-runtime with signatures", () => {
  const cloud = useCloud((url) =>
    fileOf(
      [
        `id: runtime, dialect: bedrock, base_url: ${url}/bedrock/runtime/openai/v1, ${runtime}`,
        `id: invoked, dialect: bedrock, base_url: ${url}/bedrock/runtime, ${runtime}`,
        `id: elsewhere, dialect: bedrock, base_url: ${url}/bedrock/runtime, ${runtime.replace("us-east-1", "eu-west-9")}`,
        `id: revoked, dialect: bedrock, base_url: ${url}/bedrock/runtime, ${runtime.replace("sandbox-secret", "another-secret-of-ours")}`,
        `id: gone, dialect: bedrock, base_url: ${url}/bedrock/runtime, ${runtime.replace("AKIASANDBOX", "AKIADELETED")}`,
        `id: spare, dialect: anthropic, base_url: ${url}/anthropic/v1, api_key: sandbox`,
      ],
      [
        served("chat", "chat", "runtime"),
        served("responses", "responses", "runtime"),
        served("messages", "messages", "invoked"),
        served("elsewhere", "messages", "elsewhere", "spare"),
        served("revoked", "messages", "revoked", "spare"),
        served("gone", "messages", "gone", "spare"),
      ],
    ),
  );
  const asking = [chat, responses, messages];
  // In the short form every second scenario with one SDK, and the others with the next.
  describe.each(asking)("$model", (sdk) => {
    const place = asking.indexOf(sdk) + 1;
    it.each(shareOfRows(scenarios, place))("$title", (scenario) => scenario.run(cloud.world, sdk));
  });

  it("sends an error within a stream in the caller's protocol", async () => {
    const answer = await cloud.gateway.post("/v1/messages", {
      model: "sandbox/messages",
      max_tokens: 100,
      stream: true,
      messages: [
        {
          role: "user",
          content: 'Hi\n#sandbox {"reply":"one two three","chunk_chars":3,"stream_error":2}',
        },
      ],
    });
    const text = await answer.text();
    expect(text).toContain("event: error");
    expect(text).not.toContain("message_stop");
  });

  it.each([
    ["elsewhere", "Credential should be scoped to a valid region, not 'eu-west-9'."],
    ["revoked", "does not match the signature you provided"],
    ["gone", "The security token included in the request is invalid."],
  ])(
    "%s keys are reported in the vendor's words, and another provider answers",
    async (id, words) => {
      const { status, attempts } = await called(cloud, `sandbox/${id}`);
      expect(status).toBe(200);
      expect(attempts).toMatchObject([
        { provider: id, status: 403, message: expect.stringContaining(words) },
        { provider: "spare", status: 200 },
      ]);
      expect(JSON.stringify(attempts)).not.toContain("another-secret");
    },
  );

  it("reports a wrong clock", async () => {
    const { now } = Date;
    const real = Date;
    const skew = 600_000;
    class Skewed extends real {
      constructor(...parts: [] | [number | string]) {
        if (parts.length === 0) super(now() + skew);
        else super(parts[0]);
      }
    }
    globalThis.Date = Skewed as DateConstructor;
    try {
      // Only dates made without arguments are wrong: the time stamp of the signature.
      const { attempts } = await called(cloud, "sandbox/chat");
      expect(attempts[0]).toMatchObject({
        status: 403,
        message: expect.stringContaining("Signature not yet current"),
      });
    } finally {
      globalThis.Date = real;
    }
  });
});

describe("Bedrock with the credentials of a container", () => {
  const cloud = useCloud(
    (url) =>
      fileOf(
        [
          `id: invoked, dialect: bedrock, base_url: ${url}/bedrock/runtime, ${aws("region: us-east-1, service: bedrock")}`,
          `id: mantle, dialect: bedrock, base_url: ${url}/bedrock/mantle/v1, ${aws("region: us-east-1, service: bedrock-mantle")}`,
        ],
        [served("messages", "messages", "invoked"), served("chat", "chat", "mantle")],
      ),
    (url) => ({
      AWS_CONTAINER_CREDENTIALS_FULL_URI: `${url}/bedrock/credentials`,
      AWS_CONTAINER_AUTHORIZATION_TOKEN: "sandbox-container",
      AWS_CONFIG_FILE: "/nowhere/config",
      AWS_SHARED_CREDENTIALS_FILE: "/nowhere/credentials",
    }),
  );

  it("answers at both endpoints, with credentials fetched once for each", async () => {
    const { aws: tokens } = cloud.sandbox.tokens;
    for (const id of ["messages", "chat", "messages", "chat"])
      expect((await called(cloud, `sandbox/${id}`)).status).toBe(200);
    expect(tokens.given).toBe(2);
  });

  it("fails one call after its credentials are revoked, and the next call has new ones", async () => {
    const { aws: tokens } = cloud.sandbox.tokens;
    await called(cloud, "sandbox/messages");
    tokens.revoke();
    const refused = await called(cloud, "sandbox/messages");
    expect(refused.attempts[0]).toMatchObject({
      status: 403,
      message: expect.stringContaining("security token"),
    });
    expect((await called(cloud, "sandbox/messages")).status).toBe(200);
  });
});
