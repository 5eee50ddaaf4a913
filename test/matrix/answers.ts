/** The cases of each protocol's whole answers, member by member. */
import type { JsonObject, ProtocolName } from "../../src/protocols/index.ts";
import { wire } from "../transcripts/readers/index.ts";
import { Matrix, type Case, type Samples } from "./cases.ts";
import { openaiTypes } from "./requests.ts";
import { SdkTypes } from "./sdk-types.ts";

const page = "https://example.com/a";
const common: Samples = {
  url: [page],
  uri: [page],
  name: ["look"],
  arguments: ['{"where":"box"}'],
  result: ["iVBORw0KGgo="],
  // These totals are larger than the counts within them.
  "usage.prompt_tokens": [100, 200],
  "usage.completion_tokens": [50, 60],
  "usage.input_tokens": [100, 200],
  "usage.output_tokens": [50, 60],
  cache_creation_input_tokens: [10, 20],
  "usageMetadata.promptTokenCount": [100, 200],
  "usageMetadata.candidatesTokenCount": [50, 60],
  "usageMetadata.cachedContentTokenCount": [20],
  "usageMetadata.cacheTokensDetails": [[{ modality: "AUDIO", tokenCount: 5 }]],
  "usageMetadata.toolUsePromptTokensDetails": [[{ modality: "AUDIO", tokenCount: 5 }]],
  "usageMetadata.promptTokensDetails": [[{ modality: "AUDIO", tokenCount: 5 }]],
  "usageMetadata.candidatesTokensDetails": [[{ modality: "IMAGE", tokenCount: 5 }]],
};

interface Source {
  readonly types: () => SdkTypes;
  readonly root: string;
  readonly samples: Samples;
  /** Members of the answer that the case does not set. */
  readonly basic: JsonObject;
  readonly always: readonly string[];
}

export const answerSources: Readonly<Record<ProtocolName, Source>> = {
  chat: {
    types: openaiTypes,
    root: "ChatCompletion",
    samples: { ...common, "choices[].index": [0], finish_reason: ["stop"] },
    basic: {
      choices: [{ index: 0, message: { role: "assistant", content: "Hi" }, finish_reason: "stop" }],
    },
    always: [],
  },
  responses: {
    types: openaiTypes,
    root: "Response",
    samples: { ...common, status: ["completed"], error: [null] },
    basic: {
      status: "completed",
      output: [
        {
          type: "message",
          id: "msg_1",
          role: "assistant",
          status: "completed",
          content: [{ type: "output_text", text: "Hi", annotations: [] }],
        },
      ],
    },
    always: [],
  },
  messages: {
    types: () => new SdkTypes("@anthropic-ai/sdk/resources/beta/messages/messages.d.ts"),
    root: "BetaMessage",
    samples: { ...common, input: [{ where: "box" }] },
    basic: {
      role: "assistant",
      content: [{ type: "text", text: "Hi", citations: null }],
      stop_reason: "end_turn",
    },
    always: [],
  },
  generate_content: {
    types: () => new SdkTypes("@google/genai/dist/genai.d.ts"),
    root: "GenerateContentResponse",
    samples: { ...common, "inlineData.data": ["iVBORw0KGgo="], mimeType: ["image/png"] },
    basic: {
      candidates: [
        { index: 0, content: { role: "model", parts: [{ text: "Hi" }] }, finishReason: "STOP" },
      ],
    },
    always: [
      "functionCall.name",
      "candidates[].content",
      "content.parts",
      "usageMetadata.promptTokenCount",
      "usageMetadata.candidatesTokenCount",
      "usageMetadata.cachedContentTokenCount",
    ],
  },
};

/** Every case of a protocol's whole answers, with a member and without it. */
export function answerCases(protocol: ProtocolName): Case[] {
  const { types, root, samples, basic, always } = answerSources[protocol];
  const bodyOf = (value: unknown) => ({ ...wire(structuredClone(basic)), ...wire(value) });
  return new Matrix(types(), samples, always).casesOf(root).map((one) => ({
    ...one,
    without: bodyOf(one.without),
    with: bodyOf(one.with),
  }));
}
