/**
 * A provider as the management API shows it. Its settings are sealed under the master key if it was added there. Otherwise they
 * come from the file, the environment or the sandbox.
 */
import { isObject, type WireObject } from "../base/json.ts";
import {
  addedProvider,
  shownProvider,
  type AddedProvider,
  type Catalog,
  type Credential,
  type ProviderSource,
} from "../catalog/index.ts";
import {
  lockProvider,
  providerPauses,
  storedProviders,
  type StoredProvider,
} from "../storage/index.ts";
import {
  credentialSealName,
  notFound,
  providerSealName,
  type ChangeContext,
  type Secrets,
} from "../tenancy/index.ts";
import type { ObjectKind } from "./objects.ts";

export interface ProviderContext extends ChangeContext {
  readonly secrets: Secrets;
  readonly catalog: () => Catalog;
}

/** A provider of any source. */
export interface ProviderObject {
  readonly id: string;
  readonly source: ProviderSource;
  /** The fields shown to users. */
  readonly shown: object;
  readonly pausedUntil: Date | null;
  /** Set if the provider was added over the management API. */
  readonly added?: AddedProvider & Pick<StoredProvider, "version" | "createdAt" | "updatedAt">;
}

/** Views contain no keys, nor values that may be keys. */
export const providerKind: ObjectKind<ProviderObject> = {
  type: "provider",
  label: "provider",
  id: ({ id }) => id,
  place: () => ({}),
  view: ({ shown, source, pausedUntil, added }) => ({
    ...shown,
    source: source.kind,
    paused_until: pausedUntil?.toISOString() ?? null,
    ...(added && {
      vendor: added.settings["vendor"] ?? null,
      model_rows: added.settings["models"] ?? null,
      version: added.version,
    }),
  }),
};

/** Unseals a provider row. `removed`: returns the removed credentials instead of those in use. @throws if another key sealed the row */
export function openProvider(
  secrets: Secrets,
  row: StoredProvider,
  { removed = false }: { readonly removed?: boolean } = {},
): AddedProvider {
  const settings: unknown = JSON.parse(secrets.unseal(providerSealName(row.id), row.settings));
  if (!isObject(settings)) throw new Error("sealed settings are no object");
  const credentials = row.credentials.flatMap((one): Credential[] =>
    one.removed === removed
      ? [
          {
            id: one.id,
            apiKey: secrets.unseal(credentialSealName(row.id, one.id), one.apiKey),
            weight: one.weight,
          },
        ]
      : [],
  );
  return { id: row.id, settings, credentials };
}

/** Seals settings for storage. */
export const sealedSettings = (
  { secrets }: ProviderContext,
  id: string,
  settings: WireObject,
): Buffer => secrets.seal(providerSealName(id), JSON.stringify(settings));

/** Loads a provider and locks its row. @throws GatewayError `not_found` */
export async function getProvider(context: ProviderContext, id: string): Promise<ProviderObject> {
  const { database, secrets, clock } = context;
  await lockProvider(database, id);
  const [row] = await storedProviders(database, id);
  const pausedUntil = (await providerPauses(database, new Date(clock.now()))).get(id) ?? null;
  const { providers, sources } = context.catalog();
  const known = providers.get(id);
  const source = sources?.get(id) ?? { kind: "file" };
  if (known && source.kind !== "api")
    return { id, source, shown: shownProvider(known), pausedUntil };
  if (row === undefined || row.removed) throw notFound("provider");
  const opened = openProvider(secrets, row);
  const { version, createdAt, updatedAt } = row;
  return {
    id,
    source: { kind: "api" },
    shown: shownProvider(addedProvider(opened)),
    pausedUntil,
    added: { ...opened, version, createdAt, updatedAt },
  };
}
