// Where another protocol says the same in other words: what a request is expected to look like on arrival, before
// anything counts as lost. Each rule is one that docs/requirements.md or docs/decisions.md states.
import type {
  CanonicalRequest,
  Reasoning,
  ToolChoice,
} from "../../src/protocols/canonical/request.ts";
import type { ProtocolName } from "../../src/protocols/index.ts";

/** The request in the words of its target. `arrived` tells what the target has no other word for. */
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

/** T29: messages has no list of allowed tools, and offers only those. generateContent has one word for both forms. */
function choiceIn(
  { toolChoice, tools, parallelToolCalls }: CanonicalRequest,
  target: ProtocolName,
): Partial<CanonicalRequest> {
  // Where no tool is to be called, none are called in parallel.
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
 * The name of a schema is a label that two protocols ask for and two have not; plain text is what all answer in.
 * generateContent always holds an answer to its schema, and has its description there.
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
  // Thoughts are returned as a summary, and not without being asked for.
  const summary = reasoning.summary ?? (reasoning.includeThoughts === true ? "auto" : undefined);
  return { ...reasoning, includeThoughts: undefined, summary };
}

/** An effort is a budget there; one beside it is the more exact wish. */
function wishInMessages(reasoning: Reasoning, arrived: CanonicalRequest): Reasoning {
  const { effort, budget } = reasoning;
  if (effort === undefined) return reasoning;
  const wished = budget ?? budgetByEffort[effort];
  const isMet = arrived.reasoning?.budget === wished;
  return isMet ? { ...reasoning, effort: undefined, budget: wished } : reasoning;
}

/** No effort is a budget of none; "as much as it needs" is no wish beside an effort. */
function wishInGenerateContent(reasoning: Reasoning): Reasoning {
  const { effort, budget } = reasoning;
  if (effort === "none" && budget === undefined) {
    return { ...reasoning, effort: undefined, budget: 0 };
  }
  const isIdle = effort !== undefined && budget === "dynamic";
  return isIdle ? { ...reasoning, budget: undefined } : reasoning;
}
