/** What the anthropic-like vendor refuses at messages, in its own words. Each row is one refusal. */
import { entriesOf, firstFailure, refuseWhen, unknownField } from "../checks.ts";
import type { Json } from "../json.ts";
import { asList, asNumber, asObject, asText } from "../json.ts";
import { refusedByModel } from "./current-models.ts";
import { isSealOf } from "../seal.ts";
import type { Failure } from "../refusal.ts";
import type { Call, Check } from "../vendor.ts";
import { Refusal } from "../refusal.ts";

const fields = new Set([
  "model",
  "max_tokens",
  "messages",
  "system",
  "stop_sequences",
  "stream",
  "temperature",
  "top_p",
  "top_k",
  "tools",
  "tool_choice",
  "thinking",
  "output_config",
  "metadata",
  "cache_control",
  "service_tier",
  "inference_geo",
  "speed",
  "container",
  "context_management",
  "mcp_servers",
]);

const blockTypes = new Set([
  "text",
  "image",
  "document",
  "tool_use",
  "tool_result",
  "thinking",
  "redacted_thinking",
  "search_result",
  "container_upload",
  "server_tool_use",
  "web_search_tool_result",
  "tool_addition",
  "tool_removal",
]);

const says = (message: string): Failure => ({ message });
const blocksOf = (message: Json | undefined): Json[] => asList(message?.["content"]).map(asObject);
const ofType = (type: string) => (block: Json) => block["type"] === type;

function missing(body: Json, needed: readonly string[]): Failure | undefined {
  const name = needed.find((one) => body[one] === undefined);
  return name === undefined ? undefined : says(`${name}: Field required`);
}

function wrongRole(body: Json): Failure | undefined {
  const messages = entriesOf(body["messages"]);
  if (messages.length === 0) return says("messages: at least one message is required");
  const [at] =
    messages.find(([, { role }]) => !["user", "assistant", "system"].includes(asText(role))) ?? [];
  if (at !== undefined) return says(`messages.${at}.role: Input should be 'user' or 'assistant'`);
  const first = messages.find(([, { role }]) => role !== "system");
  return first?.[1]["role"] === "user"
    ? undefined
    : says('messages: first message must use the "user" role');
}

function emptyContent(body: Json): Failure | undefined {
  const messages = entriesOf(body["messages"]);
  return firstFailure(messages, ([at, message]) => {
    const { content } = message;
    if (message["role"] === "system" && content === undefined && message["output_config"])
      return undefined;
    const isLastAssistant = at === messages.length - 1 && message["role"] === "assistant";
    const isEmpty = content === "" || (Array.isArray(content) && content.length === 0);
    if (typeof content !== "string" && !Array.isArray(content)) {
      return says(`messages.${at}.content: Field required`);
    }
    if (isEmpty && !isLastAssistant) {
      return says(
        `messages.${at}: all messages must have non-empty content except for the optional final assistant message`,
      );
    }
    return firstFailure(entriesOf(content), ([index, block]) =>
      wrongBlock(block, `messages.${at}.content.${index}`),
    );
  });
}

function wrongBlock(block: Json, place: string): Failure | undefined {
  const type = asText(block["type"]);
  if (!blockTypes.has(type)) {
    return says(
      `${place}: Input tag '${type}' found using 'type' does not match any of the expected tags`,
    );
  }
  if (type === "text" && block["text"] === "") {
    return says("messages: text content blocks must be non-empty");
  }
  if (type === "tool_use" && !/^[a-zA-Z0-9_-]+$/.test(asText(block["id"]))) {
    return says(`${place}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`);
  }
  const thinking = asText(block["thinking"]);
  if (type === "thinking" && !isSealOf(asText(block["signature"]), thinking)) {
    return says(`${place}: Invalid \`signature\` in \`thinking\` block`);
  }
  return undefined;
}

/** Every call is answered in the next message, and every answer had its call in the message before. */
function unpairedTools(body: Json): Failure | undefined {
  const messages = asList(body["messages"]).map(asObject);
  const idsOf = (type: string, id: string) =>
    messages.map(
      (message) =>
        new Set(
          blocksOf(message)
            .filter(ofType(type))
            .map((block) => asText(block[id])),
        ),
    );
  const calls = idsOf("tool_use", "id");
  const results = idsOf("tool_result", "tool_use_id");
  for (const at of messages.keys()) {
    const open = [...calls[at]!].filter((id) => results[at + 1]?.has(id) !== true);
    if (open.length > 0) {
      return says(
        `messages.${at}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${open.join(", ")}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`,
      );
    }
    const orphan = [...results[at]!].find((id) => calls[at - 1]?.has(id) !== true);
    if (orphan !== undefined) {
      return says(
        `messages.${at}.content: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${orphan}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`,
      );
    }
  }
  return undefined;
}

function wrongNumbers(body: Json): Failure | undefined {
  const maxTokens = asNumber(body["max_tokens"]);
  if (maxTokens === undefined || maxTokens < 1) {
    return says("max_tokens: Input should be greater than or equal to 1");
  }
  return firstFailure(["temperature", "top_p"], (name) => {
    const value = asNumber(body[name]) ?? 0;
    return value < 0 || value > 1 ? says(`${name}: range: 0..1`) : undefined;
  });
}

/** Neither empty nor of white space alone. */
function blankStop(body: Json): Failure | undefined {
  const isBlank = asList(body["stop_sequences"]).some((one) => asText(one).trim() === "");
  return isBlank
    ? says("stop_sequences: each stop sequence must contain non-whitespace")
    : undefined;
}

/** Thinking between calls of tools has a budget for the whole turn, which may be above what one answer has. */
const isInterleaved = ({ headers, body }: Call): boolean =>
  asList(body["tools"]).length > 0 &&
  (headers["anthropic-beta"] ?? "").toString().includes("interleaved-thinking-");

function checkBudget(call: Call): void {
  const { body } = call;
  const thinking = asObject(body["thinking"]);
  if (thinking["type"] !== "enabled") return;
  const budget = asNumber(thinking["budget_tokens"]) ?? 0;
  if (budget < 1024) {
    const failure = "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024";
    throw new Refusal(400, says(failure));
  }
  if (budget < (asNumber(body["max_tokens"]) ?? 0) || isInterleaved(call)) return;
  throw new Refusal(400, says("`max_tokens` must be greater than `thinking.budget_tokens`."));
}

/** What cannot be combined with thinking. */
function wrongThinking(body: Json): Failure | undefined {
  const thinking = asObject(body["thinking"]);
  if (thinking["type"] !== "enabled" && thinking["type"] !== "adaptive") return undefined;
  if ((body["temperature"] ?? 1) !== 1) {
    return says("`temperature` may only be set to 1 when thinking is enabled.");
  }
  if (body["top_k"] !== undefined) return says("`top_k` must be unset when thinking is enabled.");
  if ((asNumber(body["top_p"]) ?? 1) < 0.95) {
    return says("`top_p` must be greater than or equal to 0.95 or unset when thinking is enabled.");
  }
  const choice = asText(asObject(body["tool_choice"])["type"]);
  if (choice === "any" || choice === "tool") {
    return says("Thinking may not be enabled when tool_choice forces tool use.");
  }
  return undefined;
}

/**
 * With a thinking budget, the loop whose tools are being answered must start with its thinking. A loop is one turn to the vendor, whose
 * later steps may be without.
 */
function unthoughtCall(body: Json): Failure | undefined {
  if (asObject(body["thinking"])["type"] !== "enabled") return undefined;
  const messages = asList(body["messages"]).map(asObject);
  if (!hasResult(messages.at(-1))) return undefined;
  const question = messages.findLastIndex(
    (message, at) =>
      message["role"] === "user" &&
      !hasResult(message) &&
      // Neighbours of one role are one message.
      !hasResult(messages[at - 1]),
  );
  const at = messages.findIndex(({ role }, place) => place > question && role === "assistant");
  const first = asText(blocksOf(messages[at])[0]?.["type"]);
  if (at === -1 || first === "thinking" || first === "redacted_thinking") return undefined;
  return says(
    `messages.${at}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${first}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block.`,
  );
}

const hasResult = (message: Json | undefined): boolean =>
  blocksOf(message).some(ofType("tool_result"));

function wrongTools(body: Json): Failure | undefined {
  const tools = entriesOf(body["tools"]);
  if (tools.length === 0 && body["tool_choice"] !== undefined) {
    return says("tool_choice may only be specified while providing tools");
  }
  return firstFailure(tools, ([at, tool]) => {
    if (tool["type"] !== undefined && tool["type"] !== "custom") return undefined;
    if (!/^[a-zA-Z0-9_-]{1,128}$/.test(asText(tool["name"]))) {
      return says(`tools.${at}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`);
    }
    if (tool["input_schema"] === undefined) {
      return says(`tools.${at}.custom.input_schema: Field required`);
    }
    return asObject(tool["input_schema"])["type"] === "object"
      ? undefined
      : says(`tools.${at}.custom.input_schema.type: Input should be 'object'`);
  });
}

function tooManyBreakpoints(body: Json): Failure | undefined {
  const blocks = [
    ...asList(body["tools"]),
    ...asList(body["system"]),
    ...asList(body["messages"]).flatMap((message) => blocksOf(asObject(message))),
  ];
  const found = blocks.filter((block) => asObject(block)["cache_control"]).length;
  return found <= 4
    ? undefined
    : says(`A maximum of 4 blocks with cache_control may be provided. Found ${found}.`);
}

function unknownTopLevel(body: Json): Failure | undefined {
  const name = unknownField(body, fields);
  return name === undefined ? undefined : says(`${name}: Extra inputs are not permitted`);
}

/** The newest version of the API has no sampling parameters; without a version there is no API. */
function checkVersion({ headers, body }: Call): void {
  const version = headers["anthropic-version"];
  if (version === undefined) throw new Refusal(400, says("anthropic-version: header is required"));
  const removed = ["temperature", "top_p", "top_k"].find((name) => body[name] !== undefined);
  if (version >= "2026-10-21" && removed !== undefined) {
    throw new Refusal(400, says(`${removed}: Extra inputs are not permitted`));
  }
}

const ofMessages = [wrongRole, emptyContent, unpairedTools, wrongTools, tooManyBreakpoints];

export const messagesStrict: readonly Check[] = [
  checkVersion,
  refuseWhen((body) => missing(body, ["model", "max_tokens", "messages"])),
  ...[unknownTopLevel, wrongNumbers, blankStop, ...ofMessages, refusedByModel, wrongThinking].map(
    refuseWhen,
  ),
  checkBudget,
  refuseWhen(unthoughtCall),
];

/** Counting tokens needs no `max_tokens`. */
export const countStrict: readonly Check[] = [
  checkVersion,
  refuseWhen((body) => missing(body, ["model", "messages"])),
  ...[unknownTopLevel, ...ofMessages].map(refuseWhen),
];
