/** The catalogue of a gateway without a configuration file: the vendors whose keys are in the environment. docs/models.md. */
import { disguise, type Environment } from "./environment.ts";
import { listedId, listedModel } from "./list/models.ts";
import { pricedAt } from "./list/regional-price.ts";
import { listedModels, shippedList } from "./list/shipped.ts";
import { unpricedListed, unpricedMedia } from "./own-prices.ts";
import { activePresets, presetProvider } from "./presets.ts";
import type { Catalog, Model, UnpricedModel } from "./types.ts";
import { ownModels } from "./vendors.ts";

/** The variables that {@link environmentCatalog} uses, as a file would name them: `${OPENAI_API_KEY}`, disguised. */
export const environmentSource = (environment: Environment): unknown => ({
  providers: activePresets(environment).map(({ variable, identity }) =>
    identity ? { auth: keysOf(identity) } : { api_key: disguise(`\${${variable}}`) },
  ),
});

/** The variables of AWS keys, by their names in `auth`. */
const keysOf = (identity: readonly string[]) =>
  Object.fromEntries(
    identity.flatMap((name) =>
      /^AWS_(ACCESS_KEY_ID|SECRET_ACCESS_KEY)$/.test(name)
        ? [[name.slice("AWS_".length).toLowerCase(), disguise(`\${${name}}`)]]
        : [],
    ),
  );

/**
 * The vendors whose keys the environment has, with their models; empty if it has none. `list` returns the current list of
 * models; it is called only if there is a vendor.
 */
export function environmentCatalog(
  environment: Environment,
  list: () => string = shippedList,
): Catalog {
  const active = activePresets(environment);
  if (active.length === 0) return { providers: new Map(), models: new Map() };
  const vendors = new Map(active.map(({ row }) => [row.id, row]));
  const addresses = new Map(active.map(({ row, baseUrl }) => [row.id, baseUrl]));
  const providers = active.map((preset) => presetProvider(preset, environment));
  const models = new Map<string, Model>();
  const unpriced = new Map<string, UnpricedModel>();
  for (const id of vendors.keys())
    for (const model of ownModels(id)) if (!models.has(model.id)) models.set(model.id, model);
  for (const row of listedModels(list(), new Set(vendors.keys()))) {
    const vendor = vendors.get(row.vendor)!;
    const id = listedId(row, vendor);
    if (models.has(id)) continue;
    const model = listedModel(pricedAt(vendor, row, addresses.get(row.vendor)!), vendor);
    if (model === undefined) unpriced.set(id, unpricedListed(row, vendor));
    else models.set(id, model);
  }
  for (const provider of providers)
    for (const [id, model] of unpricedMedia(vendors.get(provider.id)!, provider))
      if (!models.has(id)) unpriced.set(id, model);
  for (const id of models.keys()) unpriced.delete(id);
  return { providers: new Map(providers.map((one) => [one.id, one])), models, unpriced };
}
