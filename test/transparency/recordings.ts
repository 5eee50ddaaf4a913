/**
 * Real vendor answers, stored beside the repository: their content, the vendor's wire format, and the expected results for
 * caller and charge. Computed independently of src/protocols.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Body, Protocol } from "./support.ts";

const root = resolve(import.meta.dirname, "../../../shared/recordings");

const folders: Readonly<Record<Protocol, readonly string[]>> = {
  chat: ["openai/chat", "openai-compatible/chat", "deepseek/chat"],
  responses: ["openai/responses"],
  messages: ["anthropic"],
  generate_content: ["google"],
};

export interface Recording {
  readonly name: string;
  readonly protocol: Protocol;
  /** The events of a stream, or one whole answer. */
  readonly events: readonly string[];
}

const nothing: readonly Recording[] = [];

/** The recordings of whole answers or of streams. Empty if the folder is not beside the repository. */
export function recordingsOf(form: "whole" | "stream"): readonly Recording[] {
  if (!existsSync(root)) return nothing;
  return (Object.keys(folders) as Protocol[]).flatMap((protocol) =>
    folders[protocol].flatMap((folder) =>
      readdirSync(join(root, folder))
        .filter((file) => file.endsWith(".json") === (form === "whole"))
        .flatMap((file) => {
          const text = readFileSync(join(root, folder, file), "utf8");
          return answersIn(protocol, `${folder}/${file}`, text);
        }),
    ),
  );
}

/** Splits a recording. Some files hold the answers of several steps, one after the other. */
function answersIn(protocol: Protocol, name: string, text: string): Recording[] {
  if (name.endsWith(".json")) return [{ protocol, name, events: [text] }];
  const lines = text.split("\n").map((line) => line.replace(/^data: /, "").trim());
  const events = lines.filter((line) => line !== "" && line !== "[DONE]");
  // One file's first event lacks a brace: a mistake of the recorder, not of a vendor.
  if (!events.every(isJson)) return [];
  const steps: string[][] = [[]];
  for (const event of events) {
    if (endsStep(steps.at(-1)!)) steps.push([]);
    steps.at(-1)!.push(event);
  }
  // Between the steps of a program are calls without an answer: a start and a stop, without tokens.
  const answers = steps.filter((step) => step.length > 2);
  return answers.map((step, at) => ({
    protocol,
    name: answers.length === 1 ? name : `${name}, step ${at + 1}`,
    events: step,
  }));
}

const endsStep = (events: readonly string[]): boolean =>
  /"type": ?"(?:message_stop|response\.completed)"/.test(events.at(-1) ?? "");

function isJson(text: string): boolean {
  try {
    return typeof JSON.parse(text) === "object";
  } catch {
    return false;
  }
}

/** A stream in its vendor's wire format. */
export function onTheWire({ protocol, events }: Recording): string {
  switch (protocol) {
    case "chat":
      return `${events.map((event) => `data: ${event}\n\n`).join("")}data: [DONE]\n\n`;
    case "generate_content":
      return events.map((event) => `data: ${event}\r\n\r\n`).join("");
    case "responses":
    case "messages":
      return events
        .map(
          (event) => `event: ${(JSON.parse(event) as { type: string }).type}\ndata: ${event}\n\n`,
        )
        .join("");
  }
}

export interface Counted {
  readonly inputTokens: number;
  readonly cacheReadTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
}

type Numbers = Readonly<Record<string, number | null | undefined>> & {
  readonly [details: `${string}details`]: Numbers | undefined;
  readonly iterations?: readonly Numbers[];
};

const counters: Readonly<Record<Protocol, (last: Numbers) => Counted>> = {
  chat(last) {
    const input = last["prompt_tokens"]!;
    const reasoning = last.completion_tokens_details?.["reasoning_tokens"] ?? 0;
    const spoken = last["completion_tokens"]!;
    // xAI does not include reasoning in the completion tokens; only its total shows it.
    const beside = last["total_tokens"] === input + spoken + reasoning ? reasoning : 0;
    const cached = last.prompt_tokens_details?.["cached_tokens"] ?? 0;
    return counted(input, cached, spoken + beside, reasoning);
  },
  responses(last) {
    const cached = last.input_tokens_details?.["cached_tokens"] ?? 0;
    const reasoning = last.output_tokens_details?.["reasoning_tokens"] ?? 0;
    return counted(last["input_tokens"]!, cached, last["output_tokens"]!, reasoning);
  },
  messages: countedInMessages,
  generate_content(last) {
    const thoughts = last["thoughtsTokenCount"] ?? 0;
    const input = (last["promptTokenCount"] ?? 0) + (last["toolUsePromptTokenCount"] ?? 0);
    const spoken = last["candidatesTokenCount"] ?? 0;
    return counted(input, last["cachedContentTokenCount"] ?? 0, spoken + thoughts, thoughts);
  },
};

/** The tokens of a vendor's usage objects, in their order: the last value of each number counts. */
export function countedIn(protocol: Protocol, usages: readonly object[]): Counted {
  return counters[protocol](Object.assign({}, ...usages.map(withoutNulls)) as Numbers);
}

/** Adds passes that the totals leave out but that are charged: the compaction of a history, an adviser's answer. */
function countedInMessages(last: Numbers): Counted {
  const apart = (last.iterations ?? []).filter(
    ({ type }) => !["message", "fallback_message"].includes(String(type)),
  );
  const sum = (name: string) =>
    [last, ...apart].reduce((total, pass) => total + (pass[name] ?? 0), 0);
  const cached = sum("cache_read_input_tokens");
  return counted(
    sum("input_tokens") + cached + sum("cache_creation_input_tokens"),
    cached,
    sum("output_tokens"),
    last.output_tokens_details?.["thinking_tokens"] ?? 0,
  );
}

const counted = (
  inputTokens: number,
  cacheReadTokens: number,
  outputTokens: number,
  reasoningTokens: number,
): Counted => ({ inputTokens, cacheReadTokens, outputTokens, reasoningTokens });

const withoutNulls = (object: object): object =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null));

/** The usage objects in an answer or an event. */
export function usagesIn(event: Body): object[] {
  const inner = (event["response"] ?? event["message"]) as Body | undefined;
  const found = [inner?.["usage"], event["usage"], event["usageMetadata"]];
  return found.filter((value) => typeof value === "object" && value !== null);
}
