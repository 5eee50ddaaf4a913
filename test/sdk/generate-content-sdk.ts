/** `@google/genai` at generateContent, under the paths that it sends. Requirements: TXT; docs/decisions.md "Other spellings". */
import {
  GoogleGenAI,
  type Content,
  type GenerateContentParameters,
  type GenerateContentResponse,
} from "@google/genai";
import { expect } from "vitest";
import type { Ask, Connection, Sdk, Told } from "./scenarios.ts";

function userOf({ text, picture }: Ask): Content {
  const image = { inlineData: { mimeType: "image/png", data: picture?.toString("base64") ?? "" } };
  return { role: "user", parts: picture ? [image, { text }] : [{ text }] };
}

function paramsOf(ask: Ask): GenerateContentParameters {
  const declarations = ask.tools?.map(({ parameters, ...tool }) => ({
    ...tool,
    parametersJsonSchema: parameters,
  }));
  return {
    model: ask.model ?? "sandbox/generate-content",
    contents: [userOf(ask)],
    config: {
      ...(ask.system !== undefined && { systemInstruction: ask.system }),
      ...(ask.temperature !== undefined && { temperature: ask.temperature }),
      ...(ask.reasons && { thinkingConfig: { includeThoughts: true, thinkingBudget: 1024 } }),
      ...(ask.stop && { stopSequences: [...ask.stop] }),
      ...(declarations && { tools: [{ functionDeclarations: declarations }] }),
    },
  };
}

/** The sum of an answer's chunks; a whole answer is one chunk. */
function toAnswer(chunks: readonly GenerateContentResponse[]): Told {
  const last = chunks.at(-1)!;
  const parts = chunks.flatMap((chunk) => chunk.candidates?.[0]?.content?.parts ?? []);
  const spoken = parts.filter((part) => part.text && !part.thought);
  const calls = parts.flatMap((part) => part.functionCall ?? []);
  return {
    text: spoken.map(({ text }) => text).join(""),
    calls: calls.map((call) => ({ name: call.name!, arguments: call.args })),
    finish: last.candidates?.[0]?.finishReason,
    model: last.modelVersion,
    usage: last.usageMetadata,
    pieces: spoken.length,
    turn: { role: "model", parts: parts.filter((part) => part.text !== "") },
  };
}

function connect({ url, key, retries, fetch }: Parameters<Sdk["connect"]>[0]): Connection {
  const { models } = new GoogleGenAI({
    apiKey: key,
    httpOptions: {
      baseUrl: url,
      ...(retries && { retryOptions: { initialDelay: 1, jitter: 0 } }),
      ...(fetch && { fetch }),
    },
  });
  return {
    ask: async (ask) => toAnswer([await models.generateContent(paramsOf(ask))]),
    async stream(ask, leaveAfter = Infinity) {
      const leaving = new AbortController();
      const params = paramsOf(ask);
      const config = { ...params.config, abortSignal: leaving.signal };
      const chunks: GenerateContentResponse[] = [];
      for await (const chunk of await models.generateContentStream({ ...params, config })) {
        chunks.push(chunk);
        if (chunks.length === leaveAfter) leaving.abort();
      }
      return toAnswer(chunks);
    },
    async answer(ask, told, results) {
      const turn = told.turn as Content;
      const calls = turn.parts!.flatMap((part) => part.functionCall ?? []);
      const parts = calls.map(({ id, name }, at) => ({
        functionResponse: { ...(id && { id }), name: name!, response: { output: results[at] } },
      }));
      const contents = [userOf(ask), turn, { role: "user", parts }];
      return toAnswer([await models.generateContent({ ...paramsOf(ask), contents })]);
    },
  };
}

const failure = (code: number, status: string, reason: string, more: object = {}): object => ({
  class: "ApiError",
  status: code,
  error: { code, status, details: [{ reason, domain: "tollgate", ...more }] },
});

export const generateContent: Sdk = {
  model: "sandbox/generate-content",
  connect,
  // Function calls also end with STOP here.
  finish: { stop: "STOP", tools: "STOP" },
  usage: (input) => ({
    promptTokenCount: input,
    cachedContentTokenCount: 30,
    candidatesTokenCount: 33,
    thoughtsTokenCount: 12,
    totalTokenCount: input + 45,
  }),
  system: (text) => ({ systemInstruction: { parts: [{ text }] } }),
  picture: (data) => ({
    contents: [
      { parts: [{ inlineData: { mimeType: "image/png", data } }, { text: expect.any(String) }] },
    ],
  }),
  failures: {
    "wrong key": failure(401, "UNAUTHENTICATED", "INVALID_API_KEY"),
    "no balance": failure(402, "FAILED_PRECONDITION", "INSUFFICIENT_BALANCE"),
    "unknown model": failure(404, "NOT_FOUND", "MODEL_NOT_FOUND"),
    "bad value": failure(400, "INVALID_ARGUMENT", "INTEGER_ABOVE_MAX_VALUE", {
      metadata: { param: "generationConfig.temperature" },
    }),
    "refused upstream": {
      class: "ApiError",
      status: 400,
      error: { code: 400, status: "INVALID_ARGUMENT", message: "Not in this house." },
    },
    "rate limited": {
      class: "ApiError",
      status: 429,
      error: { status: "RESOURCE_EXHAUSTED", details: [{}, { retryDelay: "7s" }] },
    },
    overloaded: {
      class: "ApiError",
      status: 503,
      error: { status: "UNAVAILABLE", details: [{}, { retryDelay: "9s" }] },
    },
    "broken stream": { class: "ApiError", status: 502, error: { status: "UNAVAILABLE" } },
  },
  fields(error) {
    // Its errors have a status, and the body's JSON as their message; in streams with text before it.
    const body = JSON.parse(error.message.slice(error.message.indexOf("{"))) as object;
    return { ...Object.fromEntries(Object.entries(error)), ...body };
  },
};
