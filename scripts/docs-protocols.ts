/**
 * Generates docs/protocols.md: the result for each part of a request between any two protocols. The tables come from each codec's
 * limits, and the places of fields from the real output of `fit` and the codecs.
 */
import { GatewayError } from "../src/base/errors.ts";
import type { CanonicalFieldName, CanonicalRequest } from "../src/protocols/canonical/request.ts";
import { fit } from "../src/protocols/fit.ts";
import {
  codecs,
  protocolNames,
  upstreamCodecs,
  upstreamProtocols,
  type JsonObject,
  type ProtocolName,
  type UpstreamProtocol,
} from "../src/protocols/index.ts";
import { lossesOf } from "../src/protocols/losses.ts";
import { content } from "./docs-protocols-content.ts";
import { direct } from "./docs-protocols-direct.ts";
import { numbers } from "./docs-protocols-numbers.ts";
import { heads, table, titles } from "./docs-protocols-table.ts";

/** One row per field, with a sample value that shows its place. The type requires every field. */
const samples: Record<CanonicalFieldName, { concept: string; value: Partial<CanonicalRequest> }> = {
  maxOutputTokens: { concept: "Maximum output", value: { maxOutputTokens: 20_000 } },
  temperature: { concept: "Temperature", value: { temperature: 0.5 } },
  topP: { concept: "top_p", value: { topP: 0.5 } },
  topK: { concept: "top_k", value: { topK: 5 } },
  stop: { concept: "Stop sequences", value: { stop: ["END"] } },
  seed: { concept: "Seed", value: { seed: 7 } },
  presencePenalty: { concept: "Presence penalty", value: { presencePenalty: 1 } },
  frequencyPenalty: { concept: "Frequency penalty", value: { frequencyPenalty: 1 } },
  tools: { concept: "Tools", value: {} },
  toolChoice: { concept: "Tool choice", value: { toolChoice: { type: "required" } } },
  parallelToolCalls: { concept: "Parallel tool calls", value: { parallelToolCalls: false } },
  outputFormat: {
    concept: "JSON output",
    value: {
      outputFormat: {
        type: "json_schema",
        name: "answer",
        schema: { type: "object", required: [] },
      },
    },
  },
  "reasoning.effort": { concept: "Reasoning effort", value: { reasoning: { effort: "high" } } },
  "reasoning.budget": { concept: "Reasoning budget", value: { reasoning: { budget: 8192 } } },
  "reasoning.summary": { concept: "Reasoning summary", value: { reasoning: { summary: "auto" } } },
  "reasoning.includeThoughts": {
    concept: "Whether thoughts are returned",
    value: { reasoning: { includeThoughts: true } },
  },
  "reasoning.mode": { concept: "Reasoning mode", value: { reasoning: { mode: "pro" } } },
  "reasoning.context": { concept: "Reasoning context", value: { reasoning: { context: "auto" } } },
  verbosity: { concept: "Verbosity", value: { verbosity: "low" } },
  endUserId: { concept: "End-user id", value: { endUserId: "someone" } },
  promptCacheKey: { concept: "Prompt cache key", value: { promptCacheKey: "session" } },
  metadata: { concept: "Metadata", value: { metadata: {} } },
  store: { concept: "Storing the answer", value: { store: false } },
  includeUsage: { concept: "Usage at the end of a stream", value: { includeUsage: true } },
};

const tool = { name: "look", parameters: { type: "object" } };
const modelMaximum = 64_000;

/** A request in another protocol, fitted to and encoded for this one. */
function written(target: UpstreamProtocol, fields: Partial<CanonicalRequest>) {
  const request: CanonicalRequest = {
    protocol: target === "chat" ? "responses" : "chat",
    model: "acme/talk",
    stream: true,
    messages: [{ role: "user", content: [{ type: "text", text: "Hi" }] }],
    native: [],
    names: {},
    ...fields,
  };
  const codec = upstreamCodecs[target];
  const fitted = fit(request, { limits: codec.limits, maxOutputTokens: modelMaximum });
  return { body: codec.encodeRequest(fitted.request, "gemini-3-pro"), notes: fitted.notes };
}

/** The differences of two bodies as dotted paths, as deep as single members differ. */
function differences(before: unknown, after: unknown, path = ""): string[] {
  if (JSON.stringify(before) === JSON.stringify(after)) return [];
  if (!isObject(after) || path.split(".").length > 3) return [path];
  const keys = Object.keys(after);
  if (keys.length === 0) return [path];
  if (!isObject(before) && path !== "" && keys.length > 1) return [path];
  const old = isObject(before) ? before : {};
  return keys.flatMap((key) =>
    differences(old[key], after[key], path === "" ? key : `${path}.${key}`),
  );
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Other fields of the request, chosen so that only the tested field's place differs. */
function surroundings(field: CanonicalFieldName): Partial<CanonicalRequest> {
  const { maxOutputTokens } = samples.maxOutputTokens.value;
  return {
    ...(field === "maxOutputTokens" ? {} : { maxOutputTokens }),
    ...(field === "tools" ? {} : { tools: [tool] }),
    ...(field === "tools" || field === "toolChoice" ? {} : { toolChoice: { type: "auto" } }),
  };
}

/** The result for one field: its place, or the reason why it is lost. */
function fate(target: UpstreamProtocol, field: CanonicalFieldName): string {
  const common = surroundings(field);
  const sample = field === "tools" ? { tools: [tool] } : samples[field].value;
  const base = written(target, common);
  const { body, notes } = written(target, { ...common, ...sample });
  const places = differences(base.body, body).map((path) => `\`${path}\``);
  const why = notes.map(({ detail }) => detail.replace(/, dropped$/, ""));
  if (places.length === 0) return why.length > 0 ? `lost: ${why.join("; ")}` : "-";
  return [places.join(" and "), ...why].join("; rewritten: ");
}

const fieldRow = (field: CanonicalFieldName): string[] => [
  samples[field].concept,
  ...upstreamProtocols.map((target) => fate(target, field)),
];

/** The fields that only one protocol has, with their class; places with the same reason are grouped. */
function onlyOwn(name: ProtocolName): string {
  const groups = Map.groupBy(lossesOf(name), ([, loss]) => loss);
  const rows = [...groups].map(([loss, places]) => [
    loss.class === "refused" ? "**refused**" : "dropped",
    loss.what,
    places.map(([place]) => `\`${place.replace(/:(.*)$/, " ($1)")}\``).join(", "),
  ]);
  const refusedFirst = rows.sort(([one], [other]) => one!.localeCompare(other!));
  return `### Callers of ${titles[name]}\n\n${table(["class", "content", "fields"], refusedFirst)}`;
}

function errors(): string {
  const error = new GatewayError("invalid_value", "temperature must be at most 2.", {
    param: "temperature",
  });
  const bodyOf = (name: ProtocolName) =>
    JSON.stringify(codecs[name].encodeError(error, "req_01kacw5v2pf6q8p5b0d6m1x7yt"), null, 2);
  return [...Map.groupBy(protocolNames, bodyOf)]
    .map(([body, names]) => {
      const heading = names.map((name) => titles[name]).join(", ");
      return `### ${heading}\n\n\`\`\`json\n${body}\n\`\`\``;
    })
    .join("\n\n");
}

/** The page as Markdown. */
export function protocolsPage(): string {
  return `# Protocols

<!-- Generated from src/protocols by \`npm run docs\`. -->

Callers use a model in any of four protocols, whichever of them its provider speaks. If both speak the same protocol, the
call is **direct**: the body is sent unchanged. If they differ, it is **converted**, whole and streamed, through one
canonical form. This page lists the losses.

${direct()}

## Reports

The gateway reports everything that it drops or rewrites: once, by the caller's name, as a dotted path, in the order of the request. A
whole answer has the names in \`gw.droppedParams\`, a stream has them in the header \`x-gw-dropped-params\`. The request
log adds the reason to each name. All reports are known before the first byte is sent. If the upstream is
another Tollgate, its names are joined to them.

## Fields

Each column is the protocol of the upstream. A cell has the place of the field there, or the reason why it is lost.

${table(["concept", ...heads], fieldRows())}

## Fields of one protocol only

Such fields are kept on direct routes. In conversion there are two classes:

- **dropped** and reported: a nuance.
- **refused** before anything is charged: content of the caller would be lost. The error is 400 \`unsupported_parameter\` or
  \`unsupported_content\`, and names the field. If another provider of the model can take the request, it is sent there instead.

Unknown fields are dropped, unknown content is refused.

The gateway stores no conversations, so two fields are treated alike on every route. \`previous_response_id\` is dropped. \`thread\` of the
messages protocol is refused with 400 \`thread_unsupported_request\`. Anthropic's SDK then sends the whole conversation: its tool runner by
itself, a thread with \`unsupportedRequestBehavior: "continue_unthreaded"\`.

${protocolNames.map(onlyOwn).join("\n\n")}

## Bounds

${numbers((field) => samples[field].concept)}

## Content

${content()}

### Documents

- A document of text, or of parts, is sent as text between \`<document>\` and \`</document>\`, and a search result between
  \`<search_result>\` and \`</search_result>\`. That is reported.
- Converse models that read documents get the file unchanged.
- In conversion to messages any file makes the request fail.

### Turns

- Tool results follow their calls directly, in the order of the calls. Calls without a result, and results without
  a call, are removed and reported.
- Neighbouring turns of one role are merged. An empty turn gets a placeholder.
- For chat, the texts of a turn become one text, in paragraphs, unless a picture or file is among them: some upstreams refuse lists of texts.
- For generateContent, tool results are a turn of their own, and the user's other words follow in the next one: Gemini 3.6 and later refuse
  anything else beside results.
- Arguments of an earlier call that are not a JSON object are sent as one, as \`{"arguments": "<text>"}\`, from responses to chat and to the
  protocols with objects. Most chat upstreams refuse the conversation otherwise.
- Kimi, DeepSeek and MiMo require reasoning in earlier answers of a conversation with calls. If it is missing, they get a blank, from the
  first answer on if tools are offered.
- Claude Code names its session within \`metadata.user_id\`. OpenAI and Azure get it as \`prompt_cache_key\` too: their newer models find a
  cached prompt reliably by this key only. Azure's older addresses, with a version, refuse it and do not get it.
- MiniMax's own endpoint is asked to give reasoning apart (\`reasoning_split\`): otherwise it stands in the text, between \`<think>\` and
  \`</think>\`. On the direct route the caller decides.
- MiMo refuses answers and tool results without text, also answers of only calls. They get a blank.
- For Mistral's models, ids of calls are shortened to nine characters. A short answer is inserted between results and the user's next words;
  that is reported.
- Chat models of Alibaba (Qwen), MiniMax and Mistral refuse system turns within the conversation, which coding agents send. So do
  messages, generateContent and Converse. Such turns of messages and responses callers stay in place, as turns of the user between
  \`<system-reminder>\` and \`</system-reminder>\`: at the top they would void the vendor's prompt cache. Those of chat callers go to
  the top. Both changes are reported.
- In Converse, Llama, Mistral's models and Palmyra refuse other words in the turn of a result, and Llama also in the turn of a call. They
  stand in turns of their own, with a short turn of the other side between; that is reported. Media that Mistral's models, Qwen and Kimi refuse in
  results follow them.
- Claude refuses a turn in which text follows a call. For messages and Converse, calls are moved to the end of their turn.
- Chat callers may put cache markers (\`cache_control\`) on parts, messages, calls and tools. One on a message marks its last part: opencode,
  Kilo Code and OpenHands write it there.
- Claude caches only marked prompts. In messages and Converse, \`prompt_cache_key\` of chat and responses callers becomes cache markers for it.
  They stand on the last tool and at the end of the system prompt. After the first answer, the last two user turns get them too. The offer's
  price must have \`cache_read\` and \`cache_write\`. Callers who set markers get no others. With
  \`prompt_caching: auto\` conversations without a key get markers too, after the first answer ([prompt caches](models.md#prompt-caches-of-claude)).
- A system turn with \`clear_at: next_user_message\` is left out for other protocols if a user turn follows it.
- Google's SDKs send a streamed answer back in its pieces. For other protocols, neighbouring texts of a model in generateContent
  are joined without a break.
- Signatures of reasoning are sent back only to the protocol that made them. If another vendor made a call, callers of generateContent get
  \`skip/thought/signature/validator\` as its signature. It is Google's documented marker, in the alphabet of base64 that all SDKs read.
  Gemini gets it back as documented, older models go without it.
- An image in base64 whose label is not the type of its bytes gets that type, which is reported: Anthropic and Bedrock refuse it otherwise.
- Claude on Bedrock and Vertex AI reads images only as base64. A call with other images goes to another provider of the model, or is
  refused.

### Parameters

- For models whose record says that they reason, the chat of OpenAI and Azure gets the maximum output as \`max_completion_tokens\`, because
  these models refuse \`max_tokens\`. Vendors that refuse or ignore one of the two names get the other: \`max_tokens\` goes to Mistral, DeepSeek,
  Z.ai, NVIDIA, Together and Chutes, \`max_completion_tokens\` to Snowflake. Both are so on direct routes too.
- Gemini 2.5 Flash-Lite reasons only with a budget, and refuses to return thoughts without one. A call that asks for a summary, but names
  no effort, gets the budget -1: the model decides.
- Claude models that decide themselves how much they reason return no thoughts, unless \`thinking.display\` asks for them. It is sent if the
  caller asks for a summary (responses) or thoughts (generateContent), and names an effort or the model reasons by itself. Chat has no
  such setting.
- Kimi takes a subset of JSON Schema for the arguments of tools: no \`type\` beside \`anyOf\` or \`$ref\`, references only to \`$defs\`. Types and
  references of converted calls move to the places that it takes, which is reported.
- An empty list of tools is left out, and so is a choice that has no effect without tools. xAI, vLLM and OpenAI refuse them. In OpenAI's
  protocols direct routes do so too.
- Claude refuses an e-mail address as the end user's id. In conversion to messages a hash is sent in its place, which is reported.
- A choice among allowed tools is sent to generateContent, to responses, and to the chat of OpenAI and Azure. Other vendors refuse it, so
  they are offered only the allowed tools.
- Claude 4.1 to 4.6 refuse a temperature together with \`top_p\`. If both differ from 1, \`top_p\` is left out and reported.
- Groq, and Gemini models before the third generation, refuse JSON output together with tools. It is lost and reported. If no tool may be
  called, the tools are left out instead.

### Schemas

- A schema for the answer is sent to messages and Converse only if the model's record has \`structured_outputs: true\`, as Claude's has
  since 4.5. Bounds that the vendor refuses become part of descriptions, which is reported. Other JSON output is lost there
  ([models](models.md)).
- For messages and Converse, tools lose \`strict\` if their schema has such bounds. They also lose it beyond 20 tools, 24 optional members
  or 16 choices in one request.
- On Bedrock, tools keep \`strict\` only if the model's record has \`structured_outputs: true\`, because some of its models refuse it.
- For chat completions and responses, tools of a messages caller lose \`strict\` if an object is open or has members that are not required.
  OpenAI refuses such schemas, and formats that it does not know, such as \`uri\`.
- For chat completions and responses, a schema that is not an object, such as a list, is wrapped in one. The answer is unwrapped, and
  streamed in one piece. That is reported.
- A tool's schema is sent as one object. \`allOf\` at its root is merged, and so is a choice (\`anyOf\`, \`oneOf\`), which is reported. Others
  are 400 \`unsupported_parameter\`.
- Of tools with the same name, the last one is sent: Claude, Gemini and Bedrock refuse two. A difference between them is reported.
- A \`$ref\` at the root of a tool's or an answer's schema is replaced by its target. For chat completions and responses, lists without
  \`items\` get empty ones.
- For chat completions and responses, a \`pattern\` that only some engines for regular expressions read, for example with lookaround or
  \`\\p{L}\`, becomes part of the description. OpenAI refuses a request with one, and DeepSeek and Z.AI some; Claude Code and zod's
  \`email()\` send them. That is reported.
- Members that are null, and the forms of earlier drafts, such as a list in \`items\`, are sent in the current form of JSON Schema.
- For generateContent, required properties without a schema get an empty one, and so does \`true\` in place of a schema.
- If Claude or Gemini refuses the name of an argument, such as \`$filter\`, the gateway sends another name. Calls in the answer have the
  caller's name, and are streamed in one piece. That is reported.

### Custom and deferred tools

- A custom tool (\`type: custom\`), such as Codex's \`apply_patch\`, is sent unchanged to responses, and to the chat of OpenAI and Azure.
- Elsewhere it becomes a function with one text, \`input\`. Its grammar becomes part of the description, where nothing enforces it.
  Calls come back as calls of the custom tool, streamed in one piece, without members other than \`input\`. That is reported. If a
  function has the same name, the custom tool is sent as \`<name>_custom\`.
- Tools in a namespace (\`type: namespace\`), as Codex sends those of MCP servers, become separate tools for other protocols:
  \`<namespace>__<name>\`. The description of the namespace is added to the first of them. Calls come back with name and namespace
  separately. That is reported. A call of an unknown name stays as the model wrote it.
- Deferred tools (\`defer_loading\`) are offered at once, because without \`tool_search\` no model could find them. A result
  that loads some (\`tool_reference\`), as that of Claude Code's ToolSearch, names them in a text. That is reported.
- Turns can add or remove tools (\`tool_addition\`, \`tool_removal\`; \`additional_tools\`, \`tool_search_output\`). Other protocols get the tools
  that are available at the end of the conversation, with the request. That is reported.

### Answers

The arguments of a call may be no JSON object, for example because they are cut off. Callers of messages and generateContent then get the
whole text under the key \`arguments\`. In a stream of messages the members that were already sent become null. So no tool runs with half of
its input.

Some models put a namespace of their own before the name of a tool, or number it, as in \`functions.look:0\`. If the rest is the name
of an offered tool, and the whole is not, the call has the name of this tool.

Text, refusals, reasoning, tool calls and usage of an answer are converted. Images are converted if the caller's protocol has
a place for them; messages has none. Audio has a place in chat completions and generateContent. Images that a model made while it
reasoned are left out.

Web pages that an answer cites are converted to the caller's form: \`annotations\`, \`citations\` or \`groundingMetadata\`. Each has its address,
its title and the cited words. Messages also has the text of the page. If another vendor made a citation, messages has
\`gw_unsigned\` for \`encrypted_index\`; the gateway leaves such a citation out when it comes back.

A file that a vendor stores, or a document, is converted with its id and name. Without an id it gets its number:

- In responses it is a file.
- In generateContent it is \`retrievedContext\`.
- In messages it is a search result from \`gw_file:\` and its id, which the gateway leaves out when it comes back.
- Chat completions have no place for files.

The vendor's record of its search is available on direct routes only.

The vendor's explanation of why it stopped an answer becomes a refusal, \`stop_details\` or \`finishMessage\`. An answer that
ended in an error, such as Gemini's \`MALFORMED_FUNCTION_CALL\`, counts as failed in conversion. So does an empty answer of Gemini that
does not end with \`STOP\`, but for example with \`OTHER\`. Such an answer costs nothing. If nothing was sent yet, the next
provider is asked. It does not count against the provider.

### Addresses

Addresses of media, files and servers in a request must be \`https\` or \`http\` of a public host, or base64
data. A vendor's own store is allowed too (\`gs:\`, \`s3:\`, \`oss:\`, \`tos:\`, \`cos:\`, \`ms:\`, \`asset:\`). This also applies
to direct routes. Others, such as \`file:\` or a host of a private network, get 400 \`invalid_value\`, which names the
place. \`TOLLGATE_ALLOW_PRIVATE_ADDRESSES=on\` allows private hosts. The gateway does not resolve names, because the vendor fetches the
files.

## Counting

\`POST /v1/messages/count_tokens\` and \`POST /v1beta/models/{model}:countTokens\` answer with the vendor's
count if the provider has the dialect \`anthropic\` or \`google\` and the call would be direct. Otherwise the gateway estimates
everything that the model reads. Counting is never charged.

## Errors

The body follows the protocol of the caller, whatever the upstream speaks; the codes are in [errors](errors.md). On a
direct route the caller gets the vendor's own message if the upstream refuses the request.

${errors()}
`;
}

/** The rows of all fields except those that no upstream is sent: they only concern the gateway and its caller. */
const fieldRows = (): string[][] =>
  (Object.keys(samples) as CanonicalFieldName[])
    .map(fieldRow)
    .filter(([, ...fates]) => fates.some((one) => one !== "-"));
