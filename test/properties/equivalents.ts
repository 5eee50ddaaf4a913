// Equivalents in another protocol: the expected form of a request on arrival, before anything counts as lost.
// docs/requirements.md or docs/decisions.md states each rule.
import type {
  CanonicalRequest,
  Reasoning,
  ToolChoice,
} from "../../src/protocols/canonical/request.ts";
import type { ProtocolName } from "../../src/protocols/index.ts";

/** The expected request in the form of its target protocol. `arrived` has the request that the target received. */
export function asCarried(
  request: CanonicalRequest,
  arrived: CanonicalRequest,
  target: ProtocolName,
): CanonicalRequest {
  return {
    ...request,
    ...choiceIn(request, target),
    outputFormat: formatIn(request, arrived, target),
    reasoning: reasoningIn(request, arrived, target),
  };
}

/**
 * T29: messages has no list of allowed tools, so the gateway offers only the allowed ones. generateContent has one form for
 * both choices.
 */
function choiceIn(
  { toolChoice, tools, parallelToolCalls }: CanonicalRequest,
  target: ProtocolName,
): Partial<CanonicalRequest> {
  // If no tool may be called, parallel calls mean nothing.
  const parallel =
    target === "messages" && toolChoice?.type === "none" ? undefined : parallelToolCalls;
  if (toolChoice?.type !== "allowed" || target !== "messages") {
    return { parallelToolCalls: parallel, toolChoice: oneOf(toolChoice, target) };
  }
  return {
    parallelToolCalls: parallel,
    toolChoice: { type: toolChoice.mode },
    tools: tools?.filter(({ name }) => toolChoice.names.includes(name)),
  };
}

const oneOf = (choice: ToolChoice | undefined, target: ProtocolName): ToolChoice | undefined =>
  target === "generate_content" &&
  choice?.type === "allowed" &&
  choice.mode === "required" &&
  choice.names.length === 1
    ? { type: "tool", name: choice.names[0]! }
    : choice;

/**
 * Two protocols require a name of a schema, and two have none. Plain text is the default of all. generateContent always
 * enforces the schema, and has its description there.
 */
function formatIn(
  { outputFormat }: CanonicalRequest,
  arrived: CanonicalRequest,
  target: ProtocolName,
): CanonicalRequest["outputFormat"] {
  if (outputFormat?.type === "text" && !arrived.outputFormat) return undefined;
  if (outputFormat?.type !== "json_schema" || arrived.outputFormat?.type !== "json_schema") {
    return outputFormat;
  }
  const { name, schema, description, ...rest } = outputFormat;
  const label = arrived.outputFormat.name;
  if (target !== "generate_content") {
    return { ...outputFormat, ...(label === undefined ? {} : { name: name ?? label }) };
  }
  const whole = description === undefined ? schema : { ...schema, description };
  return { type: rest.type, schema: whole };
}

/** docs/decisions.md "Reasoning". */
const budgetByEffort: Readonly<Record<string, number>> = {
  none: 0,
  minimal: 1024,
  low: 1024,
  medium: 8192,
  high: 24_576,
  xhigh: 8000,
  max: 8000,
};

function reasoningIn(
  { reasoning }: CanonicalRequest,
  arrived: CanonicalRequest,
  target: ProtocolName,
): Reasoning | undefined {
  if (!reasoning) return undefined;
  if (target === "messages") return wishInMessages(reasoning, arrived);
  if (target === "generate_content") return wishInGenerateContent(reasoning);
  if (target === "chat") return reasoning;
  // Thoughts come back as a summary, and only on request.
  const summary = reasoning.summary ?? (reasoning.includeThoughts === true ? "auto" : undefined);
  return { ...reasoning, includeThoughts: undefined, summary };
}

/** Messages has a budget in place of an effort. A budget beside an effort is more exact. */
function wishInMessages(reasoning: Reasoning, arrived: CanonicalRequest): Reasoning {
  const { effort, budget } = reasoning;
  if (effort === undefined) return reasoning;
  const wished = budget ?? budgetByEffort[effort];
  const isMet = arrived.reasoning?.budget === wished;
  return isMet ? { ...reasoning, effort: undefined, budget: wished } : reasoning;
}

/** The effort `none` is a budget of 0. A dynamic budget means nothing beside an effort. */
function wishInGenerateContent(reasoning: Reasoning): Reasoning {
  const { effort, budget } = reasoning;
  if (effort === "none" && budget === undefined) {
    return { ...reasoning, effort: undefined, budget: 0 };
  }
  const isIdle = effort !== undefined && budget === "dynamic";
  return isIdle ? { ...reasoning, budget: undefined } : reasoning;
}
