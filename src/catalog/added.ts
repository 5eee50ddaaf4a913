/**
 * Providers that are added over the management API. They mean the same as the same lines in a configuration file: same schema,
 * same checks, same build. docs/models.md.
 */
import { isObject, type WireObject } from "../base/json.ts";
import { accessRow } from "./access-build.ts";
import { buildCatalog } from "./build.ts";
import { listedModel } from "./list/models.ts";
import { pricedAt } from "./list/regional-price.ts";
import { listedModels, vendorRows } from "./list/shipped.ts";
import type { VendorRow } from "./list/types.ts";
import { addressOf } from "./presets.ts";
import { providerRow } from "./print.ts";
import type { ConfigFile } from "./schema.ts";
import type { Catalog, Credential, Model, Provider } from "./types.ts";
import { ownModels } from "./vendors.ts";

/** A provider as the management API receives and stores it. */
export interface AddedProvider {
  readonly id: string;
  /**
   * A provider of the configuration file without `id`, `api_key` and `credentials`. `vendor` names a preset that gives dialect and
   * address. `models` are those of the file with offers of this provider.
   */
  readonly settings: WireObject;
  readonly credentials: readonly Credential[];
}

/** An added provider with its models, built for the catalogue. */
export interface BuiltProvider {
  readonly provider: Provider;
  readonly models: readonly Model[];
  /** True if the models come from the vendor's list. They rank below models that a person configured. */
  readonly listed: boolean;
  /** True if it gets no new calls; the gateway only polls it for tasks that it took. */
  readonly retired: boolean;
}

/** The preset that the settings name; undefined if none. */
export const presetOfSettings = ({ vendor }: WireObject): VendorRow | undefined =>
  typeof vendor === "string" ? vendorRows().find(({ id }) => id === vendor) : undefined;

/** The provider and its models as rows of a configuration file. */
export function fileOf({ id, settings, credentials }: AddedProvider): {
  readonly providers: readonly WireObject[];
  readonly models: unknown;
} {
  const { vendor: _named, models, ...own } = settings;
  const row: WireObject = { ...presetRow(settings), ...own, id };
  if (credentials.length > 0)
    row["credentials"] = credentials.map(({ id: name, apiKey, weight }) => ({
      id: name,
      api_key: apiKey === "" ? "none" : apiKey,
      weight,
    }));
  const preset = presetOfSettings(settings);
  const url = row["base_url"];
  if (preset && typeof url === "string")
    row["base_url"] = addressOf(url, preset.base_url) ?? row["base_url"];
  return { providers: [row], models: withProvider(models, id) };
}

const presetRow = (settings: WireObject): WireObject => {
  const preset = presetOfSettings(settings);
  if (preset === undefined) return {};
  const { dialect = "openai-compatible", base_url, tier } = preset;
  return { dialect, base_url, ...(tier && { tier }) };
};

/** Sets this provider in offers that name none. */
function withProvider(models: unknown, provider: string): unknown {
  if (!Array.isArray(models)) return models;
  return models.map((model: unknown) => {
    if (!isObject(model) || !Array.isArray(model["offers"])) return model;
    const offers = model["offers"].map((offer: unknown) =>
      isObject(offer) ? { provider, ...offer } : offer,
    );
    return { ...model, offers };
  });
}

const builtFile = (added: AddedProvider): Catalog => {
  const { providers, models = [] } = fileOf(added);
  return buildCatalog({ providers, models } as unknown as ConfigFile, []);
};

/** Builds the provider without its models, from checked settings. */
export const addedProvider = (added: AddedProvider): Provider =>
  builtFile({ ...added, settings: { ...added.settings, models: [] } }).providers.get(added.id)!;

/** Builds the provider from checked settings. `list` returns the current list of models; it is called only for a vendor's own models. */
export function buildAdded(
  added: AddedProvider,
  { list, allowPrivate }: { readonly list: () => string; readonly allowPrivate: boolean },
): Omit<BuiltProvider, "retired"> {
  const { models: written, providers } = builtFile(added);
  const provider = { ...providers.get(added.id)!, guarded: !allowPrivate };
  const preset = presetOfSettings(added.settings);
  const isListed = preset !== undefined && added.settings["models"] === undefined;
  const models = isListed ? presetModels(preset, provider, list()) : [...written.values()];
  return { provider, models, listed: isListed };
}

/** The models of a preset at this provider. If the provider's id is not the vendor's, model ids begin with the provider's id. */
function presetModels(preset: VendorRow, { id, baseUrl }: Provider, list: string): Model[] {
  const vendor = id === preset.id ? preset : { ...preset, id, prefix: id };
  const models = new Map<string, Model>();
  const own = ownModels(preset.id).map((model) => (id === preset.id ? model : moved(model, id)));
  const listed = listedModels(list, new Set([preset.id])).map((row) =>
    listedModel(pricedAt(vendor, row, baseUrl), vendor),
  );
  for (const model of [...own, ...listed])
    if (model !== undefined && !models.has(model.id)) models.set(model.id, model);
  return [...models.values()];
}

function moved<Own extends ReturnType<typeof ownModels>[number]>(model: Own, provider: string) {
  const name = model.id.slice(model.id.indexOf("/") + 1);
  const offers = model.offers.map((offer) => ({ ...offer, provider }));
  return { ...model, id: `${provider}/${name}`, aliases: undefined, offers };
}

/** A provider as the management API shows it, with secrets hidden in full, including their last characters. */
export function shownProvider(provider: Provider) {
  const { credentials, ...row } = providerRow(provider);
  return {
    ...row,
    ...(maskedWhole(accessRow(provider.access)) as object),
    credentials: credentials.map(({ id, weight }) => ({ id, weight })),
  };
}

/** Hides in full the values that {@link providerRow} masks but for their last characters. */
function maskedWhole(value: unknown): unknown {
  if (typeof value === "string") return value.startsWith("****") ? "****" : value;
  if (Array.isArray(value)) return value.map(maskedWhole);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, maskedWhole(each)]));
}

/** The catalogue without the models that only this provider offers, to check the provider's settings for conflicts. */
export function catalogWithout(catalog: Catalog, provider: string): Catalog {
  const models = [...catalog.models].flatMap(([id, model]): [string, Model][] => {
    const offers: readonly { readonly provider: string }[] = model.offers;
    return offers.every((offer) => offer.provider === provider) ? [] : [[id, model]];
  });
  return { ...catalog, models: new Map(models) };
}
