/**
 * A canonical request brought within what its target can carry. Every rule reads the target's limits (limits.ts);
 * every loss and every rewritten value is noted under the caller's own name. Spec: "Conversion rules".
 */
import { GatewayError } from "../base/errors.ts";
import type { Note } from "../base/notes.ts";
import type {
  CanonicalFieldName,
  CanonicalRequest,
  JsonObject,
  Part,
} from "./canonical/request.ts";
import { valueOf, without, type FitTarget, type Fitting } from "./fit-fields.ts";
import { fitReasoning } from "./fit-reasoning.ts";
import { containerOf } from "./tidy.ts";

export interface Fitted {
  readonly request: CanonicalRequest;
  readonly notes: readonly Note[];
}

/**
 * Fits a request of another protocol to its target.
 * @throws GatewayError `unsupported_content` for media without which the request would mean something else.
 */
export function fit(request: CanonicalRequest, target: FitTarget): Fitted {
  const notes: Note[] = request.native.map(({ param }) => ({
    param,
    kind: "dropped",
    detail: "only its own protocol knows it, dropped in conversion",
  }));
  const fitting: Fitting = {
    request: { ...request, native: [] },
    target,
    note: (field, kind, detail) =>
      notes.push({ param: request.names[field] ?? field, kind, detail }),
  };
  fitContent(fitting, notes);
  fitReasoning(fitting);
  dropLost(fitting);
  tellSchemaLosses(fitting);
  fitSampling(fitting);
  fitMaximum(fitting);
  return { request: fitting.request, notes };
}

function dropLost(fitting: Fitting): void {
  for (const [name, reason] of Object.entries(fitting.target.limits.lost)) {
    const field = name as CanonicalFieldName;
    const value = valueOf(fitting.request, field);
    if (value === undefined) continue;
    // Plain text is what every protocol answers in anyway.
    const isDefault = field === "outputFormat" && fitting.request.outputFormat?.type === "text";
    if (!isDefault) fitting.note(field, "dropped", reason);
    fitting.request = without(fitting.request, field);
  }
}

/** The codec cleans schemas by itself; what that takes out is told here, before anything is sent (T23). */
function tellSchemaLosses(fitting: Fitting): void {
  const { request, target } = fitting;
  const { schemaLosses } = target.limits;
  if (!schemaLosses) return;
  const tell = (field: CanonicalFieldName, schemas: readonly JsonObject[]): void => {
    const keywords = [...new Set(schemas.flatMap((schema) => schemaLosses(schema)))].sort();
    if (keywords.length === 0) return;
    const named = keywords.slice(0, keywordsNamedMax).join(", ");
    const more = keywords.length > keywordsNamedMax ? ", ..." : "";
    fitting.note(
      field,
      "rewritten",
      `schema keywords the upstream refuses left out: ${named}${more}`,
    );
  };
  tell(
    "tools",
    (request.tools ?? []).flatMap(({ parameters }) => (parameters ? [parameters] : [])),
  );
  const format = request.outputFormat;
  if (format?.type === "json_schema") tell("outputFormat", [format.schema]);
}

/** Keywords are the caller's own text, as many as it likes. */
const keywordsNamedMax = 12;

function fitSampling(fitting: Fitting): void {
  const { temperatureMax, stopSequencesMax } = fitting.target.limits;
  const { temperature, stop } = fitting.request;
  if (temperature !== undefined && temperature > temperatureMax) {
    fitting.note(
      "temperature",
      "rewritten",
      `capped at ${temperatureMax}, the most the upstream takes`,
    );
    fitting.request = { ...fitting.request, temperature: temperatureMax };
  }
  if (stop !== undefined && stop.length > stopSequencesMax) {
    fitting.note(
      "stop",
      "rewritten",
      `cut to the first ${stopSequencesMax}, the most the upstream takes`,
    );
    fitting.request = { ...fitting.request, stop: stop.slice(0, stopSequencesMax) };
  }
}

/** A maximum nobody named is filled from the model's limit where one must be sent (CONV-403, T19); nothing is lost by it. */
function fitMaximum(fitting: Fitting): void {
  if (!fitting.target.limits.needsMaximum || fitting.request.maxOutputTokens !== undefined) return;
  fitting.request = { ...fitting.request, maxOutputTokens: fitting.target.maxOutputTokens };
}

/** Media, signatures and cache markers, wherever they stand. Each loss is noted once, by kind. */
function fitContent(fitting: Fitting, notes: Note[]): void {
  const seen = new Set<string>();
  const container = containerOf[fitting.request.protocol];
  const drop = (what: string, detail: string): void => {
    const param = `${container}.${what}`;
    if (seen.has(param)) return;
    seen.add(param);
    notes.push({ param, kind: "dropped", detail });
  };
  const fitPart = (part: Part): Part[] => {
    switch (part.type) {
      case "media":
        return fitMedia(part, fitting, drop);
      case "reasoning":
        return fitSignature(part, fitting, drop);
      case "tool_call":
        return [part.signature ? { ...part, signature: ownSignature(part, fitting, drop) } : part];
      case "tool_result":
        return [{ ...part, content: part.content.flatMap(fitPart) }];
      default:
        return [part];
    }
  };
  const messages = fitting.request.messages.map((message) => ({
    ...message,
    content: message.content.flatMap(fitPart).map((part) => withoutCache(part, drop)),
  }));
  const tools = fitting.request.tools?.map((tool) => withoutCache(tool, drop));
  fitting.request = { ...fitting.request, messages, ...(tools ? { tools } : {}) };
}

type Drop = (what: string, detail: string) => void;
type MediaPart = Extract<Part, { type: "media" }>;

function fitMedia(part: MediaPart, { target }: Fitting, drop: Drop): Part[] {
  const { media, takesUrl } = target.limits;
  const rule = media[part.media];
  if (rule === "refused") {
    const message = `The model's upstream takes no ${part.media} content. Leave it out, or choose another model.`;
    throw new GatewayError("unsupported_content", message);
  }
  if (rule === "dropped") {
    drop(part.media, `${part.media} content cannot be converted for this upstream, dropped`);
    return [];
  }
  const { source } = part;
  const readable = source.kind === "base64" || (source.kind === "url" && takesUrl(source.url));
  if (!readable) {
    drop(
      part.media,
      `the upstream cannot read ${part.media} content by this address, dropped; send it as base64`,
    );
    return [];
  }
  return [part];
}

/** Reasoning keeps a signature of the target's own kind only; without one it goes only where none is asked for (CONV-219). */
function fitSignature(
  part: Extract<Part, { type: "reasoning" }>,
  fitting: Fitting,
  drop: Drop,
): Part[] {
  const signature = ownSignature(part, fitting, drop);
  if (signature) return [part];
  if (!fitting.target.limits.unsignedReasoning) {
    drop("reasoning", "the upstream takes earlier reasoning with its own signature only, dropped");
    return [];
  }
  return part.text === "" ? [] : [{ ...part, signature: undefined }];
}

function ownSignature(
  part: Extract<Part, { type: "reasoning" | "tool_call" }>,
  { request, target }: Fitting,
  drop: Drop,
): typeof part.signature {
  const { signature } = part;
  if (!signature || signature.protocol === target.limits.protocol) return signature;
  drop(
    signatureNames[request.protocol],
    "a signature is valid at the upstream that gave it only, dropped",
  );
  return undefined;
}

/** What each protocol calls the proof of reasoning. */
const signatureNames = {
  chat: "reasoning_details",
  responses: "encrypted_content",
  messages: "signature",
  generate_content: "thoughtSignature",
} as const;

/** Cache markers have a place in the messages protocol only; elsewhere caching is automatic (CONV-217). */
function withoutCache<Item extends object>(item: Item, drop: Drop): Item {
  if (!("cache" in item) || item.cache === undefined) return item;
  drop("cache_control", "the upstream caches prompts by itself, dropped");
  return { ...item, cache: undefined };
}
