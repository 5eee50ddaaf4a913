/** What the bedrock-like vendor refuses at Converse, in its own words. Each row is one refusal. */
import { entriesOf, firstFailure, refuseWhen, unknownField } from "../checks.ts";
import type { Json } from "../json.ts";
import { asList, asNumber, asObject, asText } from "../json.ts";
import type { Failure } from "../refusal.ts";
import { Refusal } from "../refusal.ts";
import type { Check } from "../vendor.ts";
import { refusedByFamily } from "./families.ts";
import { wrongOutput } from "./output-schema.ts";
import { breach, says } from "./refusals.ts";

const fields = new Set([
  "messages",
  "system",
  "inferenceConfig",
  "toolConfig",
  "guardrailConfig",
  "additionalModelRequestFields",
  "additionalModelResponseFieldPaths",
  "promptVariables",
  "requestMetadata",
  "performanceConfig",
  "serviceTier",
  "outputConfig",
]);

const formats: Readonly<Record<string, readonly string[]>> = {
  image: ["png", "jpeg", "gif", "webp"],
  document: ["pdf", "csv", "doc", "docx", "xls", "xlsx", "html", "txt", "md"],
  video: ["mkv", "mov", "mp4", "webm", "flv", "mpeg", "mpg", "wmv", "three_gp"],
  audio: ["mp3", "opus", "wav", "aac", "flac", "mp4", "ogg", "mkv", "m4a", "mpeg", "pcm", "webm"],
};

const blocksOf = (value: unknown): Json[] => asList(value).map(asObject);
const ids = (message: Json | undefined, kind: "toolUse" | "toolResult"): string[] =>
  blocksOf(message?.["content"]).flatMap((block) =>
    kind in block ? [asText(asObject(block[kind])["toolUseId"])] : [],
  );

function unknownTopLevel(body: Json): Failure | undefined {
  const name = unknownField(body, fields);
  return name === undefined
    ? undefined
    : says(`The model returned the following errors: ${name}: Extra inputs are not permitted`);
}

function wrongTurns(body: Json): Failure | undefined {
  const messages = blocksOf(body["messages"]);
  if (messages.length === 0) return breach("messages", "have length greater than or equal to 1");
  if (messages[0]!["role"] !== "user")
    return says(
      "A conversation must start with a user message. Try again with a conversation that starts with a user message.",
    );
  return firstFailure(messages.entries(), ([at, message]) => {
    const { role } = message;
    if (role !== "user" && role !== "assistant")
      return breach(
        `messages.${at + 1}.member.role`,
        "satisfy enum value set: [user, assistant, system]",
      );
    if (at > 0 && messages[at - 1]!["role"] === role)
      return says(
        "A conversation must alternate between user and assistant roles. Make sure the conversation alternates between user and assistant roles and try again.",
      );
    const content = entriesOf(message["content"]);
    if (content.length === 0)
      return says(
        `The content field in the Message object at messages.${at} is empty. Add a ContentBlock object to the content field and try again.`,
      );
    return (
      firstFailure(content, ([index, block]) =>
        wrongBlock(block, `messages.${at}.content.${index}`),
      ) ?? documentAlone(content, at)
    );
  });
}

function documentAlone(content: readonly (readonly [number, Json])[], at: number) {
  const has = (name: string) => content.some(([, block]) => name in block);
  return has("document") && !has("text")
    ? says(
        `Your conversation has a document at messages.${at} without a text. Include a text block with the document.`,
      )
    : undefined;
}

const kinds = ["text", "toolUse", "toolResult", "cachePoint", "reasoningContent"];

function wrongBlock(block: Json, place: string): Failure | undefined {
  const names = Object.keys(block);
  const [kind = ""] = names;
  if (names.length !== 1 || !(kinds.includes(kind) || kind in formats))
    return says(`The content block at ${place} must have exactly one of the known members.`);
  const value = asObject(block[kind]);
  if (kind === "text" && asText(block["text"]).trim() === "")
    return says(
      `The text field in the ContentBlock object at ${place} is blank. Add text to the text field, and try again.`,
    );
  if (kind === "cachePoint" && value["type"] !== "default")
    return breach(`${place}.cachePoint.type`, "satisfy enum value set: [default]");
  if (kind in formats) return wrongMedia(kind, value, place);
  if (kind !== "toolUse" && kind !== "toolResult") return undefined;
  if (!/^[a-zA-Z0-9_-]{1,64}$/.test(asText(value["toolUseId"])))
    return breach(
      `${place}.${kind}.toolUseId`,
      "satisfy regular expression pattern: [a-zA-Z0-9_-]+ and have length less than or equal to 64",
    );
  return kind === "toolResult" ? wrongResult(value, `${place}.toolResult`) : undefined;
}

function wrongResult(value: Json, place: string): Failure | undefined {
  if (!Array.isArray(value["content"])) return breach(`${place}.content`, "not be null");
  const status = value["status"] ?? "success";
  if (status !== "success" && status !== "error")
    return breach(`${place}.status`, "satisfy enum value set: [success, error]");
  if (status === "error" && value["content"].length === 0)
    return says(`The content field at ${place} cannot be empty when status value is error.`);
  return firstFailure(entriesOf(value["content"]), ([at, block]) => {
    const [kind = ""] = Object.keys(block);
    if (!["text", "json", "image", "document", "video"].includes(kind))
      return says(`The content of the tool result at ${place}.content.${at} is not supported.`);
    return kind === "json" ? undefined : wrongBlock(block, `${place}.content.${at}`);
  });
}

function wrongMedia(kind: string, value: Json, place: string): Failure | undefined {
  const { format, source, name } = value;
  if (!formats[kind]!.includes(asText(format)))
    return breach(`${place}.${kind}.format`, `satisfy enum value set: [${formats[kind]!.join()}]`);
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(asText(asObject(source)["bytes"])))
    return says(`The ${kind} at ${place} has no bytes, or bytes that are not base64.`);
  if (kind !== "document" || /^(?!.*\s\s)[a-zA-Z0-9\s()[\]-]{1,200}$/.test(asText(name)))
    return undefined;
  return says(
    "The document file name can only contain alphanumeric characters, whitespace characters, hyphens, parentheses, and square brackets. The name can't contain more than one consecutive whitespace character.",
  );
}

function sameNames(body: Json): Failure | undefined {
  const names = blocksOf(body["messages"])
    .flatMap(({ content }) => blocksOf(content))
    .flatMap((block) => ("document" in block ? [asObject(block["document"])["name"]] : []));
  return new Set(names).size === names.length
    ? undefined
    : says("The request has several documents of one name. Use a unique name for each document.");
}

/** Every call is answered in the next message, and every answer had its call in the message before. */
function unpairedTools(body: Json): Failure | undefined {
  const messages = blocksOf(body["messages"]);
  for (const at of messages.keys()) {
    const open = ids(messages[at], "toolUse").filter(
      (id) => !ids(messages[at + 1], "toolResult").includes(id),
    );
    if (open.length > 0)
      return says(
        `Expected toolResult blocks at messages.${at + 1}.content for the following Ids: ${open.join(", ")}`,
      );
    const called = ids(messages[at - 1], "toolUse");
    if (ids(messages[at], "toolResult").some((id) => !called.includes(id)))
      return says(
        `The number of toolResult blocks at messages.${at}.content exceeds the number of toolUse blocks of previous turn.`,
      );
  }
  return undefined;
}

function wrongTools(body: Json): Failure | undefined {
  const usesTools = blocksOf(body["messages"]).some(
    (message) => ids(message, "toolUse").length + ids(message, "toolResult").length > 0,
  );
  if (body["toolConfig"] === undefined)
    return usesTools
      ? says(
          "The toolConfig field must be defined when using toolUse and toolResult content blocks.",
        )
      : undefined;
  const config = asObject(body["toolConfig"]);
  const tools = entriesOf(config["tools"]);
  const specs = tools.flatMap(([, tool]) =>
    "toolSpec" in tool ? [asObject(tool["toolSpec"])] : [],
  );
  if (specs.length === 0)
    return breach("toolConfig.tools", "have length greater than or equal to 1");
  const names = specs.map(({ name }) => asText(name));
  if (new Set(names).size < names.length)
    return says("The toolConfig has several tools of one name.");
  return firstFailure(specs, wrongSpec) ?? wrongChoice(asObject(config["toolChoice"]), names);
}

function wrongSpec({ name, description, inputSchema }: Json): Failure | undefined {
  if (!/^[a-zA-Z0-9_-]{1,64}$/.test(asText(name)))
    return breach("toolConfig.tools.member.toolSpec.name", "satisfy pattern: [a-zA-Z0-9_-]+");
  if (description === "")
    return breach("toolConfig.tools.member.toolSpec.description", "have length at least 1");
  return asObject(asObject(inputSchema)["json"])["type"] === "object"
    ? undefined
    : says(
        "The value at toolConfig.tools.0.toolSpec.inputSchema.json.type must be one of the following: object.",
      );
}

function wrongChoice(choice: Json, names: readonly string[]): Failure | undefined {
  const [kind = "auto", more] = Object.keys(choice);
  if (more !== undefined || !["auto", "any", "tool"].includes(kind))
    return says("The toolChoice must have exactly one of auto, any and tool.");
  const name = asText(asObject(choice["tool"])["name"]);
  return kind !== "tool" || names.includes(name)
    ? undefined
    : says(`The toolChoice names '${name}', which is none of the tools.`);
}

function wrongInference(body: Json): Failure | undefined {
  const inference = asObject(body["inferenceConfig"]);
  const unknown = Object.keys(inference).find(
    (name) => !["maxTokens", "temperature", "topP", "stopSequences"].includes(name),
  );
  if (unknown !== undefined)
    return says(`inferenceConfig.${unknown}: Extra inputs are not permitted`);
  if ((asNumber(inference["maxTokens"]) ?? 1) < 1)
    return breach("inferenceConfig.maxTokens", "have value greater than or equal to 1");
  return firstFailure(["temperature", "topP"], (name) => {
    const value = asNumber(inference[name]) ?? 0;
    return value < 0 || value > 1
      ? breach(`inferenceConfig.${name}`, "have value less than or equal to 1")
      : undefined;
  });
}

/** The fields of a model's own vendor: those of any other are refused. */
const ownFields: readonly (readonly [model: RegExp, fields: readonly string[]])[] = [
  [/anthropic\.claude/, ["thinking", "output_config", "top_k", "anthropic_beta"]],
  [/amazon\.nova/, ["reasoningConfig", "inferenceConfig"]],
  [/openai\.gpt-oss|deepseek/, ["reasoning_effort"]],
];

function checkModel(call: Parameters<Check>[0]): void {
  const { model, body } = call;
  const failure = refusedByFamily(call);
  if (failure) throw new Refusal(400, failure);
  const known = ownFields.find(([pattern]) => pattern.test(model))?.[1] ?? [];
  const given = Object.keys(asObject(body["additionalModelRequestFields"]));
  const extra = given.find((name) => !known.includes(name));
  if (extra !== undefined)
    throw new Refusal(
      400,
      says(
        `The model returned the following errors: Malformed input request: #: extraneous key [${extra}] is not permitted, please reformat your input and try again.`,
      ),
    );
  const isNova = /amazon\.nova/.test(model);
  const points = JSON.stringify(body).split('"cachePoint":').length - 1;
  if (points > 4) throw new Refusal(400, says("The request has more than 4 cache points."));
  if (points > 0 && !isNova && !/anthropic\.claude/.test(model))
    throw new Refusal(
      403,
      says(
        "You invoked an unsupported model or your request did not allow prompt caching. See the documentation for more information.",
      ),
    );
  const { reasoningConfig } = asObject(body["additionalModelRequestFields"]);
  const { type, maxReasoningEffort: effort } = asObject(reasoningConfig);
  if (reasoningConfig === undefined || type === "disabled") return;
  if (type !== "enabled" || !["low", "medium", "high"].includes(asText(effort)))
    throw new Refusal(
      400,
      says("reasoningConfig: maxReasoningEffort must be low, medium or high."),
    );
}

export const converseStrict: readonly Check[] = [
  ...[
    unknownTopLevel,
    wrongTurns,
    sameNames,
    unpairedTools,
    wrongTools,
    wrongInference,
    wrongOutput,
  ].map(refuseWhen),
  checkModel,
];
