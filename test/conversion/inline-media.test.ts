/** Pictures at web addresses, for providers of Claude that do not fetch addresses. Requirements: CONV-417. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { messages } from "../rows/protocols.ts";
import { startTestGateway, type GatewayUnderTest } from "../support/gateway.ts";
import { json, startRecorder, type Recorder } from "../support/recorder.ts";
import { pictureDataUrl, pictureUrl, user } from "./world.ts";

let gateway: GatewayUnderTest;
let upstream: Recorder;

beforeAll(async () => {
  upstream = await startRecorder(json(messages.whole()));
  const offer = (provider: string, output: string): string =>
    `      - { provider: ${provider}, protocol: messages, upstream_model: claude, price: { input: "1", output: "${output}" } }`;
  const model = (id: string, ...offers: string[]): string =>
    [
      `  - id: acme/${id}`,
      "    kind: text",
      "    context_length: 200000",
      "    max_output_tokens: 32000",
      "    offers:",
      ...offers,
    ].join("\n");
  gateway = await startTestGateway({
    config: [
      "providers:",
      `  - { id: bedrock, dialect: bedrock, base_url: "${upstream.url}/bedrock/v1", api_key: secret }`,
      `  - { id: anthropic, dialect: anthropic, base_url: "${upstream.url}/anthropic/v1", api_key: secret }`,
      "models:",
      model("both", offer("bedrock", "1"), offer("anthropic", "100")),
      model("one", offer("bedrock", "1")),
      "",
    ].join("\n"),
  });
  await gateway.credit("1000");
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

/** Returns the status, the parameter that the error names, and the providers that the gateway called. */
async function called(model: string, url: string) {
  upstream.requests.length = 0;
  const body = { model, ...user([{ type: "image_url", image_url: { url } }]) };
  const reply = await gateway.post("/v1/chat/completions", body);
  const { error } = (await reply.json()) as { error?: { param: string; code: string } };
  const asked = upstream.requests.map(({ path }) => path.split("/")[1]);
  return { status: reply.status, error: error && [error.code, error.param], asked };
}

describe("a picture at a web address", () => {
  it("CONV-417: goes to the provider that reads addresses, even if another one is cheaper", async () => {
    for (let call = 0; call < 5; call += 1) {
      const expected = { status: 200, error: undefined, asked: ["anthropic"] };
      expect(await called("acme/both:@price", pictureUrl)).toEqual(expected);
    }
  });

  it("CONV-417: is refused before any provider is called if none reads addresses", async () => {
    const error = ["unsupported_content", "messages.content.image_url"];
    expect(await called("acme/one", pictureUrl)).toEqual({ status: 400, error, asked: [] });
  });
});

it("CONV-417: a picture as base64 may go to either provider", async () => {
  const expected = { status: 200, error: undefined, asked: ["bedrock"] };
  expect(await called("acme/both:@price", pictureDataUrl)).toEqual(expected);
});
