/**
 * Claude Code at the clouds: the flags and fields that only Anthropic's own API accepts are removed and reported. Each made every call fail
 * (anthropics/claude-code #21612, #30926, #49370; litellm #19877; inspect_ai #3851).
 */
import { describe, expect, it } from "vitest";
import { acceptedHeaders, fitHostedClaude } from "../../src/upstream/index.ts";
import { fileOf, useCloud } from "./support.ts";

const served = (provider: string, upstreamModel: string) => ({
  id: `sandbox/${provider}`,
  upstreamModel,
  offers: [{ provider, protocol: "messages" }],
});

const flags = [
  "claude-code-20250219",
  "interleaved-thinking-2025-05-14",
  "prompt-caching-scope-2026-01-05",
  "advanced-tool-use-2025-11-20",
];
const known = ["interleaved-thinking-2025-05-14", "tool-search-tool-2025-10-19"];

const marker = { type: "ephemeral", scope: "global" };

const asked = (model: string, text: string) => ({
  model,
  max_tokens: 100,
  cache_control: { type: "ephemeral" },
  system: [
    { type: "text", text: "You are Claude Code.", cache_control: marker },
    { type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } },
  ],
  tools: [
    {
      name: "list_files",
      input_schema: { type: "object", properties: { folder: { type: "string" } } },
      eager_input_streaming: true,
    },
  ],
  messages: [{ role: "user", content: [{ type: "text", text, cache_control: marker }] }],
});

describe.each(["invoked", "vertex"])("%s", (provider) => {
  const cloud = useCloud(
    (url) =>
      fileOf(
        [
          `id: invoked, dialect: bedrock, base_url: ${url}/bedrock/runtime, api_key: sandbox`,
          `id: vertex, dialect: vertex, base_url: "${url}/vertex/v1/projects/sandbox-project/locations/us-central1"`,
        ],
        [served("invoked", "us.anthropic.claude-x-v1:0"), served("vertex", "model-1")],
      ),
    (url) => ({
      GCE_METADATA_HOST: new URL(url).host,
      METADATA_SERVER_DETECTION: "assume-present",
    }),
  );
  const headers = { "anthropic-version": "2023-06-01", "anthropic-beta": flags.join(",") };

  /** The request that the vendor received for a text. */
  async function received(text: string) {
    const url = `${cloud.sandbox.url}/__journal?contains=${encodeURIComponent(text)}`;
    const { data } = (await (await fetch(url)).json()) as {
      data: { headers: Record<string, string>; body: Record<string, unknown> }[];
    };
    return data;
  }

  it("answers a call with flags and fields that the cloud refuses, and reports them", async () => {
    const text = `Which files are there at ${provider}?`;
    const body = asked(`sandbox/${provider}`, text);
    const answer = await cloud.gateway.post("/v1/messages", body, headers);
    const { gw } = (await answer.json()) as { gw: { droppedParams: string[] } };
    expect(answer.status).toBe(200);
    expect(gw.droppedParams.toSorted()).toEqual([
      "anthropic-beta",
      "cache_control",
      "cache_control.scope",
      "tools.eager_input_streaming",
    ]);
    const [sent] = await received(text);
    const own = JSON.stringify(sent);
    expect(own).not.toMatch(/scope|eager_input|claude-code-2025/);
    expect(own.match(/"cache_control":\{"type":"ephemeral"\}/g)).toHaveLength(3);
    for (const flag of known) expect(own).toContain(flag);
  });

  it("sends a plain call as it was written", async () => {
    const text = `A plain question for ${provider}`;
    const {
      cache_control: _all,
      system: _system,
      tools: _tools,
      ...plain
    } = asked(`sandbox/${provider}`, text);
    const messages = [{ role: "user", content: text }];
    const answer = await cloud.gateway.post(
      "/v1/messages",
      { ...plain, messages },
      { "anthropic-beta": "claude-code-20250219" },
    );
    expect(answer.status).toBe(200);
    const [sent] = await received(text);
    expect(sent!.body).toMatchObject({ messages });
    expect(sent!.body).not.toHaveProperty("anthropic_beta");
    expect(sent!.headers).not.toHaveProperty("anthropic-beta");
  });

  it("counts tokens with the same flags and fields removed", async () => {
    const text = `How long is this at ${provider}?`;
    const { max_tokens: _max, ...body } = asked(`sandbox/${provider}`, text);
    const answer = await cloud.gateway.post("/v1/messages/count_tokens", body, headers);
    expect(answer.status).toBe(200);
    for (const sent of await received(text)) expect(JSON.stringify(sent)).not.toContain("scope");
  });
});

it("changes nothing for Anthropic's own API", () => {
  const caller = { "anthropic-beta": flags.join(",") };
  const body = asked("claude", "Hi");
  expect(acceptedHeaders(caller, "anthropic")).toBe(caller);
  expect(fitHostedClaude(body, caller, "anthropic")).toEqual({ body, notes: [] });
});

it("shares what it does not change, and leaves the caller's own objects as they were", () => {
  const body = asked("claude", "Hi");
  const before = structuredClone(body);
  const { body: fitted } = fitHostedClaude(body, {}, "bedrock");
  expect(body).toEqual(before);
  expect((fitted["system"] as unknown[])[1]).toBe(body.system[1]);
});
