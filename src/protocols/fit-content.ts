/**
 * Fits messages and tools to the target: media, signatures, cache markers and members that only some protocols have. Each loss is noted
 * once, under the caller's name. CONV-217 to CONV-219, CONV-605; traps T24, T36.
 */
import { isDeepStrictEqual } from "node:util";
import type { Note } from "../base/notes.ts";
import type {
  CacheBreakpoint,
  JsonObject,
  MediaPart,
  Message,
  Part,
  Tool,
  ToolResultPart,
} from "./canonical/request.ts";
import { countMarkers } from "./cache-marker.ts";
import { billingDetail, withoutBillingLine } from "./billing-line.ts";
import { contentFieldNames } from "./caller-names.ts";
import { lacks, type Context } from "./fit-context.ts";
import type { Fitting } from "./fit-fields.ts";
import { fitMedia, mayBePdf } from "./fit-media.ts";
import { newMergeBudget, objectRoot } from "./object-root.ts";
import type { Limits } from "./limits.ts";
import { refusalOf } from "./loss-refusal.ts";
import { withItems } from "./open-lists.ts";

type SignedPart = Extract<Part, { type: "reasoning" | "tool_call" }>;

/** Fits the messages and the tools. @throws GatewayError `unsupported_content` */
export function fitContent(fitting: Fitting, notes: Note[]): void {
  const { request, target } = fitting;
  const reported = new Set<string>();
  const context: Context = {
    request,
    target,
    names: contentFieldNames[request.protocol],
    note(param, kind, detail) {
      if (reported.has(param)) return;
      reported.add(param);
      notes.push({ param, kind, detail });
    },
    budget: fitting.budget,
    bounds: newMergeBudget(),
    keepsMarker: markerKeeper(countMarkers(request), target.limits.cacheMarkersMax),
  };
  // Tools first, because the prompt begins with them: cache markers are kept in prompt order.
  const tools = request.tools?.map((tool) => fitTool(tool, context));
  const messages = request.messages.map((message) => fitMessage(message, context));
  fitting.request = { ...request, messages, ...(tools ? { tools } : {}) };
}

function fitTool(tool: Tool, context: Context): Tool {
  const fitted = fitMarker(tool, { name: "tools.cache_control", ofTool: true }, context);
  const parameters = tool.parameters && fitParameters(tool.name, tool.parameters, context);
  const held = tool.strict === true ? enforceableSchema(parameters, context) : parameters;
  const isLost = tool.strict === true && held === undefined;
  if (isLost) {
    const why = "the upstream cannot hold these arguments to their schema, dropped";
    context.note(context.names.strict, "dropped", why);
  }
  return {
    ...fitted,
    ...(isLost ? { strict: undefined } : {}),
    ...(held || parameters ? { parameters: held ?? parameters } : {}),
  };
}

/** Returns the schema for strict arguments; undefined if the upstream cannot enforce it, or its schema budget is used up. */
function enforceableSchema(
  parameters: JsonObject | undefined,
  context: Context,
): JsonObject | undefined {
  const { target, budget, request } = context;
  const { answerSchema, supportedMembers } = target.limits;
  if (!supportedMembers.includes("strict")) return undefined;
  if (answerSchema === undefined)
    return isEnforceable(parameters, context) ? parameters : undefined;
  const fitted = answerSchema(parameters ?? { type: "object", properties: {} });
  if (!fitted || fitted.describedKeywords.length > 0 || budget?.take(fitted.schema, true) === false)
    return undefined;
  const { schema } = fitted;
  if (parameters === undefined || isDeepStrictEqual(schema, parameters))
    return parameters ?? schema;
  const why = "a schema that arguments are held to goes in the upstream's form, closed";
  context.note(request.names.tools ?? "tools", "rewritten", why);
  return schema;
}

/**
 * For upstreams that receive the schema unchanged. Callers of chat and responses know the rules of `strict`; messages callers are checked.
 */
const isEnforceable = (parameters: JsonObject | undefined, { target, request }: Context): boolean =>
  request.protocol !== "messages" ||
  !parameters ||
  target.limits.canEnforce?.(parameters) !== false;

const whyNoRoot = {
  no_object: "must describe an object",
  too_large: "is too large to be merged into one object",
};

/**
 * Adds a missing object type: vendors require one, and some callers omit it (T24).
 * @throws GatewayError `unsupported_parameter` for arguments that are no object and cannot become one: every vendor refuses them
 */
function fitParameters(tool: string, parameters: JsonObject, context: Context): JsonObject {
  const { protocol, names } = context.request;
  const param = names.tools ?? "tools";
  const root = objectRoot(parameters, context.bounds);
  if (typeof root === "string")
    throw refusalOf(
      protocol,
      { param },
      { what: `the schema of ${tool}'s arguments ${whyNoRoot[root]}`, remedy: "Change it" },
    );
  const { schema, lost } = root;
  if (lost.length > 0) {
    const why = `upstreams take one object of arguments: what it may be by ${lost.join(" or ")} was merged`;
    context.note(param, "rewritten", why);
  }
  const { listsNeedItems, toolSchema } = context.target.limits;
  const closed = listsNeedItems === true ? withItems(schema) : schema;
  const taken = toolSchema?.(closed) ?? closed;
  if (taken !== closed)
    context.note(param, "rewritten", "types and references moved to where the upstream takes them");
  return taken;
}

function fitMessage(message: Message, context: Context): Message {
  const { names } = context;
  const system = message.role === "system";
  const name = system ? names.systemCache : names.cache;
  const fitParts = (parts: readonly Part[], inResult = false): Part[] => {
    const fitted: Part[] = [];
    for (const part of parts)
      for (const one of fitPart(part, message, context)) {
        const isResult = one.type === "tool_result";
        const whole = isResult ? { ...one, content: fitParts(one.content, true) } : one;
        const ofTool = inResult || isResult || one.type === "tool_call";
        fitted.push(fitMarker(whole, { name, ofTool }, context));
      }
    return fitted;
  };
  const content = fitParts(system ? withoutBilling(message.content, context) : message.content);
  if (message.name === undefined || !lacks(context, "name")) return { ...message, content };
  context.note(names.author, "dropped", "the upstream knows no names of participants, dropped");
  return { ...message, name: undefined, content };
}

function fitResult(part: ToolResultPart, context: Context): ToolResultPart {
  if (part.isError !== true || !lacks(context, "isError")) return part;
  const why = "the upstream cannot be told that a result is an error, only its text, dropped";
  context.note(context.names.isError, "dropped", why);
  const { isError: _error, ...rest } = part;
  return rest;
}

function fitPart(part: Part, message: Message, context: Context): Part[] {
  switch (part.type) {
    case "media":
      return fitMedia(part, message, context);
    case "reasoning":
      return fitReasoningPart(part, context);
    case "tool_call":
      return [part.signature ? { ...part, signature: ownSignature(part, context) } : part];
    case "tool_result":
      return [fitResult(part, context)];
    case "refusal":
      return [lacksRefusals(context.target.limits) ? { type: "text", text: part.text } : part];
    default:
      return [part];
  }
}

/** Only OpenAI and Azure have refusals in chat. For others, an answer with nothing else would be empty, and DeepSeek refuses that. */
const lacksRefusals = ({ protocol, customTools }: Limits): boolean =>
  protocol === "chat" && customTools !== true;

/** Keeps reasoning with a signature of the target's protocol. Without one, it is kept only if the target needs no signature (CONV-219). */
function fitReasoningPart(part: Extract<Part, { type: "reasoning" }>, context: Context): Part[] {
  const signature = ownSignature(part, context);
  if (signature) return [part];
  if (part.text === "") return [];
  if (context.target.limits.unsignedReasoning) return [{ ...part, signature: undefined }];
  const isChat = context.target.limits.protocol === "chat";
  const why = isChat
    ? "the upstream refuses earlier reasoning, dropped"
    : "the upstream takes earlier reasoning with its own signature only, dropped";
  context.note(context.names.reasoning, "dropped", why);
  return [];
}

function ownSignature({ signature }: SignedPart, context: Context): SignedPart["signature"] {
  if (!signature || signature.protocol === context.target.limits.protocol) return signature;
  const why = "a signature is valid at the upstream that gave it only, dropped";
  context.note(context.names.signature, "dropped", why);
  return undefined;
}

function withoutBilling(parts: readonly Part[], context: Context): readonly Part[] {
  if (context.request.protocol !== "messages") return parts;
  return parts.flatMap((part) => {
    const text = part.type === "text" ? withoutBillingLine(part.text) : undefined;
    if (part.type !== "text" || text === undefined) return [part];
    context.note("system", "rewritten", billingDetail);
    return text === "" ? [] : [{ ...part, text }];
  });
}

interface MarkerPlace {
  /** The caller's name of the marker. */
  readonly name: string;
  /** True for a tool, a call, a result, and the content of a result. */
  readonly ofTool: boolean;
}

/** Only the messages protocol has cache markers; elsewhere caching is automatic (CONV-217). */
function fitMarker<Item extends object>(
  item: Item,
  { name: usual, ofTool }: MarkerPlace,
  context: Context,
): Item {
  if (!("cache" in item) || item.cache === undefined) return item;
  const { ttl, param: name = usual } = item.cache as CacheBreakpoint;
  const { cacheMarkersMax, plainMarkers, documentsUnmarked } = context.target.limits;
  if (!context.keepsMarker()) {
    const why =
      cacheMarkersMax === 0
        ? "the upstream caches prompts by itself, dropped"
        : `the upstream takes ${cacheMarkersMax} cache markers, the first and the last were kept`;
    context.note(name, cacheMarkersMax === 0 ? "dropped" : "rewritten", why);
    return { ...item, cache: undefined };
  }
  if (documentsUnmarked && !ofTool && isOtherDocument(item)) {
    const why = "the upstream takes no cache marker after a document that is no PDF, dropped";
    context.note(name, "dropped", why);
    return { ...item, cache: undefined };
  }
  if (!plainMarkers) return item;
  if (ofTool) {
    context.note(name, "dropped", "this model takes no cache markers at tools, dropped");
    return { ...item, cache: undefined };
  }
  if (ttl !== "1h") return item;
  context.note(name, "rewritten", "this model caches for five minutes only");
  return { ...item, cache: {} };
}

/** True for a document that is no PDF. */
const isOtherDocument = (item: object): boolean =>
  "media" in item && item.media === "file" && !mayBePdf((item as MediaPart).source);

/** Keeps the first marker, which all calls share, and the last ones, which cover this conversation so far (CONV-605). */
function markerKeeper(count: number, max: number): () => boolean {
  let index = -1;
  return () => {
    index += 1;
    return count <= max || (max > 0 && (index === 0 || index > count - max));
  };
}
