import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { GatewayError } from "../../../src/base/errors.ts";
import { noteParams } from "../../../src/base/notes.ts";
import { withDropped } from "../../../src/protocols/dropped-params.ts";
import type { JsonObject } from "../../../src/protocols/canonical/request.ts";
import { generateContentCodec } from "../../../src/protocols/generate-content/index.ts";

const { direct } = generateContentCodec;
const minimal: JsonObject = { contents: [{ role: "user", parts: [{ text: "hi" }] }] };
const config = (generationConfig: JsonObject): JsonObject => ({ ...minimal, generationConfig });
const part = (one: JsonObject): JsonObject => ({ contents: [{ role: "user", parts: [one] }] });

function faultOf(body: JsonObject): string {
  try {
    direct.validate(body);
    return "none";
  } catch (error) {
    const { code, param } = error as GatewayError;
    return `${code} ${param}`;
  }
}

/** A request of Gemini CLI, with its own fields beside the protocol's. */
const agentBody: JsonObject = {
  contents: [
    {
      role: "user",
      parts: [{ text: "list" }, { inlineData: { mimeType: "image/png", data: "AAAA" } }],
    },
    {
      role: "model",
      parts: [
        { text: "I list.", thought: true },
        {
          functionCall: { id: "c1", name: "ls", args: { path: "/" } },
          thoughtSignature: "skip_thought_signature_validator",
        },
      ],
    },
    {
      role: "user",
      parts: [{ functionResponse: { id: "c1", name: "ls", response: { output: "a b" } } }],
    },
  ],
  systemInstruction: { role: "user", parts: [{ text: "You are an agent." }] },
  tools: [
    { functionDeclarations: [{ name: "ls", parametersJsonSchema: { type: "object" } }] },
    { googleSearch: {} },
  ],
  toolConfig: { functionCallingConfig: { mode: "AUTO" } },
  safetySettings: [{ category: "HARM_CATEGORY_HARASSMENT", threshold: "BLOCK_NONE" }],
  generationConfig: {
    temperature: 1,
    topP: 0.95,
    topK: 64,
    thinkingConfig: { includeThoughts: true, thinkingBudget: -1 },
  },
  session_id: "s1",
};

describe("the validation of a generateContent body", () => {
  it.each([
    ["no contents", {}, "missing_required_parameter contents"],
    ["empty contents", { contents: [] }, "invalid_value contents"],
    ["contents of another type", { contents: "hi" }, "invalid_type contents"],
    [
      "an unknown role",
      { contents: [{ role: "assistant", parts: [] }] },
      "invalid_value contents[0].role",
    ],
    ["parts of another type", { contents: [{ parts: "hi" }] }, "invalid_type contents[0].parts"],
    ["text of another type", part({ text: 5 }), "invalid_type contents[0].parts[0].text"],
    [
      "data of another type",
      part({ inlineData: { data: 5 } }),
      "invalid_type contents[0].parts[0].inlineData.data",
    ],
    [
      "a call without a name",
      part({ functionCall: { args: {} } }),
      "missing_required_parameter contents[0].parts[0].functionCall.name",
    ],
    [
      "temperature above 2",
      config({ temperature: 2.1 }),
      "integer_above_max_value generationConfig.temperature",
    ],
    [
      "temperature as text",
      config({ temperature: "1" }),
      "invalid_type generationConfig.temperature",
    ],
    ["topP above 1", config({ topP: 1.1 }), "integer_above_max_value generationConfig.topP"],
    [
      "maxOutputTokens 0",
      config({ maxOutputTokens: 0 }),
      "integer_below_min_value generationConfig.maxOutputTokens",
    ],
    [
      "candidateCount 0",
      config({ candidateCount: 0 }),
      "integer_below_min_value generationConfig.candidateCount",
    ],
    [
      "six stop sequences",
      config({ stopSequences: ["1", "2", "3", "4", "5", "6"] }),
      "invalid_value generationConfig.stopSequences",
    ],
    [
      "a penalty out of range",
      config({ presencePenalty: 3 }),
      "integer_above_max_value generationConfig.presencePenalty",
    ],
    [
      "a budget below -1",
      config({ thinkingConfig: { thinkingBudget: -2 } }),
      "integer_below_min_value generationConfig.thinkingConfig.thinkingBudget",
    ],
    [
      "an unknown calling mode",
      { ...minimal, toolConfig: { functionCallingConfig: { mode: "SOME" } } },
      "invalid_value toolConfig.functionCallingConfig.mode",
    ],
    [
      "a declaration without a name",
      { ...minimal, tools: [{ functionDeclarations: [{}] }] },
      "missing_required_parameter tools[0].functionDeclarations[0].name",
    ],
    [
      "a fault in snake_case, by that name",
      { ...minimal, generation_config: { max_output_tokens: 0 } },
      "integer_below_min_value generation_config.max_output_tokens",
    ],
  ] as [string, JsonObject, string][])("ERR-05: refuses %s", (_, body, fault) => {
    expect(faultOf(body)).toBe(fault);
  });

  it("accepts an agent's request, both spellings, unknown fields and null", () => {
    expect(faultOf(agentBody)).toBe("none");
    expect(
      faultOf({ ...minimal, system_instruction: { parts: [{ text: "a" }] }, field_of_tomorrow: 1 }),
    ).toBe("none");
    expect(
      faultOf({ ...minimal, systemInstruction: "a", generationConfig: null, tools: null }),
    ).toBe("none");
    expect(faultOf(config({ stopSequences: ["1", "2", "3", "4", "5"], temperature: 2 }))).toBe(
      "none",
    );
  });
});

describe("the request of a direct generateContent route", () => {
  const upstream = { model: "vendor-model", stream: true };

  it("TXT-07: is the caller's own body; model and streaming are in the path", () => {
    const { body, notes } = direct.request(agentBody, upstream);
    expect(body).toEqual(agentBody);
    expect(notes).toEqual([]);
  });

  it("TXT-07 CONV-104: keeps any unknown field and candidateCount, and never changes the caller's object", () => {
    const extra = fc.dictionary(
      fc.string().map((key) => `x_${key}`),
      fc.jsonValue(),
    );
    fc.assert(
      fc.property(extra, (fields) => {
        const body = {
          ...config({ candidateCount: 2 }),
          ...(fields as JsonObject),
          serviceTier: "flex",
        };
        const before = structuredClone(body);
        const { serviceTier: _, ...rest } = before;
        expect(direct.request(body, upstream).body).toEqual(rest);
        expect(body).toEqual(before);
      }),
    );
  });

  it("TXT-18: loses serviceTier in both spellings, which is reported", () => {
    const { body, notes } = direct.request(
      { ...minimal, serviceTier: "flex", service_tier: "flex" },
      upstream,
    );
    expect(body).toEqual(minimal);
    expect(noteParams(notes).toSorted()).toEqual(["serviceTier", "service_tier"]);
  });

  it("loses a model in the body, which the upstream would read as another one", () => {
    expect(direct.request({ ...minimal, model: "models/acme/talk" }, upstream).body).toEqual(
      minimal,
    );
  });
});

describe("fields in both spellings", () => {
  it("BILL-23 TXT-14: keep the spelling that the reservation reads, and lose the other, which is reported", () => {
    const body: JsonObject = {
      ...minimal,
      system_instruction: { parts: [{ text: "y" }] },
      systemInstruction: { parts: [{ text: "x" }] },
      generation_config: { maxOutputTokens: 8000 },
      generationConfig: { max_output_tokens: 9000, maxOutputTokens: 1, top_p: 0.5, topP: null },
    };
    expect(direct.facts(body).maxOutputTokens).toBe(1);
    const sent = direct.request(body, { model: "gemini-3-pro", stream: false });
    expect(sent.body).toEqual({
      ...minimal,
      systemInstruction: { parts: [{ text: "x" }] },
      generationConfig: { maxOutputTokens: 1, top_p: 0.5, topP: null },
    });
    expect(noteParams(sent.notes)).toEqual([
      "system_instruction",
      "generation_config",
      "generationConfig.max_output_tokens",
    ]);
    expect(body["generation_config"]).toBeDefined();
  });
});

describe("the facts of a generateContent request", () => {
  it.each(["camel", "snake"])("are read in %s case", (spelling) => {
    const facts = {
      camel: { generationConfig: { maxOutputTokens: 50, candidateCount: 3 } },
      snake: { generation_config: { max_output_tokens: 50, candidate_count: 3 } },
    }[spelling]!;
    const body: JsonObject = JSON.parse(JSON.stringify({ ...minimal, ...facts }));
    expect(direct.facts(body)).toMatchObject({
      maxOutputTokens: 50,
      answers: 3,
    });
  });

  it("count all text, and media by number, not by their base64", () => {
    const text = "x".repeat(1000);
    const { inputCharacters, inputMedia, answers } = direct.facts({
      systemInstruction: { parts: [{ text }] },
      contents: [
        {
          parts: [
            { text },
            { inlineData: { mimeType: "image/png", data: "A".repeat(9000) } },
            {
              functionResponse: {
                name: "f",
                response: { output: text },
                parts: [{ inline_data: { data: "A".repeat(9000) } }],
              },
            },
          ],
        },
      ],
      tools: [{ functionDeclarations: [{ name: "f", description: text }] }],
    });
    expect(inputMedia).toBe(2);
    expect(answers).toBe(1);
    expect(inputCharacters).toBeGreaterThan(4000);
    expect(inputCharacters).toBeLessThan(4200);
  });
});

describe("a whole generateContent answer on a direct route", () => {
  const wire = (): JsonObject => ({
    candidates: [
      {
        content: {
          parts: [
            { text: "Hm. ", thought: true },
            { text: "Hi" },
            { functionCall: { name: "f", args: { a: 1 } } },
          ],
        },
        finishReason: "STOP",
      },
    ],
    modelVersion: "vendor-model-2026",
    responseId: "r",
  });

  it("TXT-10 TXT-11: has the canonical model id, and is otherwise unchanged", () => {
    expect(direct.answer(wire(), "acme/talk")).toEqual({
      ...wire(),
      modelVersion: "acme/talk",
    });
  });

  it("TXT-14 TXT-21: lists dropped parameters in gw.droppedParams", () => {
    expect(withDropped(direct.answer(wire(), "acme/talk"), ["serviceTier"])["gw"]).toEqual({
      droppedParams: ["serviceTier"],
    });
  });

  it("has text for an estimate", () => {
    expect(direct.text(wire())).toBe('Hm. Hif{"a":1}');
  });

  it.each([
    [
      "thoughts are added to the output, cached tokens are part of the input",
      {
        promptTokenCount: 100,
        candidatesTokenCount: 50,
        thoughtsTokenCount: 20,
        cachedContentTokenCount: 90,
        totalTokenCount: 170,
      },
      { inputTokens: 100, cacheReadTokens: 90, outputTokens: 70, reasoningTokens: 20 },
    ],
    [
      "BILL-01: cached audio is separate from cached text, and at most all cached tokens",
      {
        promptTokenCount: 100,
        cachedContentTokenCount: 40,
        candidatesTokenCount: 1,
        promptTokensDetails: [{ modality: "AUDIO", tokenCount: 60 }],
        cacheTokensDetails: [
          { modality: "TEXT", tokenCount: 10 },
          { modality: "AUDIO", tokenCount: 50 },
        ],
      },
      { cacheReadTokens: 40, audioInputTokens: 60, audioCacheReadTokens: 40 },
    ],
    [
      "tokens of the vendor's own tools are input",
      { promptTokenCount: 10, toolUsePromptTokenCount: 5, candidatesTokenCount: 1 },
      { inputTokens: 15, outputTokens: 1 },
    ],
    [
      "audio and images from the vendor's own tools count as such",
      {
        promptTokenCount: 100,
        toolUsePromptTokenCount: 50,
        candidatesTokenCount: 1,
        promptTokensDetails: [{ modality: "AUDIO", tokenCount: 60 }],
        toolUsePromptTokensDetails: [
          { modality: "TEXT", tokenCount: 15 },
          { modality: "AUDIO", tokenCount: 25 },
          { modality: "IMAGE", tokenCount: 10 },
        ],
      },
      { inputTokens: 150, audioInputTokens: 85, imageInputTokens: 10 },
    ],
    [
      "a missing output count is 0",
      { promptTokenCount: 10, totalTokenCount: 10 },
      { inputTokens: 10, outputTokens: 0 },
    ],
    [
      "a missing output count is the rest of the total",
      { promptTokenCount: 10, thoughtsTokenCount: 5, totalTokenCount: 20 },
      { outputTokens: 10 },
    ],
    [
      "T61: an explicit 0 is a count",
      { promptTokenCount: 0, candidatesTokenCount: 0 },
      { inputTokens: 0, outputTokens: 0 },
    ],
  ] as [string, JsonObject, object][])("%s", (_, usageMetadata, expected) => {
    expect(direct.usage({ usageMetadata })).toMatchObject(expected);
  });

  it("T48: has undefined usage, not zero, if the vendor reported none", () => {
    expect(direct.usage({})).toBeUndefined();
    expect(direct.usage({ usageMetadata: { trafficType: "ON_DEMAND" } })).toBeUndefined();
    expect(direct.usage({ usageMetadata: { totalTokenCount: 20 } })).toBeUndefined();
  });

  it.each([-5, 0.5, 1e300])("T51: has no usage if one of its counts is %j", (count) => {
    const usage = { promptTokenCount: 5, candidatesTokenCount: 5 };
    for (const field of [...Object.keys(usage), "thoughtsTokenCount", "cachedContentTokenCount"])
      expect(direct.usage({ usageMetadata: { ...usage, [field]: count } })).toBeUndefined();
  });
});
