/**
 * Fits reasoning settings to the target's form and range. docs/decisions.md "Reasoning"; CONV-218, CONV-317, CONV-413, CONV-419 to
 * CONV-423, CONV-512 to CONV-514; traps T28, T34, T39.
 */
import type { ReasoningAbility } from "../base/abilities.ts";
import type {
  CanonicalFieldName,
  CanonicalRequest,
  Reasoning,
  ToolChoice,
} from "./canonical/request.ts";
import { dropExcluded } from "./fit-abilities.ts";
import { valueOf, without, type Fitting } from "./fit-fields.ts";
import {
  canSwitchOff,
  dropReasoning,
  fitKnownReasoning,
  isOff,
  switchOff,
} from "./fit-known-reasoning.ts";
import type { Limits, ReasoningLimits } from "./limits.ts";
import { tidy } from "./tidy.ts";

/** Fits effort, budget and summary, and drops parameters that the vendor refuses beside reasoning. */
export function fitReasoning(fitting: Fitting): void {
  const { limits, abilities } = fitting.target;
  const ability = abilities?.reasoning;
  // On its own protocol a request's words need no translation, and the vendor checks the turns itself.
  const isOwn = fitting.request.protocol === limits.protocol;
  if (!isOwn) fitSummary(fitting, limits.reasoning);
  if (hasNoKnownField(fitting)) return dropReasoning(fitting);
  if (ability) fitKnownReasoning(fitting, ability);
  else fitByProtocol(fitting, limits.reasoning);
  if (usesClaudeFields(fitting)) disableReasoningForForcedCalls(fitting, ability);
  else if (ability) switchOffForForcedCalls(fitting, ability);
  fitClaudeBudget(fitting);
  if (!isOwn) fitThoughts(fitting);
  if (!asksForReasoning(fitting.request.reasoning)) return;
  if (ability && ability.kind !== "none") dropExcluded(fitting, ability.excludes ?? []);
  for (const field of isOwn ? [] : limits.reasoning.excludes) {
    if (valueOf(fitting.request, field) === undefined) continue;
    fitting.note(field, "dropped", "the upstream refuses it while the model reasons, dropped");
    fitting.request = without(fitting.request, field);
  }
}

/** Keeps a Claude-style budget below the maximum of output tokens. */
export function fitClaudeBudget(fitting: Fitting): void {
  if (usesClaudeFields(fitting)) fitBudget(fitting, fitting.target.limits.reasoning.budgetMin ?? 0);
}

const fieldOf = ({ target }: Fitting): string | undefined => {
  const ability = target.abilities?.reasoning;
  return ability?.kind === "none" ? undefined : ability?.field;
};

/** True if no field for the reasoning setting is known. */
const hasNoKnownField = (fitting: Fitting): boolean =>
  fitting.target.limits.reasoning.byRecordOnly === true && fieldOf(fitting) === undefined;

/** True if the target uses Claude's fields: in the messages protocol, or if the model's record says so. */
function usesClaudeFields(fitting: Fitting): boolean {
  const { budgetByEffort, byRecordOnly } = fitting.target.limits.reasoning;
  return budgetByEffort !== undefined && (!byRecordOnly || fieldOf(fitting) === "thinking");
}

/** Applies the rules of the protocol, if nothing is known of the model. */
function fitByProtocol(fitting: Fitting, limits: ReasoningLimits): void {
  fitEffort(fitting, limits);
  if (limits.budgetByEffort) effortToBudget(fitting, limits.budgetByEffort);
}

/** True if the request asks the model to reason. */
function asksForReasoning(reasoning: Reasoning | undefined): boolean {
  if (!reasoning) return false;
  const { budget, effort } = reasoning;
  return budget !== undefined ? budget !== 0 : effort !== undefined && effort !== "none";
}

/**
 * True if a Claude model is told to decide itself how much it reasons. It can then be told whether to return its thoughts: those after 4.6
 * return none otherwise. Models with budgets alone get one by now.
 */
export function hasDisplay({ request, target }: Fitting): boolean {
  const kind = target.abilities?.reasoning?.kind;
  const isAdaptive = kind === "adaptive" || kind === "budget";
  return (
    isAdaptive && target.limits.protocol === "messages" && request.reasoning?.budget === "dynamic"
  );
}

/**
 * True if thoughts are asked for, without any amount, at a Claude model that reasons by itself. It shows them only beside an amount, so it
 * is told to decide that itself, as it does anyway.
 */
function thinksUnasked({ request, target }: Fitting): boolean {
  const ability = target.abilities?.reasoning;
  const { effort, budget, summary, includeThoughts } = request.reasoning ?? {};
  const isAsked = summary !== undefined || includeThoughts === true;
  if (!isAsked || effort !== undefined || budget !== undefined) return false;
  if (ability?.kind !== "adaptive" || target.limits.protocol !== "messages") return false;
  return !ability.off || ability.offAs !== undefined;
}

/** Turns a summary level into the flag whether thoughts are returned (CONV-514). */
function fitSummary(fitting: Fitting, { summaryIsFlag }: ReasoningLimits): void {
  if (summaryIsFlag) fitDisplay(fitting);
  if (!thinksUnasked(fitting)) return;
  const { request } = fitting;
  fitting.request = { ...request, reasoning: { ...request.reasoning, budget: "dynamic" } };
}

function fitDisplay(fitting: Fitting): void {
  const { reasoning } = fitting.request;
  if (reasoning?.summary === undefined) return;
  fitting.note(
    "reasoning.summary",
    "rewritten",
    "only the choice whether thoughts are returned is kept, not their amount",
  );
  fitting.request = {
    ...fitting.request,
    reasoning: { ...reasoning, summary: undefined, includeThoughts: true },
  };
}

/** Without reasoning there are no thoughts to return, and vendors with a flag for them refuse it. */
function fitThoughts(fitting: Fitting): void {
  if (hasDisplay(fitting)) fitDisplay(fitting);
  const { reasoning } = fitting.request;
  if (!fitting.target.limits.reasoning.summaryIsFlag || !reasoning || !isOff(reasoning)) return;
  fitting.request = { ...fitting.request, reasoning: { ...reasoning, includeThoughts: undefined } };
}

/** If the target accepts only one of the two, a number beats an effort, being more exact, and an effort beats "dynamic". */
function fitEffort(
  fitting: Fitting,
  { budgetOrEffort, effortReplacements }: ReasoningLimits,
): void {
  const { reasoning } = fitting.request;
  if (reasoning?.effort === undefined) return;
  const { effort, budget, ...rest } = reasoning;
  if (budgetOrEffort && typeof budget === "number") {
    fitting.note("reasoning.effort", "dropped", "beside a token budget it has no effect, dropped");
    fitting.request = { ...fitting.request, reasoning: { ...rest, budget } };
    return;
  }
  const highest = Object.hasOwn(effortReplacements, effort)
    ? effortReplacements[effort]
    : undefined;
  if (highest !== undefined) {
    const why = `"${highest}" is the most the upstream knows`;
    fitting.note("reasoning.effort", "rewritten", why);
  }
  const kept = budgetOrEffort ? rest : { ...rest, budget };
  fitting.request = {
    ...fitting.request,
    reasoning: { ...kept, effort: highest ?? effort },
  };
}

/** Turns an effort into a budget; a budget that the caller sent wins. */
function effortToBudget(
  fitting: Fitting,
  budgets: Readonly<Record<string, number | "limit">>,
): void {
  const { reasoning } = fitting.request;
  if (reasoning?.effort === undefined) return;
  const { effort, ...rest } = reasoning;
  const known = Object.hasOwn(budgets, effort) ? budgets[effort] : undefined;
  const wanted = effort === "none" ? 0 : known;
  if (wanted === undefined) {
    fitting.note(
      "reasoning.effort",
      "dropped",
      `the upstream takes token budgets, and "${effort}" has none, dropped`,
    );
  }
  const budget = reasoning.budget ?? (wanted === "limit" ? fitting.target.maxOutputTokens : wanted);
  fitting.request = {
    ...fitting.request,
    reasoning: budget === undefined ? rest : { ...rest, budget },
  };
}

/** The share of the maximum that is reserved for the answer itself. */
const answerShare = 0.2;

/** Keeps a budget between the vendor's minimum and the maximum of output tokens, which is raised if there is no room (CONV-422). */
function fitBudget(fitting: Fitting, budgetMin: number): void {
  const { reasoning, maxOutputTokens, names } = fitting.request;
  const budget = reasoning?.budget;
  if (typeof budget !== "number" || budget === 0) return;
  const field = names["reasoning.budget"] === undefined ? "reasoning.effort" : "reasoning.budget";
  const limit = fitting.target.maxOutputTokens;
  if (limit <= budgetMin) {
    fitting.note(field, "dropped", "the model's answers are too short to reason, dropped");
    fitting.request = without(fitting.request, "reasoning.budget");
    return;
  }
  const maximum = maxOutputTokens ?? limit;
  const bounded = budget < maximum ? budget : Math.floor(maximum * (1 - answerShare));
  const fitted = Math.max(budgetMin, bounded);
  if (fitted !== budget) {
    fitting.note(field, "rewritten", `a budget of ${fitted} tokens, to leave room for the answer`);
  }
  fitting.request = { ...fitting.request, reasoning: { ...reasoning, budget: fitted } };
  if (fitted < maximum) return;
  const raised = Math.min(fitted + maximum, limit);
  fitting.note(
    "maxOutputTokens",
    "rewritten",
    `raised to ${raised}: the least the model may reason is ${budgetMin} tokens`,
  );
  fitting.request = { ...fitting.request, maxOutputTokens: raised };
}

/**
 * Switches reasoning off where it would fail the whole request. The vendor refuses it with a forced tool call, and where it continues an
 * answer or a tool loop that began without its own signed reasoning (T39).
 */
function disableReasoningForForcedCalls(
  fitting: Fitting,
  ability: ReasoningAbility | undefined,
): void {
  const { request } = fitting;
  const without = asksForReasoning(request.reasoning)
    ? withoutReasoning(fitting, ability)
    : undefined;
  if (without === undefined) return;
  noteOff(fitting, without);
  fitting.request = {
    ...request,
    reasoning: { ...request.reasoning, effort: undefined, budget: offBudget(ability) },
  };
}

function noteOff(fitting: Fitting, beside: string): void {
  const fields: CanonicalFieldName[] = ["reasoning.effort", "reasoning.budget"];
  for (const field of fields) {
    if (fitting.request.names[field] === undefined) continue;
    fitting.note(field, "dropped", `the upstream refuses reasoning beside ${beside}, dropped`);
  }
}

/** The same for other vendors' models, by their record only. They reason even if the call does not ask for it. */
function switchOffForForcedCalls(fitting: Fitting, ability: ReasoningAbility): void {
  const { reasoning, toolChoice } = fitting.request;
  if (fitting.target.abilities?.toolChoice?.forcedWhileReasoning !== false) return;
  if (!isForced(toolChoice) || (reasoning && isOff(reasoning))) return;
  if (ability.kind === "none" || !canSwitchOff(fitting, ability)) return;
  noteOff(fitting, forcedCall);
  switchOff(fitting, ability);
}

const forcedCall = "a forced tool call";

/** Returns the reason why reasoning is not possible; undefined if there is none. */
function withoutReasoning(
  { request, target }: Fitting,
  ability: ReasoningAbility | undefined,
): string | undefined {
  const goTogether = target.abilities?.toolChoice?.forcedWhileReasoning;
  const isOwn = request.protocol === target.limits.protocol;
  // If nothing is known of the model, the caller's own vendor checks the pair itself.
  const mayForce = isOwn ? goTogether !== false : goTogether === true;
  if (!mayForce && isForced(request.toolChoice)) return forcedCall;
  // Adaptive thinking may start in the middle of a tool loop.
  const isAdaptive =
    ability?.kind === "adaptive" || (ability && request.reasoning?.budget === "dynamic");
  return isOwn || isAdaptive ? undefined : unsignedBeginning(request, target.limits);
}

const isForced = (choice: ToolChoice | undefined): boolean =>
  choice?.type === "required" ||
  choice?.type === "tool" ||
  (choice?.type === "allowed" && choice.mode === "required");

/** A model that reasons by default has to be switched off explicitly. */
const offBudget = (ability: ReasoningAbility | undefined): 0 | undefined =>
  ability && ability.kind !== "none" && ability.kind !== "budget" && ability.off ? 0 : undefined;

/**
 * Returns what the vendor has to continue without signed reasoning of its own: an answer that has begun, or the calls whose results end the
 * conversation. Undefined if there is nothing. Tidying merges the user's additions into the turn of the results, and removes answers that
 * only have calls without results.
 */
function unsignedBeginning(request: CanonicalRequest, limits: Limits): string | undefined {
  const { messages } = tidy(request, limits).request;
  const last = messages.at(-1);
  const isLoop = last?.role === "user" && last.content.some(({ type }) => type === "tool_result");
  if (!isLoop && last?.role !== "assistant") return undefined;
  const answer = messages.findLast((message) => message.role === "assistant");
  if (answer?.content.some((part) => part.type === "reasoning" && part.signature !== undefined))
    return undefined;
  return isLoop ? "a tool call made without signed reasoning" : "the beginning of an answer";
}
