/** What the openai-like vendor refuses at responses, in its own words. Each row is one refusal. */
import { entriesOf, firstFailure, refuseWhen, unknownField } from "../checks.ts";
import type { Json } from "../json.ts";
import { asList, asObject, asText } from "../json.ts";
import { refusedByModel } from "./current-models.ts";
import { isSeal } from "../seal.ts";
import type { Failure } from "../refusal.ts";
import type { Check } from "../vendor.ts";
import { Refusal } from "../refusal.ts";
import {
  callIdTooLong,
  missingParameter,
  numberLimits,
  outOfRange,
  unknownParameter,
  userTooLong,
  wrongFunctionName,
  wrongFunctionSchema,
} from "./errors.ts";

const fields = new Set([
  "model",
  "input",
  "instructions",
  "max_output_tokens",
  "max_tool_calls",
  "temperature",
  "top_p",
  "top_logprobs",
  "stream",
  "stream_options",
  "tools",
  "tool_choice",
  "parallel_tool_calls",
  "text",
  "reasoning",
  "include",
  "previous_response_id",
  "conversation",
  "background",
  "context_management",
  "prompt",
  "truncation",
  "metadata",
  "store",
  "user",
  "safety_identifier",
  "prompt_cache_key",
  "prompt_cache_options",
  "prompt_cache_retention",
  "service_tier",
  "moderation",
  "image",
  "access_programs",
  "client_metadata",
]);

const limits = numberLimits({
  temperature: [0, 2],
  top_p: [0, 1],
  top_logprobs: [0, 20],
  max_output_tokens: [1, Infinity],
  max_tool_calls: [1, Infinity],
});

const roles = ["user", "assistant", "system", "developer"];
const inputParts = ["input_text", "input_image", "input_file", "input_audio"];
const outputParts = ["output_text", "refusal"];

function invalidValue(value: string, supported: readonly string[], param: string): Failure {
  const listed = supported.map((one) => `'${one}'`).join(", ");
  return {
    message: `Invalid value: '${value}'. Supported values are: ${listed}.`,
    param,
    code: "invalid_value",
  };
}

function wrongMessage(item: Json, place: string): Failure | undefined {
  const role = asText(item["role"]);
  if (!roles.includes(role)) return invalidValue(role, roles, `${place}.role`);
  if (typeof item["content"] !== "string" && !Array.isArray(item["content"])) {
    return missingParameter(`${place}.content`);
  }
  const supported = role === "assistant" ? outputParts : inputParts;
  return firstFailure(entriesOf(item["content"]), ([at, part]) => {
    const type = asText(part["type"]);
    if (!supported.includes(type)) {
      return invalidValue(type, supported, `${place}.content[${at}].type`);
    }
    const isPicture = type === "input_image" && part["file_id"] === undefined;
    if (!isPicture || typeof part["image_url"] === "string") return undefined;
    return {
      message: `Invalid type for '${place}.content[${at}].image_url': expected an image URL, but got an object instead.`,
      param: `${place}.content[${at}].image_url`,
      code: "invalid_type",
    };
  });
}

const neededBy: Readonly<Record<string, readonly string[]>> = {
  function_call: ["call_id", "name", "arguments"],
  function_call_output: ["call_id", "output"],
};

function wrongItem([at, item]: [number, Json]): Failure | undefined {
  const place = `input[${at}]`;
  const type = asText(item["type"] ?? "message");
  if (type === "message") return wrongMessage(item, place);
  const missing = neededBy[type]?.find((name) => item[name] === undefined);
  if (missing) return missingParameter(`${place}.${missing}`);
  const long = callIdTooLong(item["call_id"], `${place}.call_id`);
  if (long) return long;
  const encrypted = item["encrypted_content"];
  if (type === "reasoning" && typeof encrypted === "string" && !isSeal(encrypted)) {
    return {
      message: "The encrypted content could not be verified.",
      code: "invalid_encrypted_content",
    };
  }
  return undefined;
}

/** Each output has its call before it, and each call its output after it. */
function unpairedTools(body: Json): Failure | undefined {
  const items = asList(body["input"]).map(asObject);
  const idsOf = (type: string) =>
    new Set(items.filter((item) => item["type"] === type).map((item) => asText(item["call_id"])));
  const calls = idsOf("function_call");
  const outputs = idsOf("function_call_output");
  const orphan = [...outputs].find((id) => !calls.has(id));
  if (orphan !== undefined) {
    return {
      message: `No tool call found for function call output with call_id ${orphan}.`,
      param: "input",
    };
  }
  const open = [...calls].find((id) => !outputs.has(id));
  if (open === undefined) return undefined;
  return { message: `No tool output found for function call ${open}.`, param: "input" };
}

function wrongTool([at, tool]: [number, Json]): Failure | undefined {
  if (typeof tool["type"] !== "string") return missingParameter(`tools[${at}].type`);
  if (tool["type"] !== "function") return undefined;
  const place = `tools[${at}]`;
  if (typeof tool["name"] !== "string") return missingParameter(`${place}.name`);
  const wrongName = wrongFunctionName(tool, place);
  if (wrongName || (tool["parameters"] ?? null) === null) return wrongName;
  return wrongFunctionSchema(tool, place);
}

function toolChoiceAlone(body: Json): Failure | undefined {
  const choice = body["tool_choice"] ?? "auto";
  if (choice === "auto" || choice === "none" || asList(body["tools"]).length > 0) return undefined;
  return {
    message: "Tool choice other than 'none' or 'auto' requires 'tools'.",
    param: "tool_choice",
  };
}

function nothingAsked(body: Json): Failure | undefined {
  if (typeof body["model"] !== "string") return missingParameter("model");
  const { input } = body;
  return typeof input === "string" || Array.isArray(input) ? undefined : missingParameter("input");
}

function checkPrevious({ body }: { body: Json }): void {
  const id = body["previous_response_id"] ?? undefined;
  if (id === undefined) return;
  throw new Refusal(400, {
    message: `Previous response with id '${asText(id)}' not found.`,
    param: "previous_response_id",
    code: "previous_response_not_found",
  });
}

export const responsesStrict: readonly Check[] = [
  refuseWhen(nothingAsked),
  refuseWhen((body) => unknownParameter(unknownField(body, fields))),
  refuseWhen((body) => outOfRange(body, limits)),
  refuseWhen(userTooLong),
  refuseWhen((body) =>
    refusedByModel(body, asObject(body["reasoning"])["effort"], "reasoning.effort"),
  ),
  checkPrevious,
  refuseWhen(toolChoiceAlone),
  refuseWhen((body) => firstFailure(entriesOf(body["tools"]), wrongTool)),
  refuseWhen((body) => firstFailure(entriesOf(body["input"]), wrongItem)),
  refuseWhen(unpairedTools),
];
