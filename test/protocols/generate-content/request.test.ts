import { describe, expect, it } from "vitest";
import type {
  CanonicalRequest,
  Json,
  JsonObject,
} from "../../../src/protocols/canonical/request.ts";
import { generateContentCodec } from "../../../src/protocols/generate-content/index.ts";

const address = { model: "acme/talk", stream: true };
const decode = (body: object): CanonicalRequest =>
  generateContentCodec.decodeRequest({ contents: [user({ text: "hi" })], ...body }, address);
const encode = (request: CanonicalRequest) =>
  generateContentCodec.encodeRequest(request, "gemini-3-pro");
const user = (...parts: object[]) => ({ role: "user", parts }) as JsonObject;
const model = (...parts: object[]) => ({ role: "model", parts }) as JsonObject;

describe("the reader of generateContent requests", () => {
  it("reads every part of a conversation with tools", () => {
    const { messages, native, ...rest } = decode({
      systemInstruction: { parts: [{ text: "Be brief." }] },
      contents: [
        user(
          { text: "Look" },
          { inlineData: { mimeType: "image/png", data: "AAAA" } },
          { inline_data: { mime_type: "audio/wav", data: "BBBB" } },
          { fileData: { mimeType: "video/mp4", fileUri: "gs://b/v.mp4" } },
          { fileData: { fileUri: "files/x" } },
        ),
        model(
          { text: "Hm.", thought: true, thoughtSignature: "c2ln" },
          {
            functionCall: { id: "c1", name: "look", args: { where: "shelf" } },
            thoughtSignature: "c2ln",
          },
        ),
        user({
          functionResponse: {
            id: "c1",
            name: "look",
            response: { error: "dark" },
            parts: [{ inlineData: { mimeType: "image/png", data: "CCCC" } }],
          },
        }),
      ],
    });
    const signature = { protocol: "generate_content", value: "c2ln" };
    expect(rest).toMatchObject({ protocol: "generate_content", model: "acme/talk", stream: true });
    expect(native).toEqual([]);
    expect(messages).toEqual([
      { role: "system", content: [{ type: "text", text: "Be brief." }] },
      {
        role: "user",
        content: [
          { type: "text", text: "Look" },
          {
            type: "media",
            media: "image",
            source: { kind: "base64", mediaType: "image/png", data: "AAAA" },
          },
          {
            type: "media",
            media: "audio",
            source: { kind: "base64", mediaType: "audio/wav", data: "BBBB" },
          },
          {
            type: "media",
            media: "video",
            source: { kind: "url", url: "gs://b/v.mp4", mediaType: "video/mp4" },
          },
          { type: "media", media: "file", source: { kind: "url", url: "files/x" } },
        ],
      },
      {
        role: "assistant",
        content: [
          { type: "reasoning", text: "Hm.", signature },
          { type: "tool_call", id: "c1", name: "look", arguments: '{"where":"shelf"}', signature },
        ],
      },
      {
        role: "user",
        content: [
          {
            type: "tool_result",
            callId: "c1",
            name: "look",
            isError: true,
            content: [
              { type: "text", text: "dark" },
              {
                type: "media",
                media: "image",
                source: { kind: "base64", mediaType: "image/png", data: "CCCC" },
              },
            ],
          },
        ],
      },
    ]);
  });

  it("T21 T22: gives unique ids to calls without ids, and matches results by name and order", () => {
    const call = (name: string) => ({ functionCall: { name } });
    const result = (name: string, output: string) => ({
      functionResponse: { name, response: { output } },
    });
    const { messages } = decode({
      contents: [
        model(call("a"), call("b"), call("a")),
        user(result("a", "first a"), result("a", "second a"), result("b", "b")),
        model(call("a")),
        user(result("a", "third a"), result("z", "never asked")),
      ],
    });
    const parts = messages.flatMap(({ content }) => content);
    const calls = parts.flatMap((part) => (part.type === "tool_call" ? [part] : []));
    expect(new Set(calls.map(({ id }) => id)).size).toBe(4);
    const answered = parts.flatMap((part) => (part.type === "tool_result" ? [part] : []));
    const [a1, b, a2, a3] = calls.map(({ id }) => id);
    expect(answered.map(({ callId, content }) => [callId, content[0]])).toEqual([
      [a1, { type: "text", text: "first a" }],
      [a2, { type: "text", text: "second a" }],
      [b, { type: "text", text: "b" }],
      [a3, { type: "text", text: "third a" }],
      [expect.stringMatching(/lost$/), { type: "text", text: "never asked" }],
    ]);
    expect(decode({ contents: [model(call("a"))] }).messages).toEqual(
      decode({ contents: [model(call("a"))] }).messages,
    );
  });

  it("T22: matches a result with an id to the call of its name without one, and to no other", () => {
    const { messages } = decode({
      contents: [
        user({ text: "hi" }),
        model({ functionCall: { id: "own", name: "f" } }, { functionCall: { name: "f" } }),
        user(
          { functionResponse: { id: "new", name: "f", response: { output: "1" } } },
          { functionResponse: { id: "own", name: "f", response: { output: "2" } } },
        ),
      ],
    });
    const [, calls, results] = messages;
    const ids = calls!.content.map((part) => (part.type === "tool_call" ? part.id : undefined));
    expect(results!.content).toMatchObject([{ callId: ids[1] }, { callId: "own" }]);
  });

  it("T22: keeps a result of any shape completely", () => {
    const response = { temperature: { value: 21, unit: "C" }, output: "warm" };
    const { messages } = decode({
      contents: [user({ functionResponse: { name: "f", response } })],
    });
    const [part] = messages[0]!.content;
    expect(part).toMatchObject({ content: [{ type: "text", text: JSON.stringify(response) }] });
  });

  it.each([
    ["camelCase", "generationConfig", (name: string) => name],
    [
      "snake_case",
      "generation_config",
      (name: string) => name.replace(/[A-Z]/g, (one) => `_${one.toLowerCase()}`),
    ],
  ])("reads the parameters in %s, and keeps the caller's spelling", (_, config, spell) => {
    const spelled = (fields: object) =>
      Object.fromEntries(Object.entries(fields).map(([name, value]) => [spell(name), value]));
    const request = decode({
      [config]: spelled({
        maxOutputTokens: 50,
        temperature: 1.7,
        topP: 0.9,
        topK: 5,
        stopSequences: ["END"],
        seed: 7,
        presencePenalty: 1,
        frequencyPenalty: -1,
        thinkingConfig: spelled({ includeThoughts: true, thinkingLevel: "LOW" }),
        candidateCount: 1,
      }),
    });
    expect(request).toMatchObject({
      maxOutputTokens: 50,
      temperature: 1.7,
      topP: 0.9,
      topK: 5,
      stop: ["END"],
      seed: 7,
      presencePenalty: 1,
      frequencyPenalty: -1,
      reasoning: { includeThoughts: true, effort: "low" },
      native: [{ param: `${config}.${spell("candidateCount")}`, value: 1 }],
    });
    expect(request.names).toMatchObject({
      maxOutputTokens: `${config}.${spell("maxOutputTokens")}`,
      stop: `${config}.${spell("stopSequences")}`,
      "reasoning.effort": `${config}.${spell("thinkingConfig")}.${spell("thinkingLevel")}`,
    });
  });

  it.each([
    [-1, "dynamic"],
    [0, 0],
    [2048, 2048],
  ])("reads the thinking budget %s as %s", (thinkingBudget, budget) => {
    const request = decode({ generationConfig: { thinkingConfig: { thinkingBudget } } });
    expect(request.reasoning).toEqual({ budget });
  });

  it.each([
    [{ responseMimeType: "application/json" }, { type: "json" }],
    [{ responseMimeType: "text/plain" }, { type: "text" }],
    [
      { responseMimeType: "application/json", responseJsonSchema: { type: "object" } },
      { type: "json_schema", schema: { type: "object" } },
    ],
    [
      {
        responseMimeType: "application/json",
        responseSchema: {
          type: "OBJECT",
          properties: { TYPE: { type: "STRING", nullable: true } },
        },
      },
      {
        type: "json_schema",
        schema: { type: "object", properties: { TYPE: { type: ["string", "null"] } } },
      },
    ],
  ])("CONV-211: reads the output format %o", (generationConfig, format) => {
    const request = decode({ generationConfig });
    expect(request.outputFormat).toEqual(format);
    expect(request.native).toEqual([]);
  });

  it.each([
    [{ mode: "AUTO" }, { type: "auto" }],
    [{ mode: "NONE" }, { type: "none" }],
    [{ mode: "ANY" }, { type: "required" }],
    [
      { mode: "ANY", allowedFunctionNames: ["a"] },
      { type: "tool", name: "a" },
    ],
    [
      { mode: "ANY", allowedFunctionNames: ["a", "b"] },
      { type: "allowed", mode: "required", names: ["a", "b"] },
    ],
    [
      { mode: "VALIDATED", allowedFunctionNames: ["a"] },
      { type: "allowed", mode: "auto", names: ["a"] },
    ],
  ])("T29: reads the calling config %o", (functionCallingConfig, choice) => {
    const request = decode({ toolConfig: { functionCallingConfig } });
    expect(request.toolChoice).toEqual(choice);
    expect(request.names.toolChoice).toBe("toolConfig.functionCallingConfig");
  });

  it.each([
    [{ mode: "ANY", streamFunctionCallArguments: true }, ["streamFunctionCallArguments"]],
    [{ mode: "VALIDATED" }, ["mode"]],
    [{ mode: "AUTO", allowed_function_names: ["a"] }, ["allowed_function_names"]],
  ])(
    "T33: keeps the members of the calling config %o that only this protocol has",
    (calling, lost) => {
      const { native } = decode({ toolConfig: { functionCallingConfig: calling } });
      const prefix = "toolConfig.functionCallingConfig";
      expect(native.map(({ param }) => param)).toEqual(lost.map((name) => `${prefix}.${name}`));
    },
  );

  it("reads a single object as a list of one, as in Google's samples", () => {
    const declaration = { name: "f" };
    const lists = decode({
      system_instruction: { parts: [{ text: "Be a cat." }] },
      contents: [user({ text: "Hello" })],
      tools: [{ function_declarations: [declaration] }],
    });
    const single = decode({
      system_instruction: { parts: { text: "Be a cat." } },
      contents: { role: "user", parts: { text: "Hello" } },
      tools: { function_declarations: declaration },
    });
    expect(single).toEqual(lists);
    const size = (contents: Json) =>
      generateContentCodec.direct.facts({ contents }).inputCharacters;
    expect(size({ parts: { text: "Hello" } })).toBe(size([{ parts: [{ text: "Hello" }] }]));
  });

  it("reads a schema's keywords in both spellings, and numbers also as text", () => {
    const parameters = {
      type: "OBJECT",
      properties: {
        any_of: {
          any_of: [
            { type: "STRING", min_length: "2" },
            { type: "ARRAY", maxItems: "5" },
          ],
        },
      },
    };
    const { tools } = decode({ tools: [{ functionDeclarations: [{ name: "f", parameters }] }] });
    expect(tools![0]!.parameters).toEqual({
      type: "object",
      properties: {
        any_of: {
          anyOf: [
            { type: "string", minLength: 2 },
            { type: "array", maxItems: 5 },
          ],
        },
      },
    });
  });

  it("T33: keeps fields that only this protocol has, under the caller's names", () => {
    const { native, tools } = decode({
      contents: [user({ text: "a", videoMetadata: { fps: 1 } }, { executableCode: { code: "1" } })],
      tools: [
        { googleSearch: {} },
        {
          function_declarations: [
            { name: "f", parameters: { type: "OBJECT" }, behavior: "BLOCKING" },
          ],
        },
      ],
      toolConfig: { retrievalConfig: {} },
      safetySettings: [],
      generationConfig: { responseModalities: ["TEXT"] },
      cachedContent: "cachedContents/1",
    });
    expect(native.map(({ param }) => param)).toEqual([
      "contents[0].parts[0].videoMetadata",
      "contents[0].parts[1]",
      "generationConfig.responseModalities",
      "tools[0].googleSearch",
      "tools[1].function_declarations[0].behavior",
      "toolConfig.retrievalConfig",
      "safetySettings",
      "cachedContent",
    ]);
    expect(tools).toEqual([{ name: "f", parameters: { type: "object" } }]);
  });

  it("names the field of a mistake", () => {
    expect(() => decode({ generationConfig: { topP: 2 } })).toThrow(
      expect.objectContaining({ param: "generationConfig.topP" }),
    );
  });
});

describe("a generateContent request through the canonical form and back", () => {
  it("is unchanged for an agent's request, except filtered fields", () => {
    const body: JsonObject = {
      contents: [
        user(
          { text: "look" },
          {
            fileData: { mimeType: "video/mp4", fileUri: "https://youtu.be/x" },
            videoMetadata: { fps: 1 },
          },
        ),
        model(
          { text: "Hm.", thought: true, thoughtSignature: "YQ" },
          { text: "I look.", thoughtSignature: "Yg" },
          { functionCall: { name: "look", args: { where: "shelf" } }, thoughtSignature: "Yw" },
          { functionCall: { id: "c2", name: "look", args: {} } },
        ),
        user(
          { functionResponse: { name: "look", response: { output: "dark" } } },
          { functionResponse: { id: "c2", name: "look", response: { a: { b: 1 } } } },
        ),
        model({ text: "Done." }, { text: "", thoughtSignature: "ZA" }),
      ],
      systemInstruction: { parts: [{ text: "You are an agent." }] },
      tools: [
        {
          functionDeclarations: [
            { name: "look", description: "Looks", parametersJsonSchema: { type: "object" } },
          ],
        },
        { googleSearch: {} },
      ],
      toolConfig: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["look"] } },
      generationConfig: {
        maxOutputTokens: 50,
        temperature: 1,
        responseMimeType: "application/json",
        responseJsonSchema: { type: "object" },
        thinkingConfig: { thinkingBudget: -1, includeThoughts: true },
        responseModalities: ["TEXT"],
      },
      safetySettings: [{ category: "HARM_CATEGORY_HARASSMENT", threshold: "BLOCK_NONE" }],
      store: false,
    };
    const request = generateContentCodec.decodeRequest({ ...body, service_tier: "flex" }, address);
    expect(encode(request)).toEqual(body);
  });
});
