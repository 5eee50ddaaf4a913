/** Converts LiteLLM's fallbacks: each text model gets up to three others, by id. */
import { isList, isMap, type Section, type Value } from "./file.ts";
import type { ModelRow } from "./models.ts";
import type { Report } from "./report.ts";

const fallbacksMax = 3;

/** The fallbacks of one model; `*` is for all models that have none. */
interface Wanted {
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
  const wanted = sections.flatMap(specific);
  const general = sections.flatMap(defaults);
  for (const one of wanted) {
    const entry = [...models].find(([, { id }]) => id === idOf(one.name));
    const ids = idsOf(one, idOf, report);
    if (entry === undefined) report.unsupported(one.field, "is for a model that is not there");
    else if (ids.length > 0) give(models, entry, { ...one, ids }, report);
  }
  for (const one of general) {
    const ids = idsOf(one, idOf, report);
    const without = [...models].filter(([, row]) => row["fallbacks"] === undefined);
    for (const entry of without) give(models, entry, { ...one, ids }, undefined);
    if (ids.length > 0) report.taken(one.field, "models[].fallbacks");
  }
}

function specific(section: Section): Wanted[] {
  const value = section.value("fallbacks");
  return (isList(value) ? value : [value]).flatMap((row, index) =>
    (isMap(row) ? Object.entries(row) : []).flatMap(([name, others]): Wanted[] =>
      name === "*" ? [] : [wantedOf(`${section.at("fallbacks")}[${index}].${name}`, name, others)],
    ),
  );
}

function defaults(section: Section): Wanted[] {
  const value = section.value("default_fallbacks");
  const own = value === undefined ? [] : [wantedOf(section.at("default_fallbacks"), "*", value)];
  const rows = section.value("fallbacks");
  const stars = (isList(rows) ? rows : [rows]).flatMap((row, index) =>
    isMap(row) && row["*"] !== undefined
      ? [wantedOf(`${section.at("fallbacks")}[${index}].*`, "*", row["*"])]
      : [],
  );
  return [...stars, ...own];
}

const wantedOf = (field: string, name: string, others: Value): Wanted => ({
  field,
  name,
  others: isList(others) ? others : [others],
});

function idsOf(
  { field, others }: Wanted,
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

function give(
  models: Map<string, ModelRow>,
  [name, row]: readonly [string, ModelRow],
  { field, ids }: { readonly field: string; readonly ids: readonly string[] },
  report: Report | undefined,
): void {
  const isText = (id: string): boolean =>
    [...models.values()].some((model) => model.id === id && model["kind"] === "text");
  const others = ids.filter((id) => id !== row.id && isText(id));
  const to = `models[${row.id}].fallbacks`;
  if (row["kind"] !== "text" || others.length === 0) {
    report?.unsupported(field, "fallbacks are for text models, and to others than themselves");
    return;
  }
  if (row["fallbacks"] !== undefined) {
    report?.unsupported(field, "router_settings has fallbacks for this model, and counts");
    return;
  }
  const { offers, ...rest } = row;
  models.set(name, { ...rest, fallbacks: others.slice(0, fallbacksMax), offers });
  if (others.length > fallbacksMax)
    report?.changed(field, `the first ${fallbacksMax} of ${others.length}`, to);
  else report?.taken(field, to);
}
