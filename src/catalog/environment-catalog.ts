/** The catalogue of a gateway without a configuration file: the vendors whose keys are in the environment. docs/models.md. */
import { disguise, type Environment } from "./environment.ts";
import { listedModel } from "./list/models.ts";
import { listedModels, shippedList } from "./list/shipped.ts";
import { activePresets, presetProvider } from "./presets.ts";
import type { Catalog, Model } from "./types.ts";
import { ownModels } from "./vendors.ts";

/** What {@link environmentCatalog} takes from variables, as a file would: `${OPENAI_API_KEY}`, in disguise. */
export const environmentSource = (environment: Environment): unknown => ({
  providers: activePresets(environment).map(({ variable }) => ({
    api_key: disguise(`\${${variable}}`),
  })),
});

/**
 * The vendors whose keys the environment holds, with their models; empty without any key. `list` gives the list of models
 * in force; it is asked only if there is a vendor.
 */
export function environmentCatalog(
  environment: Environment,
  list: () => string = shippedList,
): Catalog {
  const active = activePresets(environment);
  if (active.length === 0) return { providers: new Map(), models: new Map() };
  const vendors = new Map(active.map(({ row }) => [row.id, row]));
  const models = new Map<string, Model>();
  const add = (model: Model | undefined): void => {
    if (model !== undefined && !models.has(model.id)) models.set(model.id, model);
  };
  for (const id of vendors.keys()) for (const model of ownModels(id)) add(model);
  for (const row of listedModels(list(), new Set(vendors.keys())))
    add(listedModel(row, vendors.get(row.vendor)!));
  const providers = active.map((preset) => presetProvider(preset, environment));
  return { providers: new Map(providers.map((one) => [one.id, one])), models };
}
