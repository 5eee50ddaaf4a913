/**
 * Merges the sources of the catalogue. Order of precedence: the operator's file, the environment, providers added over the
 * management API, the sandbox. docs/models.md "Side by side".
 */
import type { BuiltProvider } from "./added.ts";
import { mergeCatalogs } from "./config.ts";
import { familyOf, type Catalog, type Model, type Provider, type ProviderSource } from "./types.ts";

export interface Layers {
  readonly sandbox: Catalog;
  readonly environment: Catalog;
  /** The file's own catalogue, with the lines of its providers. */
  readonly file?: { readonly catalog: Catalog; readonly lines?: ReadonlyMap<string, number> };
  readonly added: readonly BuiltProvider[];
  /** The ends of current pauses, by provider, in Unix milliseconds. */
  readonly paused: ReadonlyMap<string, number>;
}

const nothing: Catalog = { providers: new Map(), models: new Map() };

export function layeredCatalog(layers: Layers): Catalog {
  const { sandbox, environment, file, added, paused } = layers;
  const written = mergeCatalogs(sandbox, environment, file?.catalog ?? nothing);
  // If a file or a variable now uses an added provider's id, the added one is left out.
  const own = added.filter(({ provider }) => !written.providers.has(provider.id));
  const active = own.filter(({ retired }) => !retired);
  const retired = own.filter((one) => one.retired);
  const byId = (found: readonly BuiltProvider[]): ReadonlyMap<string, Provider> =>
    new Map(found.map(({ provider }) => [provider.id, provider]));
  const models = withAdded(written.models, active);
  return {
    defaultModel: written.defaultModel,
    promptCaching: written.promptCaching,
    providers: new Map([...written.providers, ...byId(active)]),
    models,
    unpriced: new Map([...(written.unpriced ?? [])].filter(([id]) => !models.has(id))),
    sources: sourcesOf(layers, active),
    paused,
    retired: byId(retired),
  };
}

/** Returns the providers whose jobs are polled: those in force, then those that were removed. */
export const polledProviders = ({
  providers,
  retired = new Map<string, Provider>(),
}: Catalog): readonly [ReadonlyMap<string, Provider>, ReadonlyMap<string, Provider>] => [
  providers,
  retired,
];

function sourcesOf({ sandbox, environment, file }: Layers, added: readonly BuiltProvider[]) {
  const sources = new Map<string, ProviderSource>();
  const note = (ids: Iterable<string>, kind: ProviderSource["kind"]): void => {
    for (const id of ids) sources.set(id, { kind });
  };
  note(sandbox.providers.keys(), "sandbox");
  note(
    added.map(({ provider }) => provider.id),
    "api",
  );
  note(environment.providers.keys(), "environment");
  for (const id of file?.catalog.providers.keys() ?? [])
    sources.set(id, { kind: "file", line: file?.lines?.get(id) });
  return sources;
}

/**
 * Adds the models of added providers. Configured models join an existing model of the same id: its definition stays, and their
 * offers go behind its own. Models of a vendor's list are added only under unused ids. An id that is another model's alias by now is
 * left out: the alias keeps its meaning.
 */
function withAdded(
  written: ReadonlyMap<string, Model>,
  added: readonly BuiltProvider[],
): ReadonlyMap<string, Model> {
  if (added.length === 0) return written;
  const models = new Map(written);
  const aliasesBefore = new Set([...written.values()].flatMap(({ aliases = [] }) => aliases));
  const names = new Set([...written.keys(), ...aliasesBefore]);
  const define = (model: Model): void => {
    const aliases = model.aliases?.filter((alias) => !names.has(alias));
    for (const name of [model.id, ...(aliases ?? [])]) names.add(name);
    models.set(model.id, model.aliases === undefined ? model : { ...model, aliases: aliases! });
  };
  const byRank = [
    ...added.filter(({ listed }) => !listed),
    ...added.filter(({ listed }) => listed),
  ];
  for (const { models: own, listed } of byRank)
    for (const model of own) {
      const known = models.get(model.id);
      if (known === undefined) {
        if (!aliasesBefore.has(model.id)) define(model);
      } else if (!listed && familyOf(known) === familyOf(model))
        models.set(model.id, { ...known, offers: [...known.offers, ...model.offers] } as Model);
    }
  return models;
}
