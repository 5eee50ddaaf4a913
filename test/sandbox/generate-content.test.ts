/** The google-like vendor's generateContent, called by the official SDK over a real socket. */
import type { Content, GenerateContentParameters } from "@google/genai";
import { ApiError, FunctionCallingConfigMode, GoogleGenAI } from "@google/genai";
import { describe, expect, it } from "vitest";
import { pixel } from "../support/pixel.ts";
import { scripted, useSandbox, weather } from "./support.ts";

const sandbox = useSandbox();
const model = "sandbox-large";
const client = (apiKey = "sandbox") =>
  new GoogleGenAI({ apiKey, httpOptions: { baseUrl: `${sandbox.url}/google` } });
const { name, description, parameters } = weather;
const sentinel = "skip_thought_signature_validator";
const tools = [{ functionDeclarations: [{ name, description, parametersJsonSchema: parameters }] }];

async function chunksOf(body: GenerateContentParameters) {
  const chunks = [];
  for await (const chunk of await client().models.generateContentStream(body)) chunks.push(chunk);
  return chunks;
}

const raw = (path: string, body: object, headers: Record<string, string>) =>
  fetch(`${sandbox.url}/google${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });

describe("generateContent", () => {
  it("answers text with a system instruction and an image, under a dated model name", async () => {
    const parts = [{ text: "Look" }, { inlineData: { mimeType: "image/png", data: pixel } }];
    const answer = await client().models.generateContent({
      model,
      contents: [{ role: "user", parts }],
      config: { systemInstruction: "Be brief." },
    });
    expect(answer.text).toBe("This is the sandbox. I see 1 image. You said: Look");
    expect(answer.modelVersion).toBe("sandbox-large-2026-10-01");
    expect(answer.candidates![0]!.finishReason).toBe("STOP");
  });

  it("streams thoughts in parts of their own, cumulative usage, and the finish reason in the last chunk", async () => {
    const script = { reasoning: "hmmm", reply: "Hi there", chunk_chars: 4 };
    const chunks = await chunksOf({ model, contents: scripted(script) });
    expect(chunks.map((chunk) => chunk.candidates![0]!.content!.parts![0])).toMatchObject([
      { text: "hmmm", thought: true },
      { text: "Hi t" },
      { text: "here" },
      { text: "", thoughtSignature: expect.any(String) as string },
    ]);
    expect(chunks.map((chunk) => chunk.usageMetadata!.candidatesTokenCount)).toEqual([
      undefined,
      1,
      2,
      2,
    ]);
    expect(chunks.map((chunk) => chunk.candidates![0]!.finishReason)).toEqual([
      undefined,
      undefined,
      undefined,
      "STOP",
    ]);
  });

  it("makes a tool round trip with parallel calls", async () => {
    const calls = [
      { name: "weather", arguments: { city: "Rome" } },
      { name: "weather", arguments: { city: "Oslo" } },
    ];
    const contents: Content[] = [
      { role: "user", parts: [{ text: scripted({ tool_calls: calls }) }] },
    ];
    const first = await client().models.generateContent({ model, contents, config: { tools } });
    expect(first.functionCalls!.map((call) => call.args)).toEqual([
      { city: "Rome" },
      { city: "Oslo" },
    ]);
    const responses = [{ output: "20 degrees" }, { degrees: 5 }];
    contents.push(first.candidates![0]!.content!, {
      role: "user",
      parts: responses.map((response) => ({ functionResponse: { name, response } })),
    });
    const second = await client().models.generateContent({ model, contents, config: { tools } });
    expect(second.text).toBe('This is the sandbox. The tool answered: 20 degrees; {"degrees":5}');
  });

  it("signs the calls of Gemini 3, and requires each signature back with its call", async () => {
    const config = {
      tools,
      toolConfig: { functionCallingConfig: { mode: FunctionCallingConfigMode.ANY } },
    };
    const body = { model: "gemini-3-sandbox", contents: "Weather in Rome?" };
    const [chunk] = await chunksOf({ ...body, config });
    const part = chunk!.candidates![0]!.content!.parts![0]!;
    expect(part.functionCall!.id).toBeTypeOf("string");
    const answer = (sent: object) =>
      client().models.generateContent({
        model: body.model,
        contents: [
          { role: "user", parts: [{ text: body.contents }] },
          { role: "model", parts: [sent] },
          { role: "user", parts: [{ functionResponse: { name, response: { output: "21" } } }] },
        ],
        config: { tools },
      });
    expect((await answer(part)).text).toContain("The tool answered: 21");
    expect((await answer({ ...part, thoughtSignature: sentinel })).text).toContain("21");
    await expect(answer({ functionCall: part.functionCall })).rejects.toThrow(
      "missing a thought_signature",
    );
    const other = { ...part, functionCall: { ...part.functionCall, args: { city: "Oslo" } } };
    await expect(answer(other)).rejects.toThrow("Corrupted thought signature");
  });

  it("refuses anything beside function responses from Gemini 3.6 on", async () => {
    const functionCall = { name, args: { city: "Rome" } };
    const functionResponse = { name, response: { output: "21" } };
    const ask = (version: string, ...turns: object[][]) =>
      client().models.generateContent({
        model: `gemini-${version}-flash`,
        contents: [
          { role: "user", parts: [{ text: "Weather in Rome?" }] },
          { role: "model", parts: [{ functionCall, thoughtSignature: sentinel }] },
          ...turns.map((parts) => ({ role: "user", parts })),
        ],
        config: { tools },
      });
    const text = { text: "Go on" };
    for (const version of ["3.6", "3.10", "4"])
      await expect(ask(version, [{ functionResponse }, text])).rejects.toThrow("a model turn");
    expect((await ask("3.5", [{ functionResponse }, text])).text).toContain("answered: 21");
    expect((await ask("3.6", [{ functionResponse }], [text])).functionCalls).toHaveLength(1);
  });

  it("honours stop sequences and maxOutputTokens, filters and blocks", async () => {
    const contents = scripted({ reply: "one two three" });
    const ask = (config: object) => client().models.generateContent({ model, contents, config });
    expect((await ask({ stopSequences: ["two"] })).text).toBe("one ");
    const cut = await ask({ maxOutputTokens: 1 });
    expect(cut.candidates![0]).toMatchObject({ finishReason: "MAX_TOKENS" });
    const blocked = await client().models.generateContent({
      model,
      contents: scripted({ finish: "blocked" }),
    });
    expect(blocked.candidates).toBeUndefined();
    expect(blocked.promptFeedback!.blockReason).toBe("SAFETY");
    const [filtered] = await chunksOf({
      model,
      contents: scripted({ reply: "", finish: "content_filter" }),
    });
    expect(filtered!.candidates![0]!.finishReason).toBe("SAFETY");
  });

  it("reports scripted usage with thoughts outside the candidates", async () => {
    const usage = { input: 100, output: 20, cache_read: 60, reasoning: 5 };
    const contents = scripted({ reply: "x", usage });
    const expected = {
      promptTokenCount: 100,
      cachedContentTokenCount: 60,
      candidatesTokenCount: 15,
      thoughtsTokenCount: 5,
      totalTokenCount: 120,
    };
    const whole = await client().models.generateContent({ model, contents });
    expect(whole.usageMetadata).toMatchObject(expected);
    expect((await chunksOf({ model, contents })).at(-1)!.usageMetadata).toMatchObject(expected);
    const unreported = await client().models.generateContent({
      model,
      contents: scripted({ usage: null }),
    });
    expect(unreported.usageMetadata).toBeUndefined();
  });

  it("counts tokens, and accepts fields in snake case and the key in the query", async () => {
    const contents = "How many tokens is this?";
    const { totalTokens } = await client().models.countTokens({ model, contents });
    const snake = {
      contents: [{ parts: [{ text: scripted({ reply: "abcdef" }) }] }],
      generation_config: { max_output_tokens: 1 },
    };
    const answer = await client().models.generateContent({ model, contents });
    expect(totalTokens).toBe(answer.usageMetadata!.promptTokenCount);
    const path = `/v1beta/models/${model}:generateContent`;
    const response = await raw(`${path}?key=sandbox-query-key`, snake, {});
    expect(await response.json()).toMatchObject({
      candidates: [{ content: { parts: [{ text: "abcd" }] }, finishReason: "MAX_TOKENS" }],
    });
    expect(sandbox.journal.list().at(-1)!.path).toBe(`/google${path}?key=sandbox...-key`);
  });

  it("streams a JSON array without alt=sse", async () => {
    const body = {
      contents: [{ parts: [{ text: scripted({ reply: "abcdef", chunk_chars: 3 }) }] }],
    };
    const path = `/v1beta/models/${model}:streamGenerateContent`;
    const response = await raw(path, body, { "x-goog-api-key": "sandbox" });
    expect(response.headers.get("content-type")).toBe("application/json");
    const chunks = (await response.json()) as { candidates: { finishReason?: string }[] }[];
    expect(chunks.map((chunk) => chunk.candidates[0]!.finishReason)).toEqual([
      undefined,
      undefined,
      "STOP",
    ]);
  });

  it("maps errors to ApiError, in a stream too, with the vendor's details", async () => {
    const contents = "Hi";
    await expect(client("wrong").models.generateContent({ model, contents })).rejects.toMatchObject(
      {
        constructor: ApiError,
        status: 400,
      },
    );
    const missing = await raw(`/v1beta/models/${model}:generateContent`, {}, {});
    expect(missing.status).toBe(401);
    const limited = scripted({ status: 429, retry_after: 34 });
    const response = await raw(
      `/v1beta/models/${model}:generateContent`,
      { contents: [{ parts: [{ text: limited }] }] },
      { "x-goog-api-key": "sandbox" },
    );
    expect(response.headers.get("retry-after")).toBe("34");
    expect(await response.json()).toMatchObject({
      error: {
        code: 429,
        status: "RESOURCE_EXHAUSTED",
        details: [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "34s" }],
      },
    });
    const broken = scripted({ reply: "abc", chunk_chars: 1, stream_error: 1 });
    await expect(chunksOf({ model, contents: broken })).rejects.toMatchObject({ status: 503 });
  });
});
