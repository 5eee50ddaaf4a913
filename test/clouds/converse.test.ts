/** Amazon Bedrock's Converse, simulated: the four official SDKs through the gateway, by key and by signature, and failures. */
import { describe, expect, it } from "vitest";
import { isLong } from "../support/long.ts";
import { eventually } from "../support/patience.ts";
import { sdks, type Protocol } from "../sdk-cross/support.ts";
import { scenarios, stopsAtSequence, weather } from "../sdk/scenarios.ts";
import { png, scripted } from "../sdk/support.ts";
import { called, fileOf, useCloud, type Cloud } from "./support.ts";

const nova = "us.amazon.nova-2-lite-v1:0";
const llama = "us.meta.llama4-maverick-17b-instruct-v1:0";
const claude = "us.anthropic.claude-sonnet-5-5";

const novaReasons =
  "reasoning: { kind: effort, off: true, values: [low, medium, high], field: reasoning_config }";
const claudeReasons =
  "reasoning: { kind: adaptive, off: true, values: [low, medium, high, xhigh, max], field: thinking }";

const converse = (id: string, upstreamModel: string, ...providers: string[]) => ({
  id: `sandbox/${id}`,
  upstreamModel,
  offers: providers.map((provider) => ({
    provider,
    protocol: provider === "spare" ? "messages" : "converse",
    isDearer: provider === "spare",
  })),
});

const guarded = Array.from({ length: 8 }, (_, index) => `guarded-${index}`);

const signed =
  "auth: { type: aws, region: us-east-1, service: bedrock, access_key_id: AKIASANDBOX, secret_access_key: sandbox-secret }";

const protocols = Object.keys(sdks) as Protocol[];

function useConverse(access: string): Cloud {
  return useCloud((url) => {
    const runtime = (id: string, how: string): string =>
      `id: ${id}, dialect: bedrock, base_url: ${url}/bedrock/runtime, ${how}`;
    return fileOf(
      [
        runtime("runtime", access),
        runtime("elsewhere", signed.replace("us-east-1", "eu-west-9")),
        runtime("revoked", signed.replace("sandbox-secret", "another-secret-of-ours")),
        runtime("denied", "api_key: wrong-key-of-ours"),
        `id: spare, dialect: anthropic, base_url: ${url}/anthropic/v1, api_key: sandbox`,
      ],
      [
        // The SDKs' tests ask for these models.
        ...protocols.map((protocol) => ({
          ...converse(sdks[protocol].model.replace("sandbox/", ""), nova, "runtime"),
          record: novaReasons,
        })),
        converse("llama", llama, "runtime"),
        { ...converse("claude", claude, "runtime"), record: claudeReasons },
        // One model for each failure: after a failure the next call does not try that provider first.
        ...guarded.map((name) => converse(name, llama, "runtime", "spare")),
        converse("elsewhere", llama, "elsewhere", "spare"),
        converse("revoked", llama, "revoked", "spare"),
        converse("denied", llama, "denied", "spare"),
        converse("gone", "missing.model-v1:0", "runtime", "spare"),
      ],
    );
  });
}

/** Scenarios that check only the answer, not the body that the protocol's own vendor would get. */
const common = scenarios.filter(({ looksAt }) => looksAt === undefined);

describe.each([
  ["by key", "api_key: sandbox"],
  ["by signature", signed],
])("Converse %s", (_how, access) => {
  const cloud = useConverse(access);
  // The signature covers the request to Converse, which is the same for every SDK: the short form uses one.
  const asking = isLong || access !== signed ? protocols : protocols.slice(0, 1);
  describe.each(asking)("with the SDK of %s", (protocol) => {
    const sdk = sdks[protocol];
    const connect = () => sdk.connect(cloud.world);

    it.each(common)("$title", (scenario) => scenario.run(cloud.world, sdk));

    it("gives a picture to the model byte for byte", async () => {
      const picture = png();
      const answer = await connect().ask({ text: "What is this picture of?", picture });
      expect(answer.text).toContain("I see 1 image.");
      const [arrival] = await cloud.world.arrivals("What is this picture of?");
      const image = { format: "png", source: { bytes: picture.toString("base64") } };
      expect(arrival).toMatchObject({
        path: `/bedrock/runtime/model/${encodeURIComponent(nova)}/converse`,
        body: { messages: [{ role: "user", content: expect.arrayContaining([{ image }]) }] },
      });
    });

    it("sends a system prompt apart from the turns", async () => {
      const system = "You are a lighthouse keeper.";
      await connect().ask({ text: "Who are you?", system });
      const [arrival] = await cloud.world.arrivals(system);
      expect(arrival!.body).toMatchObject({ system: [{ text: system }] });
    });

    it.skipIf(protocol === "responses")("ends the text at a stop sequence", () =>
      stopsAtSequence(cloud.world, sdk),
    );

    it.each(["whole", "streamed"] as const)("has exact usage and price: %s", async (form) => {
      const input = form === "whole" ? 220 : 221;
      const usage = { input, output: 45, cache_read: 30, cache_write: 40 };
      const text = scripted("Count", { reply: "Counted.", reasoning: "One, two.", usage });
      const answer = await connect()[form === "whole" ? "ask" : "stream"]({ text, reasons: true });
      expect(answer.text).toBe("Counted.");
      const call = await cloud.world.logged((row) => row.usage?.inputTokens === input);
      expect(call).toMatchObject({
        status: "succeeded",
        usage_source: "upstream",
        usage: { cacheReadTokens: 30, cacheWriteTokens: 40, outputTokens: 45 },
        // In nano-USD: 500 in, 50 read from a cache, 625 written to it, 2000 out.
        cost_nano: BigInt((input - 70) * 500 + 30 * 50 + 40 * 625 + 45 * 2000),
      });
    });

    it("completes a tool loop of a reasoning model", async () => {
      const script = {
        reasoning: "A city is asked for.",
        tool_calls: [{ name: "weather", arguments: { city: "Bonn" } }],
        next: { reply: "Rain." },
      };
      const ask = { text: scripted("Think!", script), tools: [weather], reasons: true };
      const connection = connect();
      const first = await connection.stream(ask);
      expect(first.calls).toEqual(script.tool_calls);
      expect((await connection.answer(ask, first, ["it rains"])).text).toBe("Rain.");
    });
  });
});

describe("a request to Converse", () => {
  const cloud = useConverse("api_key: sandbox");
  const hi = [{ role: "user" as const, content: "Hi" }];
  const ask = async (path: string, body: object): Promise<Response> =>
    cloud.gateway.post(path, body);
  const sent = async () => (await cloud.world.arrivals("Hi")).at(-1)!.body as WireBody;
  interface WireBody {
    readonly additionalModelRequestFields?: object;
    readonly messages: readonly { readonly content: readonly object[] }[];
  }

  it.each([
    ["sandbox/chat", "high", { reasoningConfig: { type: "enabled", maxReasoningEffort: "high" } }],
    ["sandbox/chat", "xhigh", { reasoningConfig: { type: "enabled", maxReasoningEffort: "high" } }],
    ["sandbox/chat", "none", { reasoningConfig: { type: "disabled" } }],
    ["sandbox/claude", "low", { thinking: { type: "adaptive" }, output_config: { effort: "low" } }],
    ["sandbox/claude", "none", { thinking: { type: "disabled" } }],
    ["sandbox/llama", "high", undefined],
  ])(
    "gives %s the reasoning effort %s in the fields of its catalog record",
    async (model, effort, fields) => {
      const body = { model, messages: hi, reasoning_effort: effort };
      const answer = await ask("/v1/chat/completions", body);
      const { gw } = (await answer.json()) as { gw?: { droppedParams: string[] } };
      expect((await sent()).additionalModelRequestFields).toEqual(fields);
      const isKept = fields !== undefined && effort !== "xhigh";
      expect(gw?.droppedParams ?? []).toEqual(isKept ? [] : ["reasoning_effort"]);
    },
  );

  it.each([
    ["sandbox/messages", { type: "default" }, []],
    ["sandbox/llama", undefined, ["messages.content.cache_control"]],
  ])("has cache markers only for models that accept them: %s", async (model, point, dropped) => {
    const content = [{ type: "text", text: "Hi", cache_control: { type: "ephemeral" } }];
    const body = { model, max_tokens: 50, messages: [{ role: "user", content }] };
    const answer = await ask("/v1/messages", body);
    const { gw } = (await answer.json()) as { gw?: { droppedParams: string[] } };
    const blocks = (await sent()).messages[0]!.content;
    expect(blocks).toEqual([{ text: "Hi" }, ...(point ? [{ cachePoint: point }] : [])]);
    expect(gw?.droppedParams ?? []).toEqual(dropped);
  });

  it("has a document under a name that the vendor accepts; other types are refused", async () => {
    const file = (type: string) => ({
      type: "file",
      file: { filename: "Grüße & more.pdf", file_data: `data:${type};base64,JVBERi0=` },
    });
    const messages = (type: string) => [{ role: "user", content: [file(type), file(type)] }];
    const read = await ask("/v1/chat/completions", {
      model: "sandbox/llama",
      messages: messages("application/pdf"),
    });
    expect(read.status).toBe(200);
    const refused = await ask("/v1/chat/completions", {
      model: "sandbox/llama",
      messages: messages("application/zip"),
    });
    expect({ status: refused.status, body: await refused.json() }).toMatchObject({
      status: 400,
      body: { error: { code: "unsupported_content" } },
    });
  });

  const tools = [{ type: "function", function: { name: "look", parameters: { type: "object" } } }];
  const loop = [
    ...hi,
    {
      role: "assistant",
      tool_calls: [{ id: "call:1", type: "function", function: { name: "look", arguments: "{}" } }],
    },
    { role: "tool", tool_call_id: "call:1", content: "seen" },
  ];
  it.each([
    ["earlier calls of tools that are no longer offered", { messages: loop }, 200],
    ["tools that must not be called", { messages: hi, tools, tool_choice: "none" }, 200],
    ["a tool that must be called", { messages: hi, tools, tool_choice: "required" }, 200],
    ["earlier calls, with tool_choice none", { messages: loop, tools, tool_choice: "none" }, 400],
  ])("%s", async (_what, body, status) => {
    const answer = await ask("/v1/chat/completions", { model: "sandbox/llama", ...body });
    const said = (await answer.json()) as {
      choices?: { message: { tool_calls?: unknown[] } }[];
      error?: { param: string };
    };
    expect({ status: answer.status, param: said.error?.param }).toEqual({
      status,
      param: status === 400 ? "tool_choice" : undefined,
    });
    const forced = "tool_choice" in body && body.tool_choice === "required";
    const calls = said.choices?.flatMap(({ message }) => message.tool_calls ?? []) ?? [];
    expect(calls).toHaveLength(forced ? 1 : 0);
  });
});

const say = (script: object): string => `Hi\n#sandbox ${JSON.stringify(script)}`;

/** Returns a function that calls the cheapest provider first. It returns the answer to the caller and the logged attempts. */
const asker =
  (cloud: Cloud) =>
  async (model: string, script: object, stream = false) => {
    const answer = await cloud.gateway.post("/v1/chat/completions", {
      model: `${model}:@price`,
      stream,
      messages: [{ role: "user", content: say(script) }],
    });
    const text = await answer.text();
    const id = answer.headers.get("x-request-id")!;
    const call = (await cloud.world.logged((row) => row.id === id)) as unknown as {
      readonly attempts: readonly object[];
      readonly status: string;
    };
    const { attempts, status: logged } = call;
    return { status: answer.status, text, attempts, logged };
  };

describe("an error of Converse", () => {
  const cloud = useConverse(signed);
  const asked = asker(cloud);

  it.each([
    ["elsewhere", 403, "Credential should be scoped to a valid region, not 'eu-west-9'."],
    ["revoked", 403, "does not match the signature you provided"],
    ["denied", 403, "Authentication failed: Please make sure your API Key is valid."],
    ["gone", 400, "The provided model identifier is invalid."],
  ])(
    "%s is reported in the vendor's words, and another provider answers",
    async (id, code, words) => {
      const { status, attempts } = await called(cloud, `sandbox/${id}`);
      expect(status).toBe(200);
      const message = expect.stringContaining(words) as string;
      expect(attempts).toMatchObject([
        { status: code, message },
        { provider: "spare", status: 200 },
      ]);
      expect(JSON.stringify(attempts)).not.toContain("another-secret");
    },
  );

  it.each([
    [
      "throttled",
      guarded[0],
      { status: 429, error: { type: "ThrottlingException", message: "Too many" } },
    ],
    [
      "overloaded",
      guarded[1],
      { status: 503, error: { type: "ServiceUnavailableException", message: "No" } },
    ],
    [
      "the model fails",
      guarded[2],
      { status: 424, error: { type: "ModelErrorException", message: "Oh" } },
    ],
    [
      "the model is not ready",
      guarded[3],
      { status: 429, error: { type: "ModelNotReadyException" } },
    ],
  ])("leads to another provider: %s", async (_what, name, script) => {
    const first = await asked("sandbox/llama", script);
    expect(first.status).toBeGreaterThanOrEqual(429);
    const { status, attempts } = await asked(`sandbox/${name}`, {
      ...script,
      only: ["converse"],
    });
    expect(status).toBe(200);
    expect(attempts.at(-1)).toMatchObject({ provider: "spare", status: 200 });
  });

  it("about the caller's input is returned to the caller", async () => {
    const error = { type: "ValidationException", message: "The image is too large." };
    const { status, text, attempts } = await asked(`sandbox/${guarded[4]}`, { status: 400, error });
    expect(status).toBe(400);
    expect(text).toContain("The image is too large.");
    expect(attempts).toHaveLength(1);
  });

  it("T16: in the middle of a stream is an error in the caller's protocol", async () => {
    const script = { reply: "one two three", chunk_chars: 3, stream_error: 2 };
    const { text } = await asked("sandbox/llama", script, true);
    expect(text).toContain('"error"');
    expect(text).not.toContain('finish_reason":"stop');
  });

  it.each([
    ["cut", { reply: "one two three", chunk_chars: 3, cut_after_chunks: 2 }],
    [
      "ended without its last frames",
      { reply: "one two three", chunk_chars: 3, end_after_chunks: 2 },
    ],
  ])("T16: is sent for a stream that is %s", async (_how, script) => {
    const { text, logged } = await asked("sandbox/llama", script, true);
    expect(text).toContain('"error"');
    expect(logged).toBe("failed");
  });

  it("T14: is not sent for a stream that only lacks its last frame", async () => {
    const script = { reply: "one two three", no_end_marker: true };
    const { text } = await asked("sandbox/llama", script, true);
    expect(text).toContain("[DONE]");
  });

  it("a caller who disconnects ends the vendor's stream", async () => {
    const leaving = new AbortController();
    const script = { reply: "word ".repeat(4_000), chunk_chars: 5, chunk_delay_ms: 20 };
    const answer = await fetch(`${cloud.world.url}/v1/chat/completions`, {
      method: "POST",
      signal: leaving.signal,
      headers: { authorization: `Bearer ${cloud.world.key}`, "content-type": "application/json" },
      body: JSON.stringify({
        model: "sandbox/llama",
        stream: true,
        messages: [{ role: "user", content: say(script) }],
      }),
    });
    await answer.body!.getReader().read();
    leaving.abort();
    await eventually(
      async () => (await cloud.world.arrivals("word word")).find(({ aborted }) => aborted),
      "the vendor's stream was left",
    );
  });

  it("token counts are estimated", async () => {
    const answer = await cloud.gateway.post("/v1/messages/count_tokens", {
      model: "sandbox/llama",
      messages: [{ role: "user", content: "How many tokens are these?" }],
    });
    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual({ input_tokens: expect.any(Number) });
  });
});

describe("an exception at the start of a stream", () => {
  const cloud = useConverse(signed);
  const asked = asker(cloud);

  it.each([
    ["modelStreamErrorException", guarded[6]],
    ["internalServerException", guarded[7]],
    // Last, because health leaves the key alone for a while at this model.
    ["throttlingException", guarded[5]],
  ])("%s leads to another provider", async (type, name) => {
    const script = { reply: "one two", stream_error: 0, error: { type, message: "Broken." } };
    const { status, attempts, text } = await asked(
      `sandbox/${name}`,
      { ...script, only: ["converse"] },
      true,
    );
    expect(status).toBe(200);
    expect(attempts).toMatchObject([
      { provider: "runtime", message: expect.stringContaining("Broken.") },
      { provider: "spare" },
    ]);
    expect(text).toContain("[DONE]");
  });
});
