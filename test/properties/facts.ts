// A request as a list of facts, each with the caller's name for it. The losses between two requests are then the facts of one
// that the other lacks.
import type {
  CanonicalFieldName,
  CanonicalRequest,
  Message,
  Part,
  ToolCallPart,
} from "../../src/protocols/canonical/request.ts";
import { contentFieldNames } from "../../src/protocols/caller-names.ts";

/** A statement of a request, and the field name for the report of its loss. */
export interface Fact {
  readonly says: string;
  readonly name: string;
  /** The fact that this one describes. If both are lost, only that one must be reported. */
  readonly about?: string;
}

type MediaPart = Extract<Part, { type: "media" }>;

/** A value as text, independent of the order of its members. */
const textOf = (value: unknown): string =>
  JSON.stringify(value, (_, member: unknown) =>
    typeof member === "object" && member !== null && !Array.isArray(member)
      ? Object.fromEntries(
          Object.entries(member).sort(([left], [right]) => (left < right ? -1 : 1)),
        )
      : member,
  );

/** Chat gets the texts of a turn as one, in paragraphs. Every text of a random request begins with a "t". */
const betweenTexts = /\n\n(?=[t<])/;

/** The facts of the conversation. Ids of calls are left out, because they only pair calls and results. */
export function conversationFacts({ messages, protocol }: CanonicalRequest): Fact[] {
  const names = contentFieldNames[protocol];
  const calls = new Map<string, ToolCallPart>();
  const results = new Set<string>();
  for (const { content } of messages) {
    for (const part of content) {
      if (part.type === "tool_call") calls.set(part.id, part);
      if (part.type === "tool_result") results.add(part.callId);
    }
  }
  const titleOf = (call: ToolCallPart): string =>
    `${call.name} ${textOf(JSON.parse(call.arguments || "{}"))}`;
  const partFacts = (part: Part, role: Message["role"]): Fact[] => {
    switch (part.type) {
      case "text":
      case "refusal": {
        const says = `${role}: ${part.text}`;
        const marker = role === "system" ? names.systemCache : names.cache;
        const cached = "cache" in part && part.cache !== undefined;
        return [
          ...part.text
            .split(betweenTexts)
            .map((text) => ({ says: `${role}: ${text}`, name: "text" })),
          ...(cached ? [{ says: `${says} is kept in the cache`, name: marker }] : []),
        ];
      }
      case "media":
        return mediaFacts(part);
      case "reasoning":
        return [
          ...(part.text === "" ? [] : [{ says: `thinks ${part.text}`, name: names.reasoning }]),
          ...(part.signature
            ? [{ says: `signed ${part.signature.value}`, name: names.signature }]
            : []),
        ];
      case "tool_call":
        return [{ says: `calls ${titleOf(part)}`, name: names.call }];
      case "tool_result": {
        const call = calls.get(part.callId);
        const of = call ? titleOf(call) : `nothing ${part.callId}`;
        const says = part.content
          .flatMap((one) => (one.type === "text" ? [one.text] : []))
          .join("");
        const result = { says: `result of ${of}: ${says}`, name: names.result };
        const within = part.content.flatMap((one) => (one.type === "media" ? mediaFacts(one) : []));
        if (part.isError) within.push({ says: `error of ${of}`, name: names.isError });
        return [result, ...within.map((fact) => ({ about: result.says, ...fact }))];
      }
    }
  };
  const mediaFacts = (part: MediaPart): Fact[] => {
    const { detail = "auto", source } = part;
    const address =
      source.kind === "base64" ? `${source.mediaType} ${source.data}` : addressOf(source);
    const says = `${part.media} ${address}`;
    return [
      { says, name: names.media(part) },
      ...(detail === "auto"
        ? []
        : [{ says: `${says} in ${detail} detail`, name: names.detail, about: says }]),
    ];
  };
  return messages.flatMap(({ content, role, name }) => [
    ...(name === undefined ? [] : [{ says: `${name} speaks`, name: names.author }]),
    ...content.flatMap((part) => partFacts(part, role)),
  ]);
}

function addressOf(source: Exclude<MediaPart["source"], { kind: "base64" }>): string {
  if (source.kind === "parts") return JSON.stringify(source.parts);
  return "url" in source ? source.url : source.fileId;
}

/** The facts of the offered tools. */
export function toolFacts({ tools = [], names, protocol }: CanonicalRequest): Fact[] {
  return tools.flatMap(({ name, description = "", parameters, strict, cache }) => [
    { says: `tool ${name} ${description}`, name: "tool" },
    { says: `${name} takes ${textOf(parameters)}`, name: names.tools ?? "tools" },
    ...(strict ? [{ says: `${name} is strict`, name: contentFieldNames[protocol].strict }] : []),
    ...(cache ? [{ says: `${name} is kept in the cache`, name: "tools.cache_control" }] : []),
  ]);
}

const settings = [
  "maxOutputTokens",
  "temperature",
  "topP",
  "topK",
  "stop",
  "seed",
  "presencePenalty",
  "frequencyPenalty",
  "toolChoice",
  "parallelToolCalls",
  "outputFormat",
  "verbosity",
  "endUserId",
  "promptCacheKey",
  "metadata",
  "store",
] as const satisfies readonly CanonicalFieldName[];
const wishes = ["effort", "budget", "summary", "includeThoughts", "mode", "context"] as const;

/** The facts of all other fields. */
export function settingFacts(request: CanonicalRequest): Fact[] {
  const { names, native, reasoning } = request;
  const fact = (field: CanonicalFieldName, value: unknown): Fact[] =>
    value === undefined
      ? []
      : [{ says: `${field} is ${textOf(value)}`, name: names[field] ?? field }];
  const { outputFormat, protocol } = request;
  const isJson = outputFormat !== undefined && outputFormat.type !== "text";
  // generateContent has a field of its own for it, beside the schema.
  const ownField = protocol === "generate_content" && outputFormat?.type === "json_schema";
  const jsonName = ownField
    ? "generationConfig.responseMimeType"
    : (names.outputFormat ?? "outputFormat");
  return [
    ...(isJson ? [{ says: "the answer is JSON", name: jsonName }] : []),
    ...native.map(({ param }) => ({ says: `${param} is set`, name: param })),
    ...settings.flatMap((field) => fact(field, request[field])),
    ...wishes.flatMap((wish) => fact(`reasoning.${wish}`, reasoning?.[wish])),
  ];
}

/** The facts of the first list that the second lacks, each as often as it is missing. */
export function missing(before: readonly Fact[], after: readonly Fact[]): Fact[] {
  const left = after.map(({ says }) => says);
  return before.filter(({ says }) => {
    const at = left.indexOf(says);
    if (at !== -1) left.splice(at, 1);
    return at === -1;
  });
}

/** The lost facts that must be reported: without those that describe other lost facts. */
export const toBeReported = (lost: readonly Fact[]): Fact[] =>
  lost.filter(({ about }) => !lost.some(({ says }) => says === about));
