/** Converts LiteLLM's fallbacks: each text model gets up to three others, by id. */
import { isList, isMap, type Section, type Value } from "./file.ts";
import type { ModelRow } from "./models.ts";
import type { Report } from "./report.ts";

const fallbacksMax = 3;

/** The fallbacks of one model; `*` is for all models that have none. */
interface FallbackField {
  readonly field: string;
  readonly name: string;
  readonly others: readonly Value[];
}

/** Adds fallbacks to models. `router_settings` wins over `litellm_settings`, as in LiteLLM. */
export function addFallbacks(
  file: Section,
  models: Map<string, ModelRow>,
  idOf: (name: string) => string | undefined,
  report: Report,
): void {
  const sections = [file.section("router_settings"), file.section("litellm_settings")];
  const wanted = sections.flatMap((section) => modelFallbacks(section, report));
  const general = sections.flatMap(defaultFallbacks);
  for (const one of wanted) {
    const entry = [...models].find(([, { id }]) => id === idOf(one.name));
    const ids = idsOf(one, idOf, report);
    if (entry === undefined) report.unsupported(one.field, "is for a model that is not there");
    else if (ids.length > 0) {
      const given = assignFallbacks(models, entry, ids);
      reportGiven(one.field, `models[${entry[1].id}].fallbacks`, given, report);
    }
  }
  for (const one of general) {
    const ids = idsOf(one, idOf, report);
    const without = [...models].filter(([, row]) => row["fallbacks"] === undefined);
    const given = without.map((entry) => assignFallbacks(models, entry, ids));
    const best = outcomes.find((outcome) => given.includes(outcome)) ?? "present";
    if (ids.length > 0) reportGiven(one.field, "models[].fallbacks", best, report);
  }
}

function modelFallbacks(section: Section, report: Report): FallbackField[] {
  const value = section.value("fallbacks");
  const rows = isList(value) ? value : value === undefined ? [] : [value];
  return rows.flatMap((row, index): FallbackField[] => {
    const field = `${section.at("fallbacks")}[${index}]`;
    if (!isMap(row)) {
      report.unsupported(field, "is no map from a model to others");
      return [];
    }
    return Object.entries(row).flatMap(([name, others]) =>
      name === "*" ? [] : [fallbackField(`${field}.${name}`, name, others)],
    );
  });
}

function defaultFallbacks(section: Section): FallbackField[] {
  const value = section.value("default_fallbacks");
  const own =
    value === undefined ? [] : [fallbackField(section.at("default_fallbacks"), "*", value)];
  const rows = section.value("fallbacks");
  const stars = (isList(rows) ? rows : [rows]).flatMap((row, index) =>
    isMap(row) && row["*"] !== undefined
      ? [fallbackField(`${section.at("fallbacks")}[${index}].*`, "*", row["*"])]
      : [],
  );
  return [...stars, ...own];
}

const fallbackField = (field: string, name: string, others: Value): FallbackField => ({
  field,
  name,
  others: isList(others) ? others : [others],
});

function idsOf(
  { field, others }: FallbackField,
  idOf: (name: string) => string | undefined,
  report: Report,
): string[] {
  const ids = others.flatMap((other) => {
    const id = typeof other === "string" ? idOf(other) : undefined;
    if (id !== undefined) return [id];
    const what =
      typeof other === "string" ? "a name of no model here" : "one with settings of its own";
    report.unsupported(field, `${what} is left out: name a model of the list`);
    return [];
  });
  return [...new Set(ids)];
}

/** The outcomes of giving a model fallbacks. For default ones, the first of these that any model has is reported. */
const outcomes = ["cut", "all", "present", "unfit"] as const;
type Outcome = (typeof outcomes)[number];

/** Gives a model its fallbacks. cut: too many; present: it has some already; unfit: they are for other models. */
function assignFallbacks(
  models: Map<string, ModelRow>,
  [name, row]: readonly [string, ModelRow],
  ids: readonly string[],
): Outcome {
  const isText = (id: string): boolean =>
    [...models.values()].some((model) => model.id === id && model["kind"] === "text");
  const others = ids.filter((id) => id !== row.id && isText(id));
  if (row["kind"] !== "text" || others.length === 0) return "unfit";
  if (row["fallbacks"] !== undefined) return "present";
  const { offers, ...rest } = row;
  models.set(name, { ...rest, fallbacks: others.slice(0, fallbacksMax), offers });
  return others.length > fallbacksMax ? "cut" : "all";
}

function reportGiven(field: string, to: string, outcome: Outcome, report: Report): void {
  if (outcome === "all") report.takenOver(field, to);
  else if (outcome === "cut") report.changed(field, `the first ${fallbacksMax} of them`, to);
  else if (outcome === "present")
    report.unsupported(field, "fallbacks from another setting count instead");
  else report.unsupported(field, "fallbacks are for text models, and to others than themselves");
}
