/** What frameworks want of an answer beyond what the vendors' own SDKs do. Requirements: CONV, ERR, T16. */
import { describe, expect, it } from "vitest";
import { createSseParser } from "../../src/base/sse.ts";
import { models, scripted, useFrameworks } from "./support.ts";

const { send } = useFrameworks();

describe("@openrouter/sdk 1.3.19", () => {
  const chat = {
    path: "/v1/chat/completions",
    body: '{"messages":[{"content":"PROMPT","role":"user"}],"model":"MODEL","stream":false}',
  };

  it.each(models)("has a fingerprint in the answer of %s", async (model) => {
    const answer = (await (await send(chat, model, "Hi")).json()) as Record<string, unknown>;
    expect(answer).toHaveProperty("system_fingerprint", expect.any(String));
  });
});

describe("@langchain/google-genai 2.3.2 and @google/genai 1", () => {
  const stream = {
    path: "/v1beta/MODEL:streamGenerateContent?alt=sse",
    body: '{"generationConfig":{"stopSequences":[]},"safetySettings":[],"contents":[{"role":"user","parts":[{"text":"PROMPT"}]}]}',
  };

  it.each(models)("T16: reads that the stream of %s broke", async (model) => {
    const prompt = scripted({ reply: "word ".repeat(20), chunk_chars: 5, stream_error: 4 });
    const text = await (await send(stream, model, prompt)).text();
    // These SDKs look at what stands behind the last frame, not into a frame.
    const rest = text.slice(text.lastIndexOf("\n\n") + 2);
    expect(JSON.parse(rest)).toMatchObject({ error: { code: 502, status: "UNAVAILABLE" } });
    // All others read the same in the last frame.
    const parser = createSseParser();
    const frames = [...parser.push(Buffer.from(text)), ...parser.end()];
    expect(frames.at(-1)).toEqual({ data: rest });
  });

  it("T16: the same in the form of an array, which has its own end", async () => {
    const array = { ...stream, path: "/v1beta/MODEL:streamGenerateContent" };
    const prompt = scripted({ reply: "word ".repeat(20), chunk_chars: 5, stream_error: 4 });
    const pieces = (await (await send(array, models[0], prompt)).json()) as object[];
    expect(pieces.at(-1)).toMatchObject({ error: { code: 502 } });
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
  };
  const words: Readonly<Record<(typeof models)[number], string>> = {
    "sandbox/chat": "This model's maximum context length is 8 tokens.",
    "sandbox/responses": "Your input exceeds the context window of this model.",
    "sandbox/messages": "prompt is too long: 9 tokens > 8 maximum",
    "sandbox/generate-content":
      "The input token count (9) exceeds the maximum number of tokens allowed (8).",
  };
  // On its own protocol a vendor's refusal goes on in its own words.
  const cases = Object.entries(requests).flatMap(([name, { own, ...sent }]) =>
    models.filter((model) => model !== own).map((model) => [name, model, sent] as const),
  );

  it.each(cases)(
    "%s knows a prompt that is too long for %s",
    async (_name, model, { knows, ...sent }) => {
      const prompt = scripted({ status: 400, error: { message: words[model] } });
      const answer = await send(sent, model, prompt);
      expect(answer.status).toBe(400);
      expect(await answer.text()).toMatch(knows);
    },
  );
});
