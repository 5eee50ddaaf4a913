/** The known facts of a model, as names and texts. Unknown ones are left out. Pure. */
import { readWhole } from "../../base/numbers.ts";
import type { Model } from "./filters.ts";

const counted = (count: number | undefined): string | undefined =>
  count === undefined ? undefined : readWhole(count);
const listed = (list: readonly string[] | undefined): string | undefined =>
  list === undefined || list.length === 0 ? undefined : list.join(", ");
const yesNo = (flag: boolean | undefined): string | undefined =>
  flag === undefined ? undefined : flag ? "yes" : "no";

/** Renders `{kind: "effort", values: ["low"]}` as "kind effort, values low". */
function membersText(value: object | undefined): string | undefined {
  if (value === undefined) return undefined;
  const text = (one: unknown): string =>
    Array.isArray(one) ? one.join(" ") : typeof one === "string" ? one : JSON.stringify(one);
  return Object.entries(value)
    .map(([name, one]) => `${name.replaceAll("_", " ")} ${text(one)}`)
    .join(", ");
}

export function factsOf(model: Model): readonly (readonly [string, string])[] {
  const facts: readonly (readonly [string, string | undefined])[] = [
    ["Name", model.name],
    ["Kind", model.family === undefined ? model.kind : `${model.kind}, family ${model.family}`],
    ["Endpoints", listed(model.endpoints.map((one) => one.replaceAll("_", " ")))],
    ["Context (tokens)", counted(model.context_length)],
    ["Longest output (tokens)", counted(model.max_output_tokens)],
    ["Input", listed(model.input_modalities)],
    ["Output", listed(model.output_modalities)],
    ["Reasoning", membersText(model.reasoning)],
    ["Tool choice", membersText(model.tool_choice)],
    ["Structured outputs", yesNo(model.structured_outputs)],
    ["Prefill", yesNo(model.prefill)],
    ["Aliases", listed(model.aliases)],
    ["Fallback models", listed(model.fallbacks)],
    ["Lifecycle", membersText(model.lifecycle)],
  ];
  return facts.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
}
