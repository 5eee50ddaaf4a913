/** Requirements of frameworks on answers, beyond those of the vendors' own SDKs. Requirements: CONV, ERR, T16. */
import { describe, expect, it } from "vitest";
import { createSseParser } from "../../src/base/sse.ts";
import { pixel } from "../support/pixel.ts";
import { models, scripted, useFrameworks } from "./support.ts";

const { send } = useFrameworks();

describe("@openrouter/sdk 1.3.19", () => {
  const chat = {
    path: "/v1/chat/completions",
    body: '{"messages":[{"content":"PROMPT","role":"user"}],"model":"MODEL","stream":false}',
  };

  it.each(models)("gets system_fingerprint in the answer of %s", async (model) => {
    const answer = (await (await send(chat, model, "Hi")).json()) as Record<string, unknown>;
    expect(answer).toHaveProperty("system_fingerprint", expect.any(String));
  });
});

const broken = scripted({
  reply: "word ".repeat(20),
  chunk_chars: 5,
  stream_error: 4,
  // Without a type, two of the vendors say that they are overloaded.
  error: { message: "Gone.", type: "api_error" },
});

describe("@langchain/google-genai 2.3.2 and @google/genai 1", () => {
  const stream = {
    path: "/v1beta/MODEL:streamGenerateContent?alt=sse",
    body: '{"generationConfig":{"stopSequences":[]},"safetySettings":[],"contents":[{"role":"user","parts":[{"text":"PROMPT"}]}]}',
  };

  it.each(models)("T16: get an error at the end of a broken stream of %s", async (model) => {
    const text = await (await send(stream, model, broken)).text();
    // These SDKs check the text after the last frame, not a frame.
    const rest = text.slice(text.lastIndexOf("\n\n") + 2);
    expect(JSON.parse(rest)).toMatchObject({ error: { code: 502, status: "UNAVAILABLE" } });
    // All other SDKs read the same in the last frame.
    const parser = createSseParser();
    const frames = [...parser.push(Buffer.from(text)), ...parser.end()];
    expect(frames.at(-1)).toEqual({ data: rest });
  });

  it("T16: get the error as the last element of a stream in array form", async () => {
    const array = { ...stream, path: "/v1beta/MODEL:streamGenerateContent" };
    const pieces = (await (await send(array, models[0], broken)).json()) as object[];
    expect(pieces.at(-1)).toMatchObject({ error: { code: 502 } });
  });
});

describe("@ai-sdk/openai 4.0.118, @mistralai/mistralai 2.7.0, @ai-sdk/deepseek 3.0.56, @ai-sdk/moonshotai 3.0.60, @ai-sdk/perplexity 3.0.61", () => {
  const stream = {
    path: "/v1/chat/completions",
    body: '{"model":"MODEL","messages":[{"role":"user","content":"PROMPT"}],"stream":true}',
  };

  it.each(models)("T16: see the error at the end of a broken stream of %s", async (model) => {
    const text = await (await send(stream, model, broken)).text();
    const parser = createSseParser();
    const frames = [...parser.push(Buffer.from(text)), ...parser.end()];
    const last = JSON.parse(frames.at(-1)!.data) as object;
    expect(last).toMatchObject({
      choices: [{ finish_reason: "error" }],
      error: { code: "upstream_error" },
    });
    // A frame with the shape of a chunk is read as a chunk, and its error is skipped. The first two tell a chunk by the index of its
    // choice, the next two by its object, and the last by its time.
    expect(last).not.toHaveProperty("choices.0.index");
    expect(last).toHaveProperty("object", "error");
    expect(last).not.toHaveProperty("created");
  });
});

describe("the tool runner of @anthropic-ai/sdk 1.14.0", () => {
  it.each(models)("ends at %s if a tool returns a picture", async (model) => {
    const picture = { type: "base64", media_type: "image/png", data: pixel };
    const result = [{ type: "image", source: picture }];
    const tool = { name: "photo", input_schema: { type: "object", properties: {} } };
    const body = JSON.stringify({
      model: "MODEL",
      max_tokens: 200,
      tools: [tool],
      messages: [
        { role: "user", content: "PROMPT" },
        {
          role: "assistant",
          content: [{ type: "tool_use", id: "toolu_1", name: "photo", input: {} }],
        },
        {
          role: "user",
          content: [{ type: "tool_result", tool_use_id: "toolu_1", content: result }],
        },
      ],
    });
    const answer = await (await send({ path: "/v1/messages", body }, model, "A photo?")).json();
    expect(answer).toMatchObject({ stop_reason: "end_turn", content: [{ type: "text" }] });
  });
});

describe("LangChain 1.5", () => {
  const requests = {
    ChatOpenAI: {
      own: "sandbox/chat",
      path: "/v1/chat/completions",
      body: '{"model":"MODEL","stream":false,"messages":[{"role":"user","content":"PROMPT"}]}',
      knows: /"code":"context_length_exceeded"/,
    },
    "ChatOpenAI with useResponsesApi": {
      own: "sandbox/responses",
      path: "/v1/responses",
      body: '{"input":[{"type":"message","role":"user","content":"PROMPT"}],"model":"MODEL","stream":false,"text":{}}',
      knows: /"code":"context_length_exceeded"/,
    },
    ChatAnthropic: {
      own: "sandbox/messages",
      path: "/v1/messages",
      body: '{"model":"MODEL","stream":false,"max_tokens":4096,"messages":[{"role":"user","content":"PROMPT"}]}',
      knows: /"message":"prompt is too long/,
    },
    ChatGoogleGenerativeAI: {
      own: "sandbox/generate-content",
      path: "/v1beta/MODEL:generateContent",
      body: '{"generationConfig":{"stopSequences":[]},"safetySettings":[],"contents":[{"role":"user","parts":[{"text":"PROMPT"}]}]}',
      // It checks no words, but @strands-agents/sdk, which sends nearly the same request, does.
      knows: /exceeds the maximum number of tokens/,
    },
  };
  const words: Readonly<Record<(typeof models)[number], string>> = {
    "sandbox/chat": "This model's maximum context length is 8 tokens.",
    "sandbox/responses": "Your input exceeds the context window of this model.",
    "sandbox/messages": "prompt is too long: 9 tokens > 8 maximum",
    "sandbox/generate-content":
      "The input token count (9) exceeds the maximum number of tokens allowed (8).",
  };
  // On its own protocol a vendor's refusal is passed on unchanged.
  const cases = Object.entries(requests).flatMap(([name, { own, ...sent }]) =>
    models.filter((model) => model !== own).map((model) => [name, model, sent] as const),
  );

  it.each(cases)(
    "%s recognises a too long prompt for %s",
    async (_name, model, { knows, ...sent }) => {
      const prompt = scripted({ status: 400, error: { message: words[model] } });
      const answer = await send(sent, model, prompt);
      expect(answer.status).toBe(400);
      expect(await answer.text()).toMatch(knows);
    },
  );
});

describe("@openai/agents 0.20.0", () => {
  const run = {
    path: "/v1/responses",
    body: '{"model":"MODEL","instructions":"Brief","input":[{"role":"user","content":"PROMPT"}],"include":[],"tools":[],"stream":false}',
  };

  it.each(models)("TXT-14: may send an empty list to %s without a reported drop", async (model) => {
    const answer = await send(run, model, "Hi");
    expect(answer.status).toBe(200);
    expect(await answer.json()).not.toHaveProperty("gw");
  });

  it("may send an empty mcp_servers list without a refusal", async () => {
    const body =
      '{"model":"MODEL","max_tokens":9,"mcp_servers":[],"messages":[{"role":"user","content":"Hi"}]}';
    expect((await send({ path: "/v1/messages", body }, models[0], "")).status).toBe(200);
  });
});

describe("@instructor-ai/instructor 1.7.0 in its mode FUNCTIONS", () => {
  const schema = {
    type: "object",
    properties: {
      name: { type: "string" },
      age: { type: "number" },
      tags: { type: "array", items: { type: "string" } },
    },
    required: ["name", "age", "tags"],
    additionalProperties: false,
  };
  // As version 4 of `openai` writes it.
  const body = (stream: boolean): string =>
    JSON.stringify(
      {
        model: "MODEL",
        messages: [{ role: "user", content: "PROMPT" }],
        stream,
        function_call: { name: "Person" },
        functions: [{ name: "Person", description: "", parameters: schema }],
      },
      null,
      2,
    );
  const path = "/v1/chat/completions";
  const called = (name: string) => ({ name: "Person", arguments: { name, age: 36, tags: ["x"] } });
  const prompt = scripted({ tool_calls: [called("Ada"), called("Bob")] });
  const first = JSON.stringify(called("Ada").arguments);
  const converted = models.slice(1);

  it.each(converted)("gets a call in `function_call` from %s", async (model) => {
    const answer = (await (await send({ path, body: body(false) }, model, prompt)).json()) as {
      choices: object[];
    };
    expect(answer.choices).toMatchObject([
      {
        message: {
          content: null,
          function_call: { name: "Person", arguments: first },
        },
        finish_reason: "function_call",
      },
    ]);
    expect(answer.choices).not.toHaveProperty("0.message.tool_calls");
  });

  it.each(converted)("gets a call in `function_call` in the stream of %s", async (model) => {
    const text = await (await send({ path, body: body(true) }, model, prompt)).text();
    const parser = createSseParser();
    const frames = [...parser.push(Buffer.from(text)), ...parser.end()];
    const choices = frames
      .filter(({ data }) => data !== "[DONE]")
      .map(({ data }) => (JSON.parse(data) as { choices: [Choice] }).choices[0]);
    const pieces = choices.flatMap(({ delta }) => delta.function_call ?? []);
    expect(pieces[0]).toMatchObject({ name: "Person" });
    expect(pieces.map((piece) => piece.arguments).join("")).toBe(first);
    expect(choices.at(-1)?.finish_reason).toBe("function_call");
    expect(text).not.toContain("tool_calls");
  });
});

interface Choice {
  readonly delta: {
    readonly function_call?: { readonly name?: string; readonly arguments: string };
  };
  readonly finish_reason: string | null;
}
