/**
 * A provider as the management API has it: what was added there, sealed whole under the master key, or what the file, the
 * environment or the sandbox says.
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
  noSuch,
  providerSealName,
  type ChangeContext,
  type Secrets,
} from "../tenancy/index.ts";
import type { Kind } from "./objects.ts";

export interface ProviderContext extends ChangeContext {
  readonly secrets: Secrets;
  readonly catalog: () => Catalog;
}

/** A provider, wherever it is from. */
export interface ProviderObject {
  readonly id: string;
  readonly source: ProviderSource;
  /** As it is shown. */
  readonly shown: object;
  readonly pausedUntil: Date | null;
  /** Of one that was added here. */
  readonly added?: AddedProvider & Pick<StoredProvider, "version" | "createdAt" | "updatedAt">;
}

/** Keys are in no view, and nothing that may be one. */
export const providerKind: Kind<ProviderObject> = {
  type: "provider",
  what: "provider",
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

/** What a row holds, opened. `removed`: the credentials that were removed, in place of those in use. @throws where it was sealed by another key */
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

/** Settings as they are stored. */
export const sealedSettings = (
  { secrets }: ProviderContext,
  id: string,
  settings: WireObject,
): Buffer => secrets.seal(providerSealName(id), JSON.stringify(settings));

/** A provider as it is now, its row locked. @throws GatewayError `not_found` */
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
  if (row === undefined || row.removed) throw noSuch("provider");
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
