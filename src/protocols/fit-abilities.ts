/**
 * Checks a request against the model's abilities (base/abilities.ts). Parts that would change the question are refused; nuances are dropped
 * and reported. docs/models.md.
 */
import type { Abilities, Modality, ToolChoiceMode } from "../base/abilities.ts";
import { GatewayError } from "../base/errors.ts";
import { contentFieldNames } from "./caller-names.ts";
import { canonicalNames } from "./canonical-names.ts";
import type { CanonicalRequest, MediaPart, Part, ToolChoice } from "./canonical/request.ts";
import { valueOf, without, type Fitting } from "./fit-fields.ts";
import type { Limits } from "./limits.ts";
import { describedSchema } from "./output-format.ts";
import { documentParts } from "./text-documents.ts";
import { messagesField } from "./tidy.ts";

const modeOf = (choice: ToolChoice): ToolChoiceMode => {
  if (choice.type === "allowed") return choice.mode;
  return choice.type === "tool" ? "named" : choice.type;
};

const choiceWords: Readonly<Record<ToolChoiceMode, string>> = {
  auto: "chooses no tools itself",
  none: "cannot be kept from calling tools",
  required: "cannot be made to call a tool",
  named: "cannot be made to call one particular tool",
};

/** @throws GatewayError `unsupported_parameter` for a tool choice that the model does not support: programs rely on it */
export function refuseToolChoice(request: CanonicalRequest, { toolChoice }: Abilities): void {
  const { toolChoice: choice, tools = [], names } = request;
  // `auto` is the default anyway.
  if (!toolChoice || !choice || tools.length === 0) return;
  const mode = modeOf(choice);
  if (mode === "auto" || toolChoice.modes.includes(mode)) return;
  const param = names.toolChoice ?? "tool_choice";
  const message = `${param}: this model ${choiceWords[mode]}. Leave the choice to it, or choose another model.`;
  throw new GatewayError("unsupported_parameter", message, { param });
}

/** @throws GatewayError `unsupported_content` if the model should continue an answer and cannot: it would start a new one */
export function refusePrefill({ messages, protocol }: CanonicalRequest, can: Abilities): void {
  if (can.prefill !== false) return;
  const last = messages.at(-1);
  if (last?.role !== "assistant" || last.content.some(({ type }) => type === "tool_call")) return;
  const param = messagesField[protocol];
  const message = `${param}: this model cannot continue an answer that has begun; the conversation must end with the user.`;
  throw new GatewayError("unsupported_content", message, { param });
}

export const modalityOf: Readonly<Record<MediaPart["media"], Modality>> = {
  image: "image",
  audio: "audio",
  video: "video",
  file: "pdf",
};

/**
 * @throws GatewayError `unsupported_content` for media that the model cannot read, unless the conversion turns them into text, or drops and
 * reports them
 */
export function refuseMedia(
  { messages, protocol }: CanonicalRequest,
  { inputModalities }: Abilities,
  limits?: Pick<Limits, "media">,
): void {
  if (!inputModalities) return;
  const look = (part: Part): void => {
    if (part.type === "tool_result") part.content.forEach(look);
    if (part.type === "media" && part.source.kind === "parts")
      return part.source.parts.forEach(look);
    if (part.type !== "media" || inputModalities.includes(modalityOf[part.media])) return;
    if (limits?.media[part.media] === "dropped") return;
    if (limits && limits.media.file !== "refused" && documentParts(part)) return;
    const param = contentFieldNames[protocol].media(part);
    const message = `${param}: this model reads no ${part.media} content. Leave it out, or choose another model.`;
    throw new GatewayError("unsupported_content", message, { param });
  };
  for (const { content } of messages) content.forEach(look);
}

/** Dropped, not refused: an answer without its schema is still an answer. */
export function fitOutput(fitting: Fitting, { structuredOutputs }: Abilities): void {
  if (structuredOutputs !== false || fitting.request.outputFormat?.type !== "json_schema") return;
  dropOutput(fitting, "this model cannot hold its answer to a schema, dropped");
}

/** Drops the output format. Its schema and its type may be two fields of the caller. */
export function dropOutput(fitting: Fitting, why: string): void {
  fitting.note("outputFormat", "dropped", why);
  if (fitting.request.names["outputFormat.type"] !== undefined)
    fitting.note("outputFormat.type", "dropped", why);
  fitting.request = without(fitting.request, "outputFormat");
}

/** Rewrites the answer schema for the model, if its record says that it supports one. True if the schema is kept. CONV-412. */
export function fitAnswerSchema(fitting: Fitting): boolean {
  const { request, target } = fitting;
  const { outputFormat: format } = request;
  const { answerSchema } = target.limits;
  const mayGo = target.abilities?.structuredOutputs === true && answerSchema !== undefined;
  if (!mayGo || format?.type !== "json_schema") return false;
  const fitted = answerSchema(describedSchema(format));
  if (!fitted) {
    const why = "names or values without a type, or a circle of references, have no place there";
    dropOutput(fitting, `the upstream cannot be given this schema (${why}), dropped`);
    return false;
  }
  const { schema, describedKeywords } = fitted;
  if (fitting.budget?.take(schema, false) === false) {
    dropOutput(
      fitting,
      "the upstream refuses a schema with so many choices and optional members, dropped",
    );
    return false;
  }
  if (describedKeywords.length > 0) {
    const why = `schema keywords the upstream refuses went into descriptions: ${describedKeywords.join(", ")}`;
    fitting.note("outputFormat", "rewritten", why);
  }
  fitting.request = { ...request, outputFormat: { ...format, schema } };
  return true;
}

/** Drops the parameters that a vendor refuses while its model reasons; the list has chat-completions names. */
export function dropExcluded(fitting: Fitting, excluded: readonly string[]): void {
  const why = "this model refuses it while it reasons, dropped";
  for (const name of excluded) {
    const field = canonicalNames[name];
    if (field === undefined) dropNative(fitting, name, why);
    else if (valueOf(fitting.request, field) !== undefined) {
      fitting.note(field, "dropped", why);
      fitting.request = without(fitting.request, field);
    }
  }
}

/** Drops a parameter without a canonical form, which is among the native fields on its own protocol. */
function dropNative(fitting: Fitting, name: string, why: string): void {
  const { native } = fitting.request;
  if (!native.some(({ param }) => param === name)) return;
  fitting.notes.push({ param: name, kind: "dropped", detail: why });
  fitting.request = { ...fitting.request, native: native.filter(({ param }) => param !== name) };
}
