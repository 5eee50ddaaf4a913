/**
 * Custom tools for targets that only have functions. Each becomes a function with one string, `input`; calls in the answer become calls of
 * the custom tool again. The input format goes into the description. CONV; T33.
 */
import type {
  CanonicalRequest,
  CustomFormat,
  Message,
  Part,
  Tool,
  ToolCallPart,
  ToolChoice,
} from "./canonical/request.ts";
import type { UpstreamCodec } from "./codec.ts";
import { bufferBlocks, mapEvents } from "./buffer-blocks.ts";
import { hashedName } from "./legal-name.ts";
import type { Limits } from "./limits.ts";
import { jsonOrText } from "../base/json-text.ts";
import { isSet } from "./read.ts";
import { isNoArguments, objectIn } from "./tool-arguments.ts";
import { noteOfTools } from "./tool-names.ts";
import { unchanged, type RequestRewrite } from "./request-rewrite.ts";

/** Turns a request's custom tools, and calls of them, into functions if the target has no custom tools. */
export function customAsFunctions(
  request: CanonicalRequest,
  { customTools }: Limits,
): RequestRewrite {
  const { tools = [], messages } = request;
  const isOffered = tools.some(({ custom }) => custom);
  const isCalled = messages.some(({ content }) => content.some(isCustomCall));
  if (customTools === true || !(isOffered || isCalled)) return unchanged(request);
  const renamed = renameConflicts(tools);
  const nameOf = (name: string): string => renamed.get(name) ?? name;
  const custom = new Map(
    tools.flatMap((tool) => (tool.custom ? [[nameOf(tool.name), tool.name] as const] : [])),
  );
  const { toolChoice } = request;
  return {
    request: {
      ...request,
      messages: messages.map((message) => callsAsFunctions(message, nameOf)),
      ...(request.tools ? { tools: tools.map((tool) => asFunction(tool, nameOf)) } : {}),
      ...(toolChoice ? { toolChoice: choiceOfFunctions(toolChoice, renamed) } : {}),
    },
    notes: [
      noteOfTools(
        request,
        isOffered,
        `custom tools went as functions with one text, \`input\`${tools.some(hasGrammar) ? grammarNote : ""}; calls are of your own tools`,
      ),
    ],
    wrapCodec: (upstream) => restoreCustomCalls(upstream, custom),
  };
}

/** Returns new names, by old name, for custom tools that share their name with a function: two functions cannot have the same name. */
function renameConflicts(tools: readonly Tool[]): ReadonlyMap<string, string> {
  const functions = new Set(tools.flatMap(({ name, custom }) => (custom ? [] : [name])));
  const taken = new Set(tools.map(({ name }) => name));
  const renamed = new Map<string, string>();
  for (const { name, custom } of tools) {
    if (!custom || !functions.has(name) || renamed.has(name)) continue;
    const plain = `${name}_custom`;
    const other = taken.has(plain) ? hashedName(plain, name, taken) : plain;
    taken.add(other);
    renamed.set(name, other);
  }
  return renamed;
}

/** An allowed name that two tools share allows both. */
function choiceOfFunctions(choice: ToolChoice, renamed: ReadonlyMap<string, string>): ToolChoice {
  if (choice.type === "tool" && choice.custom)
    return { ...choice, name: renamed.get(choice.name) ?? choice.name, custom: undefined };
  if (choice.type !== "allowed") return choice;
  const names = choice.names.flatMap((name) => [name, ...[renamed.get(name) ?? []].flat()]);
  return { ...choice, names };
}

const grammarNote = ", and grammars as a part of descriptions, which nothing enforces";

const hasGrammar = ({ custom }: Tool): boolean => custom?.format?.type === "grammar";

const isCustomCall = (part: Part): part is ToolCallPart =>
  part.type === "tool_call" && part.custom === true;

type NameOf = (name: string) => string;

const callsAsFunctions = (message: Message, nameOf: NameOf): Message => ({
  ...message,
  content: message.content.map((part) => {
    if (isCustomCall(part)) {
      const written = JSON.stringify({ input: part.arguments });
      return { ...part, name: nameOf(part.name), custom: undefined, arguments: written };
    }
    if (part.type !== "tool_result" || !part.custom) return part;
    const named = part.name === undefined ? {} : { name: nameOf(part.name) };
    return { ...part, ...named, custom: undefined };
  }),
});

function asFunction(tool: Tool, nameOf: NameOf): Tool {
  if (!tool.custom) return tool;
  const { description, custom, cache } = tool;
  const name = nameOf(tool.name);
  const told = [description, formatText(custom.format)].filter((text) => text !== undefined);
  return {
    name,
    ...(told.length > 0 ? { description: told.join("\n\n") } : {}),
    parameters: {
      type: "object",
      properties: {
        input: { type: "string", description: "The whole input of the tool, as it is." },
      },
      required: ["input"],
    },
    ...(cache ? { cache } : {}),
  };
}

function formatText(format: CustomFormat | undefined): string | undefined {
  if (format?.type !== "grammar") return undefined;
  const { syntax, definition } = format;
  const kind = syntax === "regex" ? "regular expression" : `${syntax} grammar`;
  return `\`input\` must match this ${kind}:\n${definition}`;
}

/** The caller's names of the custom tools, by their function names. */
type CallerNames = ReadonlyMap<string, string>;

/** A codec that restores calls of the custom tools in whole and streamed answers. */
const restoreCustomCalls = (upstream: UpstreamCodec, custom: CallerNames): UpstreamCodec => ({
  ...upstream,
  decodeResponse(body) {
    const response = upstream.decodeResponse(body);
    return { ...response, content: response.content.map((part) => asCustomCall(part, custom)) };
  },
  decodeStream() {
    const decoder = upstream.decodeStream();
    const held = bufferBlocks(decoder, (start) =>
      start.type === "tool_call_start" && custom.has(start.name) ? readInput : undefined,
    );
    return mapEvents(held, (event) => {
      const name = event.type === "tool_call_start" ? custom.get(event.name) : undefined;
      return event.type === "tool_call_start" && name !== undefined
        ? { ...event, name, custom: true }
        : event;
    });
  },
});

function asCustomCall(part: Part, custom: CallerNames): Part {
  const name = part.type === "tool_call" ? custom.get(part.name) : undefined;
  return part.type === "tool_call" && name !== undefined
    ? { ...part, name, custom: true, arguments: readInput(part.arguments) }
    : part;
}

/** Returns the input from a call's arguments. A model may use another member name, or write the input bare. */
function readInput(text: string): string {
  if (isNoArguments(text)) return "";
  const object = objectIn(text);
  if (!object) return readBrokenInput(text) ?? text;
  const { input, ...others } = object;
  if (typeof input === "string") return input;
  if (isSet(input)) return text;
  const [only, ...more] = Object.values(others);
  if (only === undefined) return "";
  return typeof only === "string" && more.length === 0 ? only : text;
}

const inputStart = /^\s*\{\s*"input"\s*:\s*"/;
/** An unescaped quote with only braces and white space after it. */
const inputEnd = /(?<!\\)((?:\\\\)*)"[\s}]*$/;
/** A truncated escape sequence. */
const truncatedEscape = /(?<!\\)((?:\\\\)*)\\(?:u[0-9a-fA-F]{0,3})?$/;
const loneSurrogate = /[\ud800-\udbff]$/u;

/** The same for arguments that are not valid JSON: truncated at the token limit, or with raw line breaks. */
function readBrokenInput(text: string): string | undefined {
  const start = inputStart.exec(text);
  if (!start) return undefined;
  const said = text.slice(start[0].length);
  if (inputEnd.test(said)) return written(said.replace(inputEnd, "$1"));
  return written(said.replace(truncatedEscape, "$1"))?.replace(loneSurrogate, "");
}

/** Parses the inside of a JSON string; control characters may be raw or escaped. Undefined if it is invalid. */
function written(text: string): string | undefined {
  const escaped = text.replace(/\\[^]|\p{Cc}/gu, (one) =>
    one.startsWith("\\") ? one : JSON.stringify(one).slice(1, -1),
  );
  const value = jsonOrText(`"${escaped}"`);
  return value === `"${escaped}"` ? undefined : String(value);
}
