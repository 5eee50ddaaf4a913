/**
 * Maps reasoning settings to those in the model's record (base/abilities.ts). Unsupported settings are dropped or replaced by the nearest,
 * and reported. docs/models.md; docs/decisions.md "Reasoning"; CONV-218, CONV-317.
 */
import type { ReasoningAbility } from "../base/abilities.ts";
import { isObject } from "../base/json.ts";
import type { Reasoning } from "./canonical/request.ts";
import { budgetByEffort, nearestEffort } from "./efforts.ts";
import type { Fitting } from "./fit-fields.ts";

type KnownAbility = Exclude<ReasoningAbility, { kind: "none" }>;
type AbilityOf<Kind extends KnownAbility["kind"]> = Extract<KnownAbility, { kind: Kind }>;

/** Fits effort and budget to the model's ability. A request without reasoning settings stays without. */
export function fitKnownReasoning(fitting: Fitting, ability: ReasoningAbility): void {
  readVendorOff(fitting, ability);
  const { reasoning } = fitting.request;
  if (reasoning === undefined) return;
  if (ability.kind === "none") return dropReasoning(fitting);
  if (reasoning.effort === undefined && reasoning.budget === undefined) return;
  if (isOff(reasoning)) fitOff(fitting, ability);
  else fitAmount(fitting, ability);
  const { field } = ability;
  if (field !== undefined) changeReasoning(fitting, { field });
}

/** Turns a vendor's own value for "off", which is a native field, into a budget of 0 if the model uses another value. */
function readVendorOff(fitting: Fitting, ability: ReasoningAbility): void {
  const { native, names } = fitting.request;
  const field = native.find(
    ({ param, value }) =>
      param === "thinking" && isObject(value) && value["type"] === "between_tools",
  );
  if (!field || (ability.kind !== "none" && ability.offAs === "between_tools")) return;
  fitting.request = {
    ...fitting.request,
    native: native.filter((other) => other !== field),
    names: { ...names, "reasoning.budget": "thinking" },
    reasoning: { ...fitting.request.reasoning, budget: 0 },
  };
}

/** True if the request switches reasoning off. */
export const isOff = ({ effort, budget }: Reasoning): boolean =>
  budget === 0 || (budget === undefined && effort === "none");

const changeReasoning = (fitting: Fitting, change: Partial<Reasoning>): void => {
  fitting.request = { ...fitting.request, reasoning: { ...fitting.request.reasoning, ...change } };
};

/** The one of the two that the caller sent, for a note about either. */
const sentField = ({ request }: Fitting): "reasoning.effort" | "reasoning.budget" =>
  request.names["reasoning.effort"] === undefined ? "reasoning.budget" : "reasoning.effort";

/** Drops the reasoning settings and reports each of them. */
export function dropReasoning(fitting: Fitting): void {
  for (const member of Object.keys(fitting.request.reasoning ?? {}) as (keyof Reasoning)[]) {
    if (member === "field" || member === "offAs") continue;
    if (fitting.request.names[`reasoning.${member}`] === undefined) continue;
    fitting.note(`reasoning.${member}`, "dropped", "this model's reasoning cannot be set, dropped");
  }
  fitting.request = { ...fitting.request, reasoning: undefined };
}

/** True if the protocol switches reasoning off by a word (chat, responses); the others use a budget of 0. */
const usesEffortWords = ({ target }: Fitting): boolean =>
  target.limits.protocol === "chat" || target.limits.protocol === "responses";

/** True if the model's reasoning can be switched off, and the protocol has a place for it. */
export function canSwitchOff(fitting: Fitting, ability: KnownAbility): boolean {
  const isMute = ability.kind === "toggle" && usesEffortWords(fitting) && !ability.field;
  return ability.off && !isMute;
}

/** Switches reasoning off. */
export function switchOff(fitting: Fitting, { offAs, field }: KnownAbility): void {
  const off = usesEffortWords(fitting) ? { effort: "none", budget: undefined } : { budget: 0 };
  changeReasoning(fitting, { effort: undefined, ...off, offAs, ...(field && { field }) });
}

function fitOff(fitting: Fitting, ability: KnownAbility): void {
  if (canSwitchOff(fitting, ability)) return switchOff(fitting, ability);
  const least = ability.kind === "budget" ? ability.min : lowestEffort(ability);
  const what = least === undefined ? "" : `; ${least} is the least it knows`;
  fitting.note(
    sentField(fitting),
    least === undefined ? "dropped" : "rewritten",
    `this model's reasoning cannot be switched off${what}`,
  );
  changeReasoning(fitting, {
    effort: typeof least === "string" ? least : undefined,
    budget: typeof least === "number" ? least : adaptiveBudget(fitting, ability),
  });
}

const lowestEffort = (ability: KnownAbility): string | undefined =>
  ability.kind === "effort" || ability.kind === "adaptive" ? ability.values[0] : undefined;

/** Returns "dynamic" for adaptive Claude models, which need it; for other models an effort implies it. */
const adaptiveBudget = (fitting: Fitting, { kind }: KnownAbility): "dynamic" | undefined =>
  kind === "adaptive" && usesClaudeFields(fitting) ? "dynamic" : undefined;

/** Converse uses Claude's fields if the record has `thinking`; its other models have no adaptive reasoning and no budgets. */
const usesClaudeFields = ({ target }: Fitting): boolean =>
  target.limits.protocol === "messages" || target.limits.protocol === "converse";

function fitAmount(fitting: Fitting, ability: KnownAbility): void {
  switch (ability.kind) {
    case "toggle":
      return fitToggle(fitting, ability);
    case "effort":
    case "adaptive":
      return fitToEfforts(fitting, ability);
    case "budget":
      return fitToBudget(fitting, ability);
  }
}

function fitToggle(fitting: Fitting, { field = "reasoning_effort" }: AbilityOf<"toggle">): void {
  const { effort, budget } = fitting.request.reasoning!;
  // Neither chat nor responses has a word for "on".
  const isMute = usesEffortWords(fitting) && field === "reasoning_effort";
  if (effort !== undefined || typeof budget === "number") {
    const why = "this model's reasoning is on or off, without a measure";
    fitting.note(sentField(fitting), isMute ? "dropped" : "rewritten", why);
  }
  changeReasoning(fitting, { effort: undefined, budget: isMute ? undefined : "dynamic" });
}

function fitToEfforts(
  fitting: Fitting,
  ability: AbilityOf<"effort"> | AbilityOf<"adaptive">,
): void {
  const { effort, budget } = fitting.request.reasoning!;
  const adaptive = adaptiveBudget(fitting, ability);
  if (budget !== undefined && budget !== adaptive) {
    fitting.note(
      "reasoning.budget",
      adaptive === undefined ? "dropped" : "rewritten",
      "this model takes no token budget: how much it reasons is told by an effort",
    );
  }
  changeReasoning(fitting, {
    effort: effort === undefined ? undefined : nearest(fitting, effort, ability.values),
    budget: adaptive,
  });
}

function nearest(fitting: Fitting, effort: string, values: readonly string[]): string | undefined {
  const word = nearestEffort(effort, values);
  if (word === effort) return word;
  const known = `this model knows ${values.join(", ")}`;
  if (word === undefined) fitting.note("reasoning.effort", "dropped", `${known}; dropped`);
  else fitting.note("reasoning.effort", "rewritten", `${known}; "${word}" is the nearest`);
  return word;
}

function fitToBudget(fitting: Fitting, ability: AbilityOf<"budget">): void {
  const { effort, budget } = fitting.request.reasoning!;
  if (effort !== undefined && ability.values !== undefined && usesClaudeFields(fitting)) {
    const word = nearest(fitting, effort, ability.values);
    changeReasoning(fitting, { effort: word, budget: budget ?? budgetBeside(fitting, ability) });
  } else if (effort !== undefined) {
    const own = typeof budget === "number" ? budget : budgetOf(fitting, effort, ability);
    if (typeof budget === "number") {
      const why = "beside a token budget it has no effect, dropped";
      fitting.note("reasoning.effort", "dropped", why);
    }
    changeReasoning(fitting, { effort: undefined, budget: own ?? budget });
  }
  const isDynamic = fitting.request.reasoning!.budget === "dynamic";
  if (isDynamic && usesClaudeFields(fitting) && !isAdaptiveToo(ability)) {
    const instead = budgetByEffort["medium"] as number;
    fitting.note("reasoning.budget", "rewritten", `a budget of ${instead}: this model needs one`);
    changeReasoning(fitting, { budget: instead });
  }
  clamp(fitting, ability);
}

/** Claude 4.6 takes budgets and adaptive thinking. In a record it has the effort `max`, which those with budgets alone lack. */
const isAdaptiveToo = ({ values }: AbilityOf<"budget">): boolean =>
  values?.includes("max") === true;

/**
 * The budget beside a caller's effort. Claude does not reason for an effort alone. Its own callers know that; for others an effort asks the
 * model to reason (CONV-413).
 */
function budgetBeside(fitting: Fitting, ability: AbilityOf<"budget">): Reasoning["budget"] {
  const { protocol, reasoning } = fitting.request;
  if (protocol === "messages") return undefined;
  const known = nearestEffort(reasoning!.effort!, ability.values!) !== undefined;
  if (!known) return undefined;
  return isAdaptiveToo(ability) ? "dynamic" : budgetOf(fitting, reasoning!.effort!, ability);
}

function budgetOf(fitting: Fitting, effort: string, { max, min }: AbilityOf<"budget">) {
  const known = Object.hasOwn(budgetByEffort, effort) ? budgetByEffort[effort] : undefined;
  if (known !== undefined)
    return known === "limit" ? (max ?? fitting.target.maxOutputTokens) : known;
  if (effort === "none") return min;
  const why = `this model takes token budgets, and "${effort}" has none, dropped`;
  fitting.note("reasoning.effort", "dropped", why);
  return undefined;
}

function clamp(fitting: Fitting, { min, max = Infinity }: AbilityOf<"budget">): void {
  const { budget } = fitting.request.reasoning!;
  if (typeof budget !== "number") return;
  const fitted = Math.min(Math.max(budget, min), max);
  if (fitted === budget) return;
  const range = max === Infinity ? `${min} and more` : `${min} to ${max}`;
  fitting.note(sentField(fitting), "rewritten", `${fitted}: this model takes budgets of ${range}`);
  changeReasoning(fitting, { budget: fitted });
}
