/**
 * Generates docs/protocols.md: the result for each part of a request between any two protocols. The tables come from each codec's
 * limits, and the places of fields from the real output of `fit` and the codecs.
 */
import { GatewayError } from "../src/base/errors.ts";
import type { CanonicalFieldName, CanonicalRequest } from "../src/protocols/canonical/request.ts";
import { filteredFields } from "../src/protocols/filter.ts";
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
import type { Limits } from "../src/protocols/limits.ts";
import { lossesOf } from "../src/protocols/losses.ts";
import { content } from "./docs-protocols-content.ts";
import { heads, perProtocol, table, titles } from "./docs-protocols-table.ts";

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

const count = (value: number): string => (value === Infinity ? "no bound" : String(value));

function numbers(): string {
  return table(
    ["what", ...heads],
    [
      perProtocol("Highest temperature; above it capped", (one) => count(one.temperatureMax)),
      perProtocol("Stop sequences; more are cut off", (one) =>
        "stop" in one.unsupportedFields ? "none" : count(one.stopSequencesMax),
      ),
      perProtocol("Stop sequences of white space alone", (one) =>
        "stop" in one.unsupportedFields ? "none" : one.refusesBlankStops ? "left out" : "carried",
      ),
      perProtocol("Largest seed; of a larger one the remainder goes", (one) =>
        "seed" in one.unsupportedFields ? "none" : count(one.seedMax ?? Infinity),
      ),
      perProtocol("Least maximum output; a smaller one is raised", (one) =>
        count(one.outputTokensMin ?? 1),
      ),
      perProtocol(
        "JSON output without a schema must be asked for in words; added where missing",
        (one) =>
          one.jsonWord === undefined
            ? "no"
            : one.jsonWord === "input"
              ? "in the input"
              : "anywhere",
      ),
      perProtocol("Metadata of an answer that is not stored", (one) =>
        "metadata" in one.unsupportedFields || one.metadataNeedsStore ? "lost" : "carried",
      ),
      perProtocol("Maximum output where the caller names none", (one) =>
        one.needsMaximum ? "the model's own" : "not sent",
      ),
      perProtocol("Characters of an end-user id; a longer one goes as a hash", (one) =>
        "endUserId" in one.unsupportedFields ? "none" : count(one.endUserIdMax),
      ),
      perProtocol("Cache markers", (one) =>
        one.cacheMarkersMax === 0
          ? "lost: caching is automatic"
          : `${one.cacheMarkersMax}; of more, the first and the last stay`,
      ),
      perProtocol(
        "Names of tools; others go under a short one",
        (one) => `\`${one.toolName.source}\``,
      ),
      perProtocol("Names of arguments; others go under a legal one", (one) =>
        one.argumentName ? `\`${one.argumentName.source}\`` : "any",
      ),
      perProtocol("System turns", (one) =>
        one.systemOnTop ? "gathered at the top, reported" : "where they stand",
      ),
      perProtocol("White space at the end of an answer to go on with", (one) =>
        one.trimsPrefill ? "left out" : "carried",
      ),
      perProtocol("Earlier reasoning without a signature of this protocol", (one) =>
        one.unsignedReasoning ? "carried" : "lost",
      ),
      perProtocol("Beside reasoning the vendor refuses", (one) =>
        one.reasoning.excludes.length === 0
          ? "nothing"
          : `${one.reasoning.excludes.map((field) => samples[field].concept).join(", ")}: lost`,
      ),
      perProtocol("Efforts the vendor does not know", effortsOf),
      perProtocol("JSON Schema", (one) =>
        one.schemaLosses ? "local `$ref` put in place; refused keywords lost" : "whole",
      ),
    ],
  );
}

function effortsOf({ reasoning }: Limits): string {
  const { budgetByEffort, effortReplacements } = reasoning;
  const pairs = (record: Readonly<Record<string, string | number>>) =>
    Object.entries(record).map(
      ([from, to]) => `${from}: ${to === "limit" ? "the model's maximum" : to}`,
    );
  if (budgetByEffort) return `become budgets (${pairs(budgetByEffort).join(", ")})`;
  const becomes = pairs(effortReplacements);
  return becomes.length === 0 ? "passed on" : becomes.join(", ");
}

/** The fields that only one protocol has, with their class; places with the same reason are grouped. */
function onlyOwn(name: ProtocolName): string {
  const groups = Map.groupBy(lossesOf(name), ([, loss]) => loss);
  const rows = [...groups].map(([loss, places]) => [
    loss.class === "refused" ? "**refused**" : "dropped",
    loss.what,
    places.map(([place]) => `\`${place.replace(/:(.*)$/, " ($1)")}\``).join(", "),
  ]);
  const refusedFirst = rows.sort(([one], [other]) => one!.localeCompare(other!));
  return `### Callers of ${titles[name]}\n\n${table(["class", "what", "places"], refusedFirst)}`;
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

const filtered = filteredFields.map((name) => `\`${name}\``).join(", ");

/** The page as Markdown. */
export function protocolsPage(): string {
  return `# Protocols

<!-- Generated from src/protocols by \`npm run docs\`. -->

A model is called in any of four protocols, whichever of them its provider speaks. Where both speak the same, the
call is **direct**: the body goes on as it is. Where they differ it is **converted**, whole and streamed, through one
canonical form. This page says what that costs.

## Direct routes

Everything passes, fields we do not know included. What changes: \`model\` becomes the upstream's own name and comes
back as ours. ${filtered} are never forwarded: the vendor would bill another price than the call is charged. A provider
of the configuration sets them for all its calls with \`request.add\`. A chat stream is asked for its usage, which the caller sees only if it
asked for it. A field that the model does not have (\`parameters\` in the configuration) is treated like a lost one.
Claude Code's line about its bill (\`x-anthropic-billing-header\`) is left out where the model has another vendor's name, such as Kimi.
Ids of calls that Claude refuses, such as Kimi's \`functions.look:0\`, go to it under others.
Earlier reasoning is left out of what Groq, Cerebras and Mistral are sent, converted or not: they refuse \`reasoning_content\`.
So are parameters of OpenAI's that they refuse, such as \`store\` and \`prompt_cache_key\`, which is reported.

## What is reported

Whatever is dropped or rewritten is named as the caller wrote it, as a dotted path, once, in the order of the request. A
whole answer has the names in \`gw.droppedParams\`, a stream has them in the header \`x-gw-dropped-params\`. The request
log adds the reason to each name. All of it is known before the first byte is sent.

## Fields

Each column is the protocol of the upstream: where a field stands there, or why it is lost.

${table(["concept", ...heads], fieldRows())}

## What only one protocol knows

Such fields are kept on direct routes. On converted ones a nuance is **dropped** and reported. What would lose content
of the caller is **refused** before anything is charged: 400 \`unsupported_parameter\` or \`unsupported_content\`, with
the field named. If another provider of the model can take the request, it goes there. Unknown fields are dropped,
unknown content is refused.

Two fields are treated alike on every route. \`previous_response_id\` is dropped. \`thread\` of the messages protocol is
refused with 400 \`thread_unsupported_request\`; Anthropic's SDK then sends the whole conversation (its tool runner by
itself, a thread with \`unsupportedRequestBehavior: "continue_unthreaded"\`). The gateway keeps no conversations.

${protocolNames.map(onlyOwn).join("\n\n")}

## Bounds

${numbers()}

## Content

${content()}

A document of text, or of parts, goes on as text between \`<document>\` and \`</document>\`, and a result of a search between
\`<search_result>\` and \`</search_result>\`. That is reported. To models of Converse that read documents a file goes as it is. Towards messages any file
makes the request fail.

Results of tools follow their calls directly, in the order of the calls; calls without a result, and results without
a call, are removed and reported. Neighbouring turns of one role are merged, and what would be empty gets a placeholder.
The chat of OpenAI and Azure gets the maximum of output as \`max_completion_tokens\` for models whose record says that they reason: those refuse \`max_tokens\`.
Kimi and DeepSeek get a blank in place of reasoning that an earlier answer of a conversation with calls lacks: they refuse it otherwise.
At Mistral's models ids of calls have nine characters, and a short answer stands between results and the user's next words. That one is reported.
Groq, and Gemini models before the third generation, refuse JSON output beside tools. It is lost and reported, unless no tool may be called: then the tools stay out.
Claude on Bedrock and Vertex AI reads pictures as base64 only: with others a call goes to another provider of the model, or is refused.
On Bedrock tools keep \`strict\` only where the model's record has \`structured_outputs: true\`: some of its models refuse it.
Claude 4.1 to 4.6 refuse a temperature beside \`top_p\`. Of two that differ from 1 \`top_p\` is left out, which is reported.
Towards messages and Converse a schema for the answer goes on where the model's record has \`structured_outputs: true\`, as Claude has since 4.5. Bounds that the vendor
refuses stand in descriptions then, and are reported. Other JSON output is lost there ([models](models.md)). Tools lose \`strict\` there where their schema has such bounds, and beyond 20 tools, 24 optional members or 16 choices in one request. Towards
chat completions and responses tools of a messages caller lose it where an object is open or has members that are not required, which OpenAI refuses. Towards chat completions and responses a
schema that is no object, such as a list, goes within one. The answer is taken out, streamed in one piece, and that is reported.
A tool's schema goes as one object: \`allOf\` at its root is merged, and so is a choice (\`anyOf\`, \`oneOf\`), which is reported. Others are 400 \`unsupported_parameter\`.
A \`$ref\` at its root, or that of an answer's schema, is replaced by what it refers to. Lists without \`items\` go to chat completions and responses with empty ones.
An argument's name that Claude or Gemini refuses, such as \`$filter\`, goes under another one; calls have the caller's own, streamed in one piece. That is reported.
A custom tool (\`type: custom\`), such as Codex's \`apply_patch\`, goes as it is to responses, and to the chat of OpenAI and Azure. Elsewhere it goes as a
function with one text, \`input\`, and its grammar into the description, where nothing enforces it. Calls come back as calls of the custom tool, streamed in one
piece, without what a model wrote beside \`input\`. That is reported. One that has the name of a function goes as \`<name>_custom\`.
Tools within a namespace (\`type: namespace\`), as Codex sends those of MCP servers, go to other protocols as tools of their own, \`<namespace>__<name>\`. What is
said of the namespace stands with the first of them. Calls come back with name and namespace apart. That is reported. Deferred ones (\`defer_loading\`)
are offered at once: without \`tool_search\` no model could find them. A call of a name that stands for none of them stays as the model wrote it.
Tools that turns add or take away (\`tool_addition\`, \`tool_removal\`; \`additional_tools\`, \`tool_search_output\`) go to other protocols with the request: those that there
are at the conversation's end. That is reported. A system turn with \`clear_at: next_user_message\` is left out there once a user has spoken after it.
Google's SDKs send a streamed answer back as its pieces: to other protocols, a model's neighbouring texts of generateContent go on without a break.
Signatures of reasoning go back to the protocol that gave them, and to no other. A call that another vendor made has
\`skip_thought_signature_validator\` in place of one for callers of generateContent: Gemini then takes it in a later turn.

Arguments of a call that are no JSON object, such as a cut one, stand whole under the key \`arguments\` for callers of messages and
generateContent. In a stream of messages the members that were sent by then are null beside it: no tool runs with half of its input.

Of a converted answer, text, refusals, reasoning, calls of tools and usage arrive, and pictures where the caller's protocol has
a place for them: messages has none. Sound has a place in chat completions and generateContent. Pictures that a model drew while it thought are left out.

Pages that an answer relies on arrive in the caller's form: \`annotations\`, \`citations\` or \`groundingMetadata\`. Each has its address,
its title and the words that it is for; messages has what the page says too. A citation of messages that another vendor gave has
\`gw_unsigned\` for \`encrypted_index\`, and is left out where it comes back. A file that a vendor keeps, or a document, arrives with its id and name,
or, without any, with its number. In responses it is a file, and in
generateContent \`retrievedContext\`. In messages it is a result of a search from \`gw_file:\` and its id, which is left out where it comes back.
Chat completions have no place for files. The vendor's record of its search arrives on direct routes only.

Why a vendor stopped an answer, in its own words, arrives as a refusal, \`stop_details\` or \`finishMessage\`. An answer that
ended in an error, such as Gemini's \`MALFORMED_FUNCTION_CALL\`, counts as failed in conversion. So does one of Gemini's that says
nothing and ends in another word than \`STOP\`, such as \`OTHER\`. It costs nothing, and the next
provider is asked where nothing was sent yet. The health of its provider does not suffer.

Addresses of media, files and servers that a request names must be \`https\` or \`http\` of a public host, or base64
data. A vendor's own store is allowed too (\`gs:\`, \`s3:\`, \`oss:\`, \`tos:\`, \`cos:\`, \`ms:\`, \`asset:\`). This
holds on direct routes too. Others, such as \`file:\` or a host of a private network, are 400 \`invalid_value\` with the
place named. \`TOLLGATE_ALLOW_PRIVATE_ADDRESSES=on\` allows private hosts. Names are not resolved: the vendor fetches,
not the gateway.

## Counting

\`POST /v1/messages/count_tokens\` and \`POST /v1beta/models/{model}:countTokens\` are answered with the vendor's own
number if the provider has the dialect \`anthropic\` or \`google\` and the call would be direct. Otherwise the answer is
an estimate of everything the model reads. They are never charged.

## Errors

The body follows the protocol of the caller, whatever the upstream speaks; the codes are in [errors](errors.md). On a
direct route an upstream's refusal of the request reaches the caller in the vendor's own words.

${errors()}
`;
}

/** The rows of all fields except those that no upstream is sent: they only concern the gateway and its caller. */
const fieldRows = (): string[][] =>
  (Object.keys(samples) as CanonicalFieldName[])
    .map(fieldRow)
    .filter(([, ...fates]) => fates.some((one) => one !== "-"));
