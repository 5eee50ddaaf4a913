/**
 * Fits a canonical request to its target. Every rule reads the target's limits (limits.ts); every loss and rewritten value is noted under
 * the caller's name. Requirements: CONV.
 */
import type { Note } from "../base/notes.ts";
import { allowedTools } from "./allowed-tools.ts";
import type {
  CanonicalFieldName,
  CanonicalRequest,
  JsonObject,
  Part,
} from "./canonical/request.ts";
import { withCurrentSchemas } from "./current-schema.ts";
import {
  dropOutput,
  fitAnswerSchema,
  fitOutput,
  refuseMedia,
  refuseToolChoice,
} from "./fit-abilities.ts";
import { fitContent } from "./fit-content.ts";
import {
  startFitting,
  valueOf,
  without,
  type FitTarget,
  type Fitting,
  type Fitted,
} from "./fit-fields.ts";
import { whyNeverForwarded } from "./filter.ts";
import { fitIds } from "./fit-ids.ts";
import { fitReasoning, hasDisplay } from "./fit-reasoning.ts";
import { capOutputTokens, fitValues } from "./fit-values.ts";
import type { DroppableField } from "./limits.ts";
import { protocolTitles, refusalOf } from "./loss-refusal.ts";
import { lossOf } from "./losses.ts";
import { patternsDescribed, withPortablePatterns } from "./portable-patterns.ts";
import { isEmptyList } from "./read.ts";
import { removeSameNames } from "./same-names.ts";

/**
 * Fits a request of another protocol to its target.
 * @throws GatewayError `unsupported_content` or `unsupported_parameter` for a part that cannot be dropped without changing the request's
 * meaning
 */
export function fit(request: CanonicalRequest, target: FitTarget): Fitted {
  const notes = dropNativeFields(request);
  const current = withCurrentSchemas({ ...request, native: [] });
  const fitting = startFitting(current, target, notes);
  const { abilities = {} } = target;
  refuseMedia(request, abilities, target.limits);
  refuseToolChoice(request, abilities);
  removeSameNames(fitting);
  fitContent(fitting, notes);
  fitIds(fitting);
  fitAllowed(fitting);
  fitNamed(fitting);
  fitForbidden(fitting);
  fitChoice(fitting);
  capOutputTokens(fitting);
  fitReasoning(fitting);
  fitOutput(fitting, abilities);
  fitFormatOrTools(fitting);
  dropUnsupportedFields(fitting);
  fitMetadata(fitting);
  noteSchemaLosses(fitting);
  fitPatterns(fitting);
  fitValues(fitting);
  return { request: fitting.request, notes };
}

/** Drops the fields that only the caller's protocol knows. @throws GatewayError for fields that carry content */
function dropNativeFields({ protocol, native }: CanonicalRequest): Note[] {
  const unsupportedFields = native.filter(({ value }) => !isEmptyList(value));
  for (const field of unsupportedFields) {
    const loss = lossOf(protocol, field);
    if (loss.class === "refused") throw refusalOf(protocol, field, loss);
  }
  const usual = `the provider's protocol has no such field, dropped in conversion; a provider that speaks ${protocolTitles[protocol]} gets it`;
  const byDetail = Map.groupBy(unsupportedFields, (field) => whyNeverForwarded(field) ?? usual);
  return [...byDetail].flatMap(([detail, fields]) =>
    groupByPath(fields.map(({ param }) => param)).map((param): Note => ({
      param,
      kind: "dropped",
      detail,
    })),
  );
}

/**
 * A member that several list items have is named once, without indexes: Codex CLI 0.171 has one in each item, and the header is limited to
 * 4 KB. Items themselves keep their indexes.
 */
function groupByPath(params: readonly string[]): string[] {
  const byPlace = Map.groupBy(params, (param) => param.replace(/\[\d+\](?!$)/g, ""));
  return [...byPlace].map(([place, alike]) => (alike.length === 1 ? alike[0]! : place));
}

/**
 * Leaves out names of allowed tools that are not offered, since Gemini refuses them. If no allowed tool is offered, the model must call
 * none. If the vendor refuses a choice among allowed tools, the others are not offered.
 * @throws GatewayError `unsupported_parameter` if a call is required and no allowed tool is offered
 */
function fitAllowed(fitting: Fitting): void {
  const { request } = fitting;
  const { toolChoice: choice, tools = [], names } = request;
  if (choice?.type !== "allowed" || tools.length === 0) return;
  const offered = allowedTools(tools, choice);
  if (offered.length > 0) {
    const known = new Set(offered.map(({ name }) => name));
    const allowed = choice.names.filter((name) => known.has(name));
    if (allowed.length < choice.names.length)
      fitting.note("toolChoice", "rewritten", "tools it allows that are not offered left out");
    fitting.request = fitting.target.limits.refusesAllowed
      ? { ...request, tools: offered, toolChoice: { type: choice.mode } }
      : { ...request, toolChoice: { ...choice, names: allowed } };
    return;
  }
  if (choice.mode === "required")
    throw refusalOf(
      request.protocol,
      { param: names.toolChoice ?? "tool_choice" },
      { what: "it requires a call, and none of the tools that it allows is in the list of tools" },
    );
  fitting.note("toolChoice", "rewritten", "none of the tools it allows is offered: none is called");
  fitting.request = { ...request, toolChoice: { type: "none" } };
}

/** If the vendor refuses to be told a tool by its name, only this tool is offered, and a call required. */
function fitNamed(fitting: Fitting): void {
  const { request } = fitting;
  const { toolChoice: choice, tools = [] } = request;
  if (!fitting.target.limits.refusesNamed || choice?.type !== "tool") return;
  const offered = tools.filter(({ name }) => name === choice.name);
  if (offered.length === 0) return;
  const detail = "the upstream takes no choice by name: only this tool is offered";
  fitting.note("toolChoice", "rewritten", detail);
  fitting.request = { ...request, tools: offered, toolChoice: { type: "required" } };
}

/**
 * To forbid calls, no tools are offered. But calls in the conversation require their tools.
 * @throws GatewayError `unsupported_parameter` in that case: programs rely on `none`
 */
function fitForbidden(fitting: Fitting): void {
  const { request, target } = fitting;
  if (target.limits.forbidsTools !== false || request.toolChoice?.type !== "none") return;
  const isCall = ({ type }: Part): boolean => type === "tool_call";
  if (request.messages.some(({ content }) => content.some(isCall)))
    throw refusalOf(
      request.protocol,
      { param: request.names.toolChoice ?? "tool_choice" },
      { what: "it forbids calls, and the conversation has earlier ones" },
    );
  fitting.request = { ...request, tools: undefined, toolChoice: undefined };
}

/** If the model supports either an output format or tools, the format is dropped. If calls are forbidden, the tools are dropped instead. */
function fitFormatOrTools(fitting: Fitting): void {
  const { request, target } = fitting;
  const { outputFormat, tools = [], toolChoice } = request;
  const isForm = outputFormat !== undefined && outputFormat.type !== "text";
  if (!target.limits.formatOrTools || !isForm || tools.length === 0) return;
  if (toolChoice?.type === "none")
    fitting.request = { ...request, tools: undefined, toolChoice: undefined };
  else dropOutput(fitting, "this model refuses a form for its answer beside tools, dropped");
}

/** Drops tool choice and parallel calls if there are no tools: vendors refuse them (RESP-16). */
function fitChoice(fitting: Fitting): void {
  const { tools = [], toolChoice, parallelToolCalls } = fitting.request;
  // `auto` is the default anyway.
  if (fitting.target.limits.refusesAuto && toolChoice?.type === "auto")
    fitting.request = { ...fitting.request, toolChoice: undefined };
  if (tools.length > 0) return;
  const why = "sent only with tools, dropped";
  // Without tools, `auto` and `none` have no effect, so they go without a note.
  const isWish = toolChoice && toolChoice.type !== "auto" && toolChoice.type !== "none";
  if (isWish) fitting.note("toolChoice", "dropped", why);
  if (parallelToolCalls !== undefined) fitting.note("parallelToolCalls", "dropped", why);
  fitting.request = { ...fitting.request, toolChoice: undefined, parallelToolCalls: undefined };
}

function dropUnsupportedFields(fitting: Fitting): void {
  const { unsupportedFields } = fitting.target.limits;
  const keepsSchema = fitAnswerSchema(fitting);
  for (const field of Object.keys(unsupportedFields) as DroppableField[]) {
    if (valueOf(fitting.request, field) === undefined) continue;
    if (field === "outputFormat") {
      if (!keepsSchema) dropFormat(fitting, unsupportedFields[field]!);
      continue;
    }
    // Some chat vendors have their own field for a budget.
    if (field === "reasoning.budget" && fitting.request.reasoning?.field !== undefined) continue;
    if (field === "reasoning.includeThoughts" && hasDisplay(fitting)) continue;
    fitting.note(field, "dropped", budgetLoss(fitting, field) ?? unsupportedFields[field]!);
    fitting.request = without(fitting.request, field);
  }
}

/** Explains the loss of a special budget value: 0 (off) or "dynamic". */
function budgetLoss({ request }: Fitting, field: DroppableField): string | undefined {
  if (field !== "reasoning.budget") return undefined;
  const { budget } = request.reasoning!;
  if (budget === 0) return "how this model's reasoning is switched off is not known, dropped";
  return budget === "dynamic" ? "the model decides itself how much it reasons, dropped" : undefined;
}

/** Plain text is the default of every protocol, so it is dropped without a note. */
function dropFormat(fitting: Fitting, why: string): void {
  if (fitting.request.outputFormat?.type !== "text") return dropOutput(fitting, why);
  fitting.request = without(fitting.request, "outputFormat");
}

/** Metadata belongs to stored answers: OpenAI refuses it if the answer is not stored. */
function fitMetadata(fitting: Fitting): void {
  const { metadata, store } = fitting.request;
  if (!fitting.target.limits.metadataNeedsStore || !metadata || store === true) return;
  const why = "chat completions take metadata only with store: true, dropped";
  if (Object.keys(metadata).length > 0) fitting.note("metadata", "dropped", why);
  fitting.request = without(fitting.request, "metadata");
}

/** Reports the keywords that the codec will remove from schemas, before anything is sent (T23). */
function noteSchemaLosses(fitting: Fitting): void {
  const { request, target } = fitting;
  const { schemaLosses } = target.limits;
  if (!schemaLosses) return;
  const tell = (field: CanonicalFieldName, schemas: readonly JsonObject[]): void => {
    const keywords = schemaLosses(schemas);
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

/** Moves patterns that the vendor may refuse into descriptions, in the schemas of tools and answer. */
function fitPatterns(fitting: Fitting): void {
  if (!fitting.target.limits.portablePatterns) return;
  const { tools = [], outputFormat: format } = fitting.request;
  const fitted = tools.map((tool) => {
    const parameters = tool.parameters && withPortablePatterns(tool.parameters);
    return parameters === undefined || parameters === tool.parameters
      ? tool
      : { ...tool, parameters };
  });
  if (fitted.some((tool, at) => tool !== tools[at])) {
    fitting.note("tools", "rewritten", patternsDescribed);
    fitting.request = { ...fitting.request, tools: fitted };
  }
  if (format?.type !== "json_schema") return;
  const schema = withPortablePatterns(format.schema);
  if (schema === format.schema) return;
  fitting.note("outputFormat", "rewritten", patternsDescribed);
  fitting.request = { ...fitting.request, outputFormat: { ...format, schema } };
}

/** The caller chooses the keywords and their number. */
const keywordsNamedMax = 12;
