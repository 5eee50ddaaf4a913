/** The cases of each protocol's requests, as meaningful requests: every call has its result, and every result its call. */
import type { JsonObject, ProtocolName } from "../../src/protocols/index.ts";
import { items, text, wire, type Wire } from "../transcripts/readers/index.ts";
import { Matrix, withoutKinds, type Case, type Samples } from "./cases.ts";
import { SdkTypes } from "./sdk-types.ts";

const picture = "data:image/png;base64,iVBORw0KGgo=";
const schema = { type: "object", properties: { where: { type: "string" } } };

export const openaiTypes = () =>
  new SdkTypes(
    "openai/resources/shared.d.ts",
    "openai/resources/completions.d.ts",
    "openai/resources/chat/completions/completions.d.ts",
    "openai/resources/responses/responses.d.ts",
  );

const common: Samples = {
  call_id: ["call_1"],
  model: ["acme/talk"],
  stream: [false],
  name: ["look"],
  metadata: [{ some: "word" }],
};

/** The source of one protocol's cases. */
interface Source {
  readonly types: () => SdkTypes;
  readonly samples: Samples;
  /** The types to walk, each with a function that puts its values into a request. */
  readonly roots: readonly (readonly [name: string, whole: (value: unknown) => Wire])[];
  /** Additional samples: the roots are walked once with each. */
  readonly roles: readonly Samples[];
  /** Members of the request that the case does not set. */
  readonly basic: JsonObject;
  /** Members that the protocol requires, but the types do not. */
  readonly always: readonly string[];
  readonly settle: (body: Wire) => Wire;
}

const same = (value: unknown): Wire => value as Wire;
const call = { name: "look", arguments: "{}" };

/** Adds to each item of a list the items that must precede and follow it. */
const around =
  (place: string, of: (item: Wire) => readonly [before: Wire[], after: Wire[]]) =>
  (body: Wire): Wire => {
    const said = body[place];
    if (!Array.isArray(said)) return body;
    const turns = items(said).flatMap((item) => {
      const [before, after] = of(item);
      return [...before, item, ...after];
    });
    return { ...body, [place]: turns };
  };

const chatSettled = around("messages", (message) => {
  const { role, tool_calls: calls, tool_call_id: id } = message;
  const results = items(calls).map((one) => ({
    role: "tool",
    tool_call_id: one["id"],
    content: "done",
  }));
  const made = { id, type: "function", function: call };
  return [
    role === "tool" ? [{ role: "assistant", content: null, tool_calls: [made] }] : [],
    results,
  ];
});

const responsesSettled = around("input", ({ type, call_id }) => {
  const [, kind, isOutput] = /^(function_call|custom_tool_call)(_output)?$/.exec(text(type)) ?? [];
  if (kind === undefined) return [[], []];
  const made = { type: kind, call_id, ...call, input: "x" };
  const { arguments: _json, ...custom } = made;
  const { input: _text, ...ofFunction } = made;
  return isOutput === undefined
    ? [[], [{ type: `${kind}_output`, call_id, output: "done" }]]
    : [[kind === "function_call" ? ofFunction : custom], []];
});

const messagesSettled = around("messages", ({ content }) => {
  const ofType = (type: string) => items(content).filter((block) => block["type"] === type);
  const uses = ofType("tool_result").map(({ tool_use_id: id }) => ({
    type: "tool_use",
    id,
    name: "look",
    input: {},
  }));
  const results = ofType("tool_use").map(({ id }) => ({
    type: "tool_result",
    tool_use_id: id,
    content: "done",
  }));
  return [
    uses.length > 0 ? [{ role: "assistant", content: uses }] : [],
    results.length > 0 ? [{ role: "user", content: results }] : [],
  ];
});

const contentsSettled = around("contents", ({ parts }) => {
  const calls = items(parts).filter((part) => "functionCall" in part);
  const results = items(parts).filter((part) => "functionResponse" in part);
  return [
    results.length > 0
      ? [
          {
            role: "model",
            parts: results.map(() => ({ functionCall: { name: "look", args: {} } })),
          },
        ]
      : [],
    calls.length > 0
      ? [
          {
            role: "user",
            parts: calls.map(() => ({
              functionResponse: { name: "look", response: { output: "done" } },
            })),
          },
        ]
      : [],
  ];
});

const sources: Readonly<Record<ProtocolName, Source>> = {
  chat: {
    types: openaiTypes,
    samples: {
      ...common,
      "image_url.url": [picture],
      "input_audio.data": ["AAAA"],
      "function.parameters": [schema],
      "json_schema.schema": [schema],
      "file.file_data": ["data:text/plain;base64,aGVsbG8="],
      arguments: ['{"where":"box"}'],
    },
    roots: [["ChatCompletionCreateParamsBase", same]],
    roles: [{}],
    basic: {
      model: "acme/talk",
      messages: [{ role: "user", content: "Hi" }],
      tools: [{ type: "function", function: { name: "look", parameters: schema } }],
    },
    always: [],
    settle: chatSettled,
  },
  responses: {
    types: openaiTypes,
    samples: {
      ...common,
      image_url: [picture],
      file_data: ["data:text/plain;base64,aGVsbG8="],
      parameters: [schema],
      schema: [schema],
      arguments: ['{"where":"box"}'],
      result: ["iVBORw0KGgo="],
    },
    roots: [["ResponseCreateParamsBase", same]],
    roles: [{}],
    basic: {
      model: "acme/talk",
      input: [{ role: "user", content: "Hi" }],
      tools: [{ type: "function", name: "look", parameters: schema }],
    },
    always: ["call_id"],
    settle: responsesSettled,
  },
  messages: {
    types: () => new SdkTypes("@anthropic-ai/sdk/resources/beta/messages/messages.d.ts"),
    samples: {
      ...common,
      max_tokens: [2000],
      budget_tokens: [1024],
      "source.data": ["aGVsbG8="],
      "source.url": ["https://example.com/a.png"],
      input_schema: [schema],
      input: [{ where: "box" }],
    },
    roots: [["MessageCreateParamsBase", same]],
    roles: [{ "messages[].role": ["user"] }, { "messages[].role": ["assistant"] }],
    basic: {
      model: "acme/talk",
      max_tokens: 2000,
      messages: [{ role: "user", content: "Hi" }],
      tools: [{ name: "look", input_schema: schema }],
    },
    always: ["messages[].content"],
    settle: messagesSettled,
  },
  generate_content: {
    types: () => new SdkTypes("@google/genai/dist/genai.d.ts"),
    samples: {
      ...common,
      "inlineData.data": ["iVBORw0KGgo="],
      mimeType: ["image/png"],
      fileUri: ["https://generativelanguage.googleapis.com/v1beta/files/a"],
      parameters: [{ type: "OBJECT", properties: { where: { type: "STRING" } } }],
      parametersJsonSchema: [schema],
      responseSchema: [{ type: "OBJECT", properties: { where: { type: "STRING" } } }],
      responseJsonSchema: [schema],
      response: [{ output: "done" }],
      args: [{ where: "box" }],
    },
    roots: [
      ["Content", (value) => ({ contents: [value] })],
      ["Content", (value) => ({ systemInstruction: value })],
      ["Tool", (value) => ({ tools: [value] })],
      ["ToolConfig", (value) => ({ toolConfig: value })],
      ["GenerationConfig", (value) => ({ generationConfig: value })],
      ["SafetySetting", (value) => ({ safetySettings: [value] })],
    ],
    roles: [{ role: ["user"] }, { role: ["model"] }],
    basic: {
      contents: [{ role: "user", parts: [{ text: "Hi" }] }],
      tools: [{ functionDeclarations: [{ name: "look", parametersJsonSchema: schema }] }],
    },
    always: ["functionCall.name", "functionResponse.name", "functionDeclarations[].name"],
    settle: contentsSettled,
  },
};

/** Every case of a protocol's requests: complete bodies, with a member and without it. */
export function requestCases(protocol: ProtocolName): Case[] {
  const { types: read, samples, roots, roles, basic, always, settle } = sources[protocol];
  const types = read();
  const bodyOf = (value: Wire): Wire => settle({ ...wire(structuredClone(basic)), ...value });
  return roles.flatMap((role) =>
    roots.flatMap(([name, whole]) => {
      const [holder] = Object.keys(whole(0));
      const isList = Array.isArray(whole(0)[holder ?? ""]);
      const prefix = holder === undefined ? "" : `${holder}${isList ? "[]" : ""}.`;
      return new Matrix(types, { ...samples, ...role }, always).casesOf(name).map((one) => ({
        place: prefix + withoutKinds(one.place),
        value: one.value,
        without: bodyOf(whole(one.without)),
        with: bodyOf(whole(one.with)),
      }));
    }),
  );
}
