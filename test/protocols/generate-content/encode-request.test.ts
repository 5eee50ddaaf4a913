import { describe, expect, it } from "vitest";
import type {
  CanonicalRequest,
  JsonObject,
  Part,
} from "../../../src/protocols/canonical/request.ts";
import { generateContentCodec } from "../../../src/protocols/generate-content/index.ts";

const encode = (request: Partial<CanonicalRequest>, model = "gemini-3-pro") =>
  generateContentCodec.encodeRequest({ ...empty, ...request }, model);
const empty: CanonicalRequest = {
  protocol: "chat",
  model: "acme/talk",
  stream: false,
  messages: [{ role: "user", content: [{ type: "text", text: "hi" }] }],
  native: [],
  names: {},
};
const turn = (role: "user" | "assistant", ...content: Part[]) => ({ role, content });
const partsOf = (body: JsonObject, index = 0) =>
  (body["contents"] as unknown as { parts: JsonObject[] }[])[index]!.parts;
const call = (id: string, fields: object = {}): Part => ({
  type: "tool_call",
  id,
  name: "look",
  arguments: "{}",
  ...fields,
});

describe("the writer of generateContent requests", () => {
  it("CONV-501 CONV-708: writes system turns as the instruction, assistant turns as the model's", () => {
    const body = encode({
      messages: [
        { role: "system", content: [{ type: "text", text: "Be brief." }] },
        ...empty.messages,
        turn("assistant", { type: "text", text: "Hi" }),
      ],
    });
    expect(body).toEqual({
      systemInstruction: { parts: [{ text: "Be brief." }] },
      contents: [
        { role: "user", parts: [{ text: "hi" }] },
        { role: "model", parts: [{ text: "Hi" }] },
      ],
    });
  });

  it("CONV-502 CONV-503 CONV-504 CONV-505 CONV-507: uses the protocol's own parameter names", () => {
    const { generationConfig } = encode({
      maxOutputTokens: 50,
      temperature: 1.7,
      topP: 1,
      topK: 5,
      stop: ["a"],
      seed: 7,
      presencePenalty: 1,
      frequencyPenalty: -1,
    });
    expect(generationConfig).toEqual({
      maxOutputTokens: 50,
      temperature: 1.7,
      topP: 1,
      topK: 5,
      stopSequences: ["a"],
      seed: 7,
      presencePenalty: 1,
      frequencyPenalty: -1,
    });
  });

  it("CONV-508 T23: writes schemas without the vendor's refused keywords, with references resolved", () => {
    const { tools } = encode({
      tools: [
        { name: "go" },
        {
          name: "look",
          description: "Looks",
          parameters: {
            $schema: "https://json-schema.org/draft/2020-12/schema",
            $comment: "x",
            type: "object",
            additionalProperties: false,
            properties: {
              uniqueItems: { type: "array", uniqueItems: true, items: { $ref: "#/$defs/place" } },
              kind: { const: "shelf" },
              both: {
                allOf: [
                  { type: "object", properties: { a: { type: "string" } } },
                  { properties: { b: { type: "number" } } },
                ],
              },
              tree: { $ref: "#/$defs/tree" },
            },
            required: ["kind"],
            propertyNames: { pattern: "^a" },
            $defs: {
              place: { type: "string", enumDescriptions: ["x"], enum: ["shelf"] },
              tree: { type: "object", properties: { child: { $ref: "#/$defs/tree" } } },
            },
          },
        },
      ],
    });
    const [{ functionDeclarations }] = tools as unknown as [{ functionDeclarations: JsonObject[] }];
    expect(functionDeclarations[0]).toEqual({ name: "go" });
    expect(functionDeclarations[1]).toMatchObject({
      name: "look",
      description: "Looks",
      parametersJsonSchema: {
        type: "object",
        additionalProperties: false,
        properties: {
          uniqueItems: { type: "array", items: { type: "string", enum: ["shelf"] } },
          kind: { enum: ["shelf"] },
          both: { type: "object", properties: { a: { type: "string" }, b: { type: "number" } } },
          tree: { type: "object", properties: { child: {} } },
        },
        required: ["kind"],
      },
    });
    expect(JSON.stringify(tools)).not.toMatch(
      /\$|propertyNames|enumDescriptions|"uniqueItems":true/,
    );
  });

  it("T23: resolves a reference within allOf, including a circular one", () => {
    const parameters: JsonObject = {
      type: "object",
      properties: { place: { allOf: [{ $ref: "#/$defs/place" }], description: "Where" } },
      $defs: { place: { type: "string", allOf: [{ $ref: "#/$defs/place" }, { enum: ["shelf"] }] } },
    };
    const { tools } = encode({ tools: [{ name: "look", parameters }] });
    expect(tools).toMatchObject([
      {
        functionDeclarations: [
          {
            parametersJsonSchema: {
              properties: { place: { type: "string", enum: ["shelf"], description: "Where" } },
            },
          },
        ],
      },
    ]);
  });

  it("T23: limits the size of references that expand to billions", () => {
    const $defs: JsonObject = { d0: { type: "string" } };
    for (let level = 1; level <= 40; level += 1) {
      const below = { $ref: `#/$defs/d${level - 1}` };
      $defs[`d${level}`] = { type: "object", properties: { a: below, b: below } };
    }
    const parameters = { type: "object", properties: { top: { $ref: "#/$defs/d40" } }, $defs };
    const body = encode({ tools: [{ name: "look", parameters }] });
    expect(JSON.stringify(body).length).toBeLessThan(1_000_000);
  });

  it.each([
    [{ type: "auto" }, { mode: "AUTO" }],
    [{ type: "none" }, { mode: "NONE" }],
    [{ type: "required" }, { mode: "ANY" }],
    [
      { type: "tool", name: "go" },
      { mode: "ANY", allowedFunctionNames: ["go"] },
    ],
    [
      { type: "allowed", mode: "auto", names: ["a"] },
      { mode: "VALIDATED", allowedFunctionNames: ["a"] },
    ],
  ] as const)(
    "CONV-509 T29: writes the tool choice %o as %o",
    (toolChoice, functionCallingConfig) => {
      expect(encode({ toolChoice })["toolConfig"]).toEqual({ functionCallingConfig });
    },
  );

  it.each([
    [{ type: "json" }, { responseMimeType: "application/json" }],
    [
      { type: "json_schema", name: "n", schema: { type: "object", $schema: "x" } },
      { responseMimeType: "application/json", responseJsonSchema: { type: "object" } },
    ],
  ] as const)("CONV-511: writes the output format %o as %o", (outputFormat, config) => {
    expect(encode({ outputFormat })["generationConfig"]).toEqual(config);
  });

  it.each([
    [{ effort: "none" }, "gemini-3-pro", { thinkingBudget: 0 }],
    [{ effort: "low" }, "gemini-3-pro", { thinkingLevel: "LOW" }],
    [{ effort: "low" }, "gemini-2.5-pro", { thinkingBudget: 1024 }],
    [{ effort: "xhigh" }, "gemini-2.5-pro", { thinkingBudget: 24_576 }],
    [{ budget: "dynamic" }, "gemini-2.5-pro", { thinkingBudget: -1 }],
    [{ summary: "concise" }, "gemini-3-pro", { includeThoughts: true }],
    [{ summary: "detailed", includeThoughts: false }, "gemini-3-pro", { includeThoughts: false }],
  ] as const)(
    "CONV-512 CONV-513 CONV-514: writes the reasoning %o for %s as %o",
    (reasoning, model, thinkingConfig) => {
      expect(encode({ reasoning }, model)["generationConfig"]).toEqual({ thinkingConfig });
    },
  );

  it("CONV-517 CONV-518: sends base64 and file-store addresses, and no public addresses", () => {
    const media = (url: string): Part => ({
      type: "media",
      media: "image",
      source: { kind: "url", url, mediaType: "image/png" },
    });
    const stored = "https://generativelanguage.googleapis.com/v1beta/files/abc";
    const body = encode({
      messages: [
        turn(
          "user",
          {
            type: "media",
            media: "image",
            source: { kind: "base64", mediaType: "image/png", data: "AAAA" },
          },
          media("gs://bucket/a.png"),
          media(stored),
          media("https://example.com/files/a.png"),
        ),
      ],
    });
    expect(partsOf(body)).toEqual([
      { inlineData: { mimeType: "image/png", data: "AAAA" } },
      { fileData: { mimeType: "image/png", fileUri: "gs://bucket/a.png" } },
      { fileData: { mimeType: "image/png", fileUri: stored } },
    ]);
  });

  it("T27: puts media from tools after the results for older models that take none in results", () => {
    const picture = (data: string): Part => ({
      type: "media",
      media: "image",
      source: { kind: "base64", mediaType: "image/png", data },
    });
    const result = (callId: string, ...content: Part[]): Part => ({
      type: "tool_result",
      callId,
      content,
    });
    const messages = [
      turn("assistant", call("a"), call("b", { name: "draw" })),
      turn(
        "user",
        result("a", { type: "text", text: "A shelf." }, picture("c2hlbGY=")),
        result("b", picture("Y2F0")),
        { type: "text", text: "Which is it?" },
      ),
    ];
    const inline = (data: string) => ({ inlineData: { mimeType: "image/png", data } });
    const [, ...older] = encode({ messages }, "gemini-2.5-pro")["contents"] as JsonObject[];
    expect(older).toEqual([
      {
        role: "user",
        parts: [
          { functionResponse: { id: "a", name: "look", response: { output: "A shelf." } } },
          { functionResponse: { id: "b", name: "draw", response: { output: "" } } },
        ],
      },
      {
        role: "user",
        parts: [
          { text: "Returned by look:" },
          inline("c2hlbGY="),
          { text: "Returned by draw:" },
          inline("Y2F0"),
          { text: "Which is it?" },
        ],
      },
    ]);
    const [, results, words] = encode({ messages })["contents"] as JsonObject[];
    expect(results).toMatchObject({
      parts: [{ functionResponse: { parts: [inline("c2hlbGY=")] } }, { functionResponse: {} }],
    });
    expect(words).toEqual({ role: "user", parts: [{ text: "Which is it?" }] });
  });

  it("T22 T26 T27: writes results with the name of their call, an object, and their images", () => {
    const image = { kind: "base64", mediaType: "image/png", data: "AAAA" } as const;
    const result = (callId: string, content: Part[], isError?: boolean): Part => ({
      type: "tool_result",
      callId,
      content,
      isError,
    });
    const body = encode({
      messages: [
        turn("assistant", call("toolu_1"), call("toolu_2")),
        turn(
          "user",
          result("toolu_1", [
            { type: "text", text: "dark" },
            { type: "media", media: "image", source: image },
          ]),
          result("toolu_2", [{ type: "text", text: '{"a":1}' }]),
          result("toolu_3", [{ type: "text", text: "no" }], true),
        ),
      ],
    });
    expect(partsOf(body, 1)).toEqual([
      {
        functionResponse: {
          id: "toolu_1",
          name: "look",
          response: { output: "dark" },
          parts: [{ inlineData: { mimeType: "image/png", data: "AAAA" } }],
        },
      },
      { functionResponse: { id: "toolu_2", name: "look", response: { a: 1 } } },
      { functionResponse: { id: "toolu_3", name: "toolu_3", response: { error: "no" } } },
    ]);
  });

  const own = { protocol: "generate_content", value: "real" } as const;
  const foreign = { protocol: "messages", value: "other" } as const;
  const skip = "skip_thought_signature_validator";
  it.each([
    [
      "a placeholder on the first call of a turn from another protocol",
      "gemini-3-pro",
      [call("a"), call("b")],
      [skip, undefined],
    ],
    [
      "a placeholder for another protocol's signature",
      "gemini-3-pro",
      [call("a", { signature: foreign })],
      [skip],
    ],
    ["a real signature, unchanged", "gemini-3-pro", [call("a", { signature: own })], ["real"]],
    ["none for a model that needs none", "gemini-2.5-pro", [call("a")], [undefined]],
  ] as [string, string, Part[], unknown[]][])(
    "T38: writes the right signature: %s",
    (_, model, content, expected) => {
      const body = encode({ messages: [turn("assistant", ...content)] }, model);
      expect(partsOf(body).map((part) => part["thoughtSignature"])).toEqual(expected);
    },
  );

  it("T38: writes a separate signature in a separate part", () => {
    const body = encode({
      messages: [
        turn(
          "assistant",
          { type: "text", text: "Hi" },
          { type: "reasoning", text: "", signature: own },
          call("gc_r_1"),
        ),
      ],
    });
    expect(partsOf(body)).toEqual([
      { text: "Hi" },
      { text: "", thoughtSignature: "real" },
      { functionCall: { name: "look", args: {} }, thoughtSignature: skip },
    ]);
  });

  it("does not send another protocol's thoughts, or empty text", () => {
    const body = encode({
      messages: [
        turn(
          "assistant",
          { type: "reasoning", text: "Hm.", signature: foreign },
          { type: "text", text: "" },
          { type: "refusal", text: "No." },
        ),
      ],
    });
    expect(partsOf(body)).toEqual([{ text: "No." }]);
  });
});
