/** `:generateContent` and `:streamGenerateContent` as the vendor speaks them: parts, thoughts apart, usage in every chunk. */
import { newId } from "../../src/base/ids.ts";
import type { Answer, AnswerUsage, ToolCall } from "../answer.ts";
import { pieces } from "../answer.ts";
import { textOf, tokensOf, type Question, type Turn } from "../conversation.ts";
import type { Json } from "../json.ts";
import { asList, asNumber, asObject, asText } from "../json.ts";
import { seal } from "../seal.ts";
import type { Failure } from "../refusal.ts";
import type { Call, Endpoint, Frame } from "../vendor.ts";
import { googleError } from "./errors.ts";
import { camelFields } from "./fields.ts";
import { generateContentStrict, sealedCall } from "./generate-content-strict.ts";

const finishReasons: Readonly<Record<string, string>> = {
  stop: "STOP",
  tool_calls: "STOP",
  length: "MAX_TOKENS",
  content_filter: "SAFETY",
};

const isImage = (part: Json): boolean => {
  const media = asObject(part["inlineData"] ?? part["fileData"]);
  return asText(media["mimeType"]).startsWith("image/");
};

function readTurn(content: Json): Turn {
  const parts = asList(content["parts"]).map(asObject);
  const spoken = parts.filter((part) => part["thought"] !== true);
  const responses = parts.filter((part) => "functionResponse" in part);
  return {
    role: content["role"] === "model" ? "assistant" : "user",
    text: textOf(spoken),
    images: parts.filter(isImage).length,
    calls: parts.filter((part) => "functionCall" in part).length,
    results: responses.map(({ functionResponse }) => {
      const { response } = asObject(functionResponse);
      const { output } = asObject(response);
      return typeof output === "string" ? output : JSON.stringify(response ?? null);
    }),
  };
}

function readToolChoice(config: Json): Question["toolChoice"] {
  const [name] = asList(config["allowedFunctionNames"]);
  if (config["mode"] === "NONE") return "none";
  if (config["mode"] !== "ANY") return "auto";
  return typeof name === "string" ? { name } : "required";
}

function readFormat(config: Json): Question["json"] {
  if (config["responseMimeType"] !== "application/json") return undefined;
  const schema = config["responseJsonSchema"] ?? config["responseSchema"];
  return schema === undefined ? {} : { schema: asObject(schema) };
}

export function question(call: Call): Question {
  const body = camelFields(call.body);
  const config = asObject(body["generationConfig"]);
  const turns = asList(body["contents"]).map((content) => readTurn(asObject(content)));
  const system = readTurn(asObject(body["systemInstruction"]));
  return {
    turns: system.text === "" ? turns : [{ ...system, role: "system" }, ...turns],
    tools: asList(body["tools"])
      .flatMap((tool) => asList(asObject(tool)["functionDeclarations"]))
      .map(asObject)
      .map((tool) => ({
        name: asText(tool["name"]),
        schema: asObject(tool["parametersJsonSchema"] ?? tool["parameters"]),
      })),
    toolChoice: readToolChoice(asObject(asObject(body["toolConfig"])["functionCallingConfig"])),
    stop: asList(config["stopSequences"]).map(asText),
    maxTokens: asNumber(config["maxOutputTokens"]),
    reasoning: asObject(config["thinkingConfig"])["includeThoughts"] === true,
    json: readFormat(config),
  };
}

/** Thoughts and cached tokens are reported only where there are any; candidates do not hold the thoughts. */
function usageJson(usage: AnswerUsage, candidates: number): Json {
  const { input, cacheRead, reasoning } = usage;
  return {
    promptTokenCount: input,
    ...(candidates > 0 ? { candidatesTokenCount: candidates } : {}),
    totalTokenCount: input + candidates + reasoning,
    promptTokensDetails: [{ modality: "TEXT", tokenCount: input }],
    ...(cacheRead > 0 ? { cachedContentTokenCount: cacheRead } : {}),
    ...(reasoning > 0 ? { thoughtsTokenCount: reasoning } : {}),
  };
}

/** The newest generation signs its calls and gives them ids. */
const isThirdGeneration = (model: string) => model.includes("gemini-3");

/** The calls as parts; of parallel calls the first one carries the signature. */
function callParts(answer: Answer): Json[] {
  const isNew = isThirdGeneration(answer.model);
  const signs = isNew || answer.reasoning !== "";
  return answer.calls.map(({ name, arguments: args }: ToolCall, index) => ({
    functionCall: { ...(isNew ? { id: newId("fc") } : {}), name, args },
    ...(signs && index === 0 ? { thoughtSignature: sealedCall(name, args) } : {}),
  }));
}

/** The signature of an answer without calls stands on its text's last part. */
const textSignature = (answer: Answer): Json =>
  answer.calls.length === 0 && (answer.reasoning !== "" || isThirdGeneration(answer.model))
    ? { thoughtSignature: seal(answer.text) }
    : {};

function render(_call: Call, answer: Answer): ReturnType<Endpoint["render"]> {
  const calls = callParts(answer);
  const finishReason = finishReasons[answer.finish] ?? answer.finish.toUpperCase();
  const identity = { modelVersion: answer.model, responseId: newId("resp").slice(5) };
  const spoken = answer.usage ? Math.max(0, answer.usage.output - answer.usage.reasoning) : 0;

  function chunk(parts: readonly Json[], candidates: number, finish?: string): Json {
    const ended = finish === undefined ? {} : { finishReason: finish };
    return {
      candidates: [{ content: { parts, role: "model" }, ...ended, index: 0 }],
      ...(answer.usage ? { usageMetadata: usageJson(answer.usage, candidates) } : {}),
      ...identity,
    };
  }

  const blocked = (): Json => ({
    promptFeedback: { blockReason: "SAFETY", safetyRatings: [] },
    ...(answer.usage ? { usageMetadata: usageJson(answer.usage, 0) } : {}),
    ...identity,
  });

  function whole(): Json {
    if (answer.finish === "blocked") return blocked();
    const thought = { text: answer.reasoning, thought: true };
    const text = { text: answer.text, ...textSignature(answer) };
    const hasText = answer.text !== "" || calls.length === 0;
    return chunk(
      [...(answer.reasoning === "" ? [] : [thought]), ...(hasText ? [text] : []), ...calls],
      spoken,
      finishReason,
    );
  }

  function* frames(): Generator<Frame> {
    const frame = (kind: Frame["kind"], body: Json): Frame => ({
      kind,
      data: JSON.stringify(body),
    });
    if (answer.finish === "blocked") return yield frame("end", blocked());
    let said = "";
    for (const text of pieces(answer.reasoning, answer.chunkChars)) {
      yield frame("content", chunk([{ text, thought: true }], 0));
    }
    for (const text of pieces(answer.text, answer.chunkChars)) {
      said += text;
      yield frame("content", chunk([{ text }], Math.min(spoken, tokensOf(said))));
    }
    for (const part of calls) yield frame("content", chunk([part], spoken));
    yield frame("end", chunk([{ text: "", ...textSignature(answer) }], spoken, finishReason));
  }

  return {
    whole,
    frames,
    errorFrames: (failure: Failure) => [
      { kind: "close", data: JSON.stringify(googleError(503, failure)) },
    ],
  };
}

export const generateContent: Endpoint = {
  name: "generate_content",
  strict: generateContentStrict,
  question,
  render,
};
