/**
 * Providers that are added over the management API. One means what the same lines of a configuration file mean: the same
 * schema, the same checks, the same way it is built. docs/models.md.
 */
import { isObject, type WireObject } from "../base/json.ts";
import { accessRow } from "./access-build.ts";
import { buildCatalog } from "./build.ts";
import { listedModel } from "./list/models.ts";
import { listedModels, vendorRows } from "./list/shipped.ts";
import type { VendorRow } from "./list/types.ts";
import { addressOf } from "./presets.ts";
import { providerRow } from "./print.ts";
import type { ConfigFile } from "./schema.ts";
import type { Catalog, Credential, Model, Provider } from "./types.ts";
import { ownModels } from "./vendors.ts";

/** What is given of a provider beside its id and keys, and what is kept of it. */
export interface AddedProvider {
  readonly id: string;
  /**
   * A provider of the file without `id`, `api_key` and `credentials`; `vendor` names a preset in place of dialect and
   * address. `models` are those of the file whose offers are this provider's.
   */
  readonly settings: WireObject;
  readonly credentials: readonly Credential[];
}

/** A provider as the catalogue takes it. */
export interface BuiltProvider {
  readonly provider: Provider;
  readonly models: readonly Model[];
  /** The models are of its vendor's list, and stand behind those that anybody wrote. */
  readonly listed: boolean;
  /** It gets no calls; only tasks that it took ask it. */
  readonly retired: boolean;
}

/** The preset that the settings name. */
export const presetOfSettings = ({ vendor }: WireObject): VendorRow | undefined =>
  typeof vendor === "string" ? vendorRows().find(({ id }) => id === vendor) : undefined;

/** The provider as the file would have it, and its models. */
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

/** Offers that name no provider are this one's. */
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

/** The provider alone of what was checked. */
export const addedProvider = (added: AddedProvider): Provider =>
  builtFile({ ...added, settings: { ...added.settings, models: [] } }).providers.get(added.id)!;

/** Builds what was checked. `list` gives the list of models in force; it is asked only for a vendor's own models. */
export function buildAdded(
  added: AddedProvider,
  { list, allowPrivate }: { readonly list: () => string; readonly allowPrivate: boolean },
): Omit<BuiltProvider, "retired"> {
  const { models: written, providers } = builtFile(added);
  const provider = { ...providers.get(added.id)!, guarded: !allowPrivate };
  const preset = presetOfSettings(added.settings);
  const isListed = preset !== undefined && added.settings["models"] === undefined;
  const models = isListed ? presetModels(preset, added.id, list()) : [...written.values()];
  return { provider, models, listed: isListed };
}

/** The models of a preset at a provider: under another id than the vendor's, their ids begin with that. */
function presetModels(preset: VendorRow, id: string, list: string): Model[] {
  const vendor = id === preset.id ? preset : { ...preset, id, prefix: id };
  const models = new Map<string, Model>();
  const own = ownModels(preset.id).map((model) => (id === preset.id ? model : moved(model, id)));
  const listed = listedModels(list, new Set([preset.id])).map((row) => listedModel(row, vendor));
  for (const model of [...own, ...listed])
    if (model !== undefined && !models.has(model.id)) models.set(model.id, model);
  return [...models.values()];
}

function moved<Own extends ReturnType<typeof ownModels>[number]>(model: Own, provider: string) {
  const name = model.id.slice(model.id.indexOf("/") + 1);
  const offers = model.offers.map((offer) => ({ ...offer, provider }));
  return { ...model, id: `${provider}/${name}`, aliases: undefined, offers };
}

/** A provider as it is shown: nothing of a secret, not its end either. */
export function shownProvider(provider: Provider) {
  const { credentials, ...row } = providerRow(provider);
  return {
    ...row,
    ...(hiddenWhole(accessRow(provider.access)) as object),
    credentials: credentials.map(({ id, weight }) => ({ id, weight })),
  };
}

/** What {@link providerRow} masks, without the last characters that it leaves. */
function hiddenWhole(value: unknown): unknown {
  if (typeof value === "string") return value.startsWith("****") ? "****" : value;
  if (Array.isArray(value)) return value.map(hiddenWhole);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, hiddenWhole(each)]));
}

/** What of a catalogue is not this provider's: what its own settings must not collide with. */
export function catalogWithout(catalog: Catalog, provider: string): Catalog {
  const models = [...catalog.models].flatMap(([id, model]): [string, Model][] => {
    const offers: readonly { readonly provider: string }[] = model.offers;
    return offers.every((offer) => offer.provider === provider) ? [] : [[id, model]];
  });
  return { ...catalog, models: new Map(models) };
}
