/**
 * What a request holds against what the model can do (base/abilities.ts): what would be another question without it is
 * refused, a nuance is left out and reported. docs/models.md.
 */
import type { Abilities, Modality, ToolChoiceMode } from "../base/abilities.ts";
import { GatewayError } from "../base/errors.ts";
import { innerNames } from "./caller-names.ts";
import { canonicalNames } from "./canonical-names.ts";
import type { CanonicalRequest, MediaPart, Part, ToolChoice } from "./canonical/request.ts";
import { valueOf, without, type Fitting } from "./fit-fields.ts";
import type { Limits } from "./limits.ts";
import { describedSchema } from "./output-format.ts";
import { documentParts } from "./text-documents.ts";
import { containerOf } from "./tidy.ts";

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

/** @throws GatewayError `unsupported_parameter` for a choice that the model does not take: programs rely on it */
export function refuseToolChoice(request: CanonicalRequest, { toolChoice }: Abilities): void {
  const { toolChoice: choice, tools = [], names } = request;
  // To leave the choice to the model is what happens anyway.
  if (!toolChoice || !choice || tools.length === 0) return;
  const mode = modeOf(choice);
  if (mode === "auto" || toolChoice.modes.includes(mode)) return;
  const param = names.toolChoice ?? "tool_choice";
  const message = `${param}: this model ${choiceWords[mode]}. Leave the choice to it, or choose another model.`;
  throw new GatewayError("unsupported_parameter", message, { param });
}

/** @throws GatewayError `unsupported_content` where the model is to go on with an answer and cannot: it would begin anew */
export function refusePrefill({ messages, protocol }: CanonicalRequest, can: Abilities): void {
  if (can.prefill !== false) return;
  const last = messages.at(-1);
  if (last?.role !== "assistant" || last.content.some(({ type }) => type === "tool_call")) return;
  const param = containerOf[protocol];
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
 * @throws GatewayError `unsupported_content` for media that the model cannot read; not for what the way there leaves out
 * and reports anyway
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
    const param = innerNames[protocol].media(part);
    const message = `${param}: this model reads no ${part.media} content. Leave it out, or choose another model.`;
    throw new GatewayError("unsupported_content", message, { param });
  };
  for (const { content } of messages) content.forEach(look);
}

/** Without its schema an answer is still an answer, so the wish for one is a nuance. */
export function fitOutput(fitting: Fitting, { structuredOutputs }: Abilities): void {
  if (structuredOutputs !== false || fitting.request.outputFormat?.type !== "json_schema") return;
  dropOutput(fitting, "this model cannot hold its answer to a schema, dropped");
}

/** Leaves out how the answer is to be formed. Its schema and its type may be two fields of one wish. */
export function dropOutput(fitting: Fitting, why: string): void {
  fitting.note("outputFormat", "dropped", why);
  if (fitting.request.names["outputFormat.type"] !== undefined)
    fitting.note("outputFormat.type", "dropped", why);
  fitting.request = without(fitting.request, "outputFormat");
}

/**
 * A schema for the answer in the form that the model takes, where its record says that it takes one. True where it goes on.
 * CONV-412.
 */
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
  const { schema, told } = fitted;
  if (fitting.budget?.take(schema, false) === false) {
    dropOutput(
      fitting,
      "the upstream refuses a schema with so many choices and optional members, dropped",
    );
    return false;
  }
  if (told.length > 0) {
    const why = `schema keywords the upstream refuses went into descriptions: ${told.join(", ")}`;
    fitting.note("outputFormat", "rewritten", why);
  }
  fitting.request = { ...request, outputFormat: { ...format, schema } };
  return true;
}

/** Leaves out the parameters that a vendor refuses while its model reasons, by chat-completions name. */
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

/** One that has no place in the canonical form stands among the native fields, on its own protocol. */
function dropNative(fitting: Fitting, name: string, why: string): void {
  const { native } = fitting.request;
  if (!native.some(({ param }) => param === name)) return;
  fitting.notes.push({ param: name, kind: "dropped", detail: why });
  fitting.request = { ...fitting.request, native: native.filter(({ param }) => param !== name) };
}
