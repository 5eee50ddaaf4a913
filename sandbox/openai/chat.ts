/** `POST /openai/v1/chat/completions` as the vendor speaks it, with `reasoning_content` as DeepSeek and others show it. */
import { newId } from "../../src/base/ids.ts";
import type { Answer } from "../answer.ts";
import { pieces } from "../answer.ts";
import { readContent, type Question, type Turn } from "../conversation.ts";
import type { Json } from "../json.ts";
import { asList, asNumber, asObject, asText, isObject } from "../json.ts";
import type { Failure } from "../refusal.ts";
import type { Call, Endpoint, Frame } from "../vendor.ts";
import { chatStrict } from "./chat-strict.ts";
import { openaiError } from "./errors.ts";

function readTurn(message: Json): Turn {
  const { text, images } = readContent(message["content"], "image_url");
  const role = message["role"];
  if (role === "tool" || role === "function") {
    return { role: "user", text: "", images, calls: 0, results: [text] };
  }
  if (role === "assistant") {
    const calls = asList(message["tool_calls"]).length;
    return { role, text, images, calls, results: [] };
  }
  return { role: role === "user" ? role : "system", text, images, calls: 0, results: [] };
}

function readToolChoice(choice: unknown): Question["toolChoice"] {
  if (choice === "none" || choice === "required") return choice;
  if (!isObject(choice)) return "auto";
  const named = asText(asObject(choice["function"])["name"]);
  if (named !== "") return { name: named };
  const allowed = asObject(choice["allowed_tools"]);
  return allowed["mode"] === "required" ? "required" : "auto";
}

function readFormat(format: Json): Question["json"] {
  if (format["type"] === "json_object") return {};
  if (format["type"] !== "json_schema") return undefined;
  return { schema: asObject(asObject(format["json_schema"])["schema"]) };
}

function question({ body }: Call): Question {
  const tools = asList(body["tools"]).map((tool) => asObject(asObject(tool)["function"]));
  const effort = body["reasoning_effort"];
  return {
    turns: asList(body["messages"]).map((message) => readTurn(asObject(message))),
    tools: tools
      .filter((tool) => typeof tool["name"] === "string")
      .map((tool) => ({ name: asText(tool["name"]), schema: asObject(tool["parameters"]) })),
    toolChoice: readToolChoice(body["tool_choice"]),
    stop: (Array.isArray(body["stop"]) ? body["stop"] : [body["stop"]]).map(asText),
    maxTokens: asNumber(body["max_completion_tokens"]) ?? asNumber(body["max_tokens"]),
    reasoning: typeof effort === "string" && effort !== "none",
    json: readFormat(asObject(body["response_format"])),
  };
}

function usageJson(answer: Answer, choices: number): Json | undefined {
  if (!answer.usage) return undefined;
  const { input, cacheRead, cacheWrite } = answer.usage;
  const output = answer.usage.output * choices;
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: {
      cached_tokens: cacheRead,
      audio_tokens: 0,
      ...(cacheWrite > 0 ? { cache_write_tokens: cacheWrite } : {}),
    },
    completion_tokens_details: {
      reasoning_tokens: answer.usage.reasoning * choices,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}

interface WireCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

const wireCalls = (answer: Answer): WireCall[] =>
  answer.calls.map((call) => ({
    id: newId("call"),
    name: call.name,
    arguments: JSON.stringify(call.arguments),
  }));

function messageJson(answer: Answer): Json {
  const calls = wireCalls(answer);
  return {
    role: "assistant",
    content: answer.text === "" && calls.length > 0 ? null : answer.text,
    ...(answer.reasoning === "" ? {} : { reasoning_content: answer.reasoning }),
    refusal: null,
    annotations: [],
    ...(calls.length === 0
      ? {}
      : {
          tool_calls: calls.map(({ id, ...called }) => ({
            id,
            type: "function",
            function: called,
          })),
        }),
  };
}

/** The deltas of one choice, in the vendor's order: reasoning, text, then each call by its index. */
function* deltas(answer: Answer): Generator<Json> {
  for (const piece of pieces(answer.reasoning, answer.chunkChars)) {
    yield { reasoning_content: piece };
  }
  for (const piece of pieces(answer.text, answer.chunkChars)) yield { content: piece };
  for (const [index, call] of wireCalls(answer).entries()) {
    const named = { name: call.name, arguments: "" };
    yield { tool_calls: [{ index, id: call.id, type: "function", function: named }] };
    for (const piece of pieces(call.arguments, answer.chunkChars)) {
      yield { tool_calls: [{ index, function: { arguments: piece } }] };
    }
  }
}

function render(call: Call, answer: Answer): ReturnType<Endpoint["render"]> {
  const choices = asNumber(call.body["n"]) ?? 1;
  const indexes = Array.from({ length: choices }, (_, index) => index);
  const { finish } = answer;
  const withUsage = asObject(call.body["stream_options"])["include_usage"] === true;
  const common = {
    id: newId("chatcmpl").replace("_", "-"),
    created: answer.createdSeconds,
    model: answer.model,
    service_tier: "default",
    system_fingerprint: "fp_sandbox",
  };

  function chunk(choicesJson: readonly Json[], usage: Json | null = null): string {
    const object = "chat.completion.chunk";
    const { id, ...rest } = common;
    return JSON.stringify({
      id,
      object,
      ...rest,
      choices: choicesJson,
      ...(withUsage ? { usage } : {}),
    });
  }
  const step = (index: number, delta: Json, reason: string | null = null): string =>
    chunk([{ index, delta, logprobs: null, finish_reason: reason }]);

  function* frames(): Generator<Frame> {
    for (const index of indexes) {
      const start = { role: "assistant", content: "", refusal: null };
      yield { kind: "open", data: step(index, start) };
      for (const delta of deltas(answer)) yield { kind: "content", data: step(index, delta) };
      yield { kind: "close", data: step(index, {}, finish) };
    }
    const usage = withUsage ? usageJson(answer, choices) : undefined;
    if (usage) yield { kind: "close", data: chunk([], usage) };
    yield { kind: "end", data: "[DONE]" };
  }

  return {
    whole: () => ({
      ...common,
      object: "chat.completion",
      choices: indexes.map((index) => ({
        index,
        message: messageJson(answer),
        logprobs: null,
        finish_reason: finish,
      })),
      ...(answer.usage ? { usage: usageJson(answer, choices) } : {}),
    }),
    frames,
    errorFrames: (failure: Failure) => [
      { kind: "close", data: JSON.stringify(openaiError(500, failure)) },
    ],
  };
}

export const chat: Endpoint = { name: "chat", strict: chatStrict, question, render };
