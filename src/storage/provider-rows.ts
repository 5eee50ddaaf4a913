/** The rows of providers that were added over the management API, and of pauses. Sealed columns stay sealed here. */
import { camelCased, type SnakeCased } from "../base/casing.ts";
import type { Queryable } from "./queryable.ts";

export interface ProviderCredentialRow {
  readonly providerId: string;
  readonly id: string;
  readonly weight: number;
  readonly removed: boolean;
  readonly apiKey: Buffer;
}

export interface StoredProvider {
  readonly id: string;
  readonly version: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** True if only tasks that this provider took still use it. */
  readonly removed: boolean;
  readonly settings: Buffer;
  readonly credentials: readonly ProviderCredentialRow[];
}

type ProviderColumns = SnakeCased<Omit<StoredProvider, "removed" | "credentials">> & {
  readonly removed_at: Date | null;
};

type CredentialColumns = SnakeCased<Omit<ProviderCredentialRow, "removed">> & {
  readonly removed_at: Date | null;
};

const credentialOf = ({ removed_at: at, ...row }: CredentialColumns): ProviderCredentialRow => ({
  ...camelCased(row),
  removed: at !== null,
});

/** Returns providers with their credentials, the oldest first: all of them, or the one with `id`, whose row is then locked. */
export async function storedProviders(database: Queryable, id?: string): Promise<StoredProvider[]> {
  const rows = await database.query<ProviderColumns>(
    id === undefined
      ? "select * from providers order by created_at, id"
      : "select * from providers where id = $1 for update",
    id === undefined ? [] : [id],
  );
  const credentials = await database.query<CredentialColumns>(
    "select * from provider_credentials where $1::text is null or provider_id = $1 order by created_at, id",
    [id ?? null],
  );
  const byProvider = Map.groupBy(credentials, (row) => row.provider_id);
  return rows.map(({ removed_at: at, ...row }) => ({
    ...camelCased(row),
    removed: at !== null,
    credentials: (byProvider.get(row.id) ?? []).map(credentialOf),
  }));
}

/** Serializes changes of one provider, including its creation, until the transaction ends. */
export async function lockProvider(tx: Queryable, id: string): Promise<void> {
  await tx.query("select pg_advisory_xact_lock(hashtextextended('provider ' || $1, 0))", [id]);
}

/** Adds a provider without credentials; returns false if the id exists. */
export async function insertProvider(
  tx: Queryable,
  { id, settings, now }: { readonly id: string; readonly settings: Buffer; readonly now: Date },
): Promise<boolean> {
  const rows = await tx.query(
    `insert into providers (id, settings, created_at, updated_at) values ($1, $2, $3, $3)
     on conflict (id) do nothing returning id`,
    [id, settings, now],
  );
  return rows.length > 0;
}

/** Records a change: raises the version. Without `settings` the stored ones stay. */
export async function touchProvider(
  tx: Queryable,
  { id, settings, now }: { readonly id: string; readonly settings?: Buffer; readonly now: Date },
): Promise<void> {
  await tx.query(
    `update providers set version = version + 1, updated_at = greatest($2, created_at), settings = coalesce($3, settings)
     where id = $1`,
    [id, now, settings ?? null],
  );
}

/** Adds a credential; returns false if the id exists, also as a removed credential that tasks in flight still use. */
export async function insertCredential(
  tx: Queryable,
  row: Omit<ProviderCredentialRow, "removed"> & { readonly now: Date },
): Promise<boolean> {
  const rows = await tx.query(
    `insert into provider_credentials (provider_id, id, weight, api_key, created_at) values ($1, $2, $3, $4, $5)
     on conflict (provider_id, id) do nothing returning id`,
    [row.providerId, row.id, row.weight, row.apiKey, row.now],
  );
  return rows.length > 0;
}

const underWay = "t.due_at is not null and t.provider = ";

/** Removes a credential, or marks it as removed while a task that began with it is in flight. */
export async function removeCredential(
  tx: Queryable,
  { providerId, id, now }: { readonly providerId: string; readonly id: string; readonly now: Date },
): Promise<void> {
  await tx.query(
    "update provider_credentials set removed_at = $3 where provider_id = $1 and id = $2",
    [providerId, id, now],
  );
  await purgeProviders(tx);
}

/** Removes a provider, or marks it as removed while a task that it took is in flight. */
export async function removeProvider(tx: Queryable, id: string, now: Date): Promise<void> {
  await tx.query("update providers set removed_at = $2, version = version + 1 where id = $1", [
    id,
    now,
  ]);
  await tx.query("delete from provider_pauses where provider_id = $1", [id]);
  await purgeProviders(tx);
}

/** Deletes removed providers and credentials that no task needs any more. */
export async function purgeProviders(tx: Queryable): Promise<void> {
  await tx.query(
    `delete from provider_credentials c where removed_at is not null
       and not exists (select 1 from tasks t where ${underWay} c.provider_id and t.credential = c.id)`,
    [],
  );
  await tx.query(
    `delete from providers p where removed_at is not null
       and not exists (select 1 from tasks t where ${underWay} p.id)`,
    [],
  );
}

/** Returns the end of each provider's pause, by provider id; leaves out pauses that are over. */
export async function providerPauses(
  database: Queryable,
  now: Date,
): Promise<ReadonlyMap<string, Date>> {
  const rows = await database.query<{ provider_id: string; until: Date }>(
    "select provider_id, until from provider_pauses where until > $1",
    [now],
  );
  return new Map(rows.map(({ provider_id: id, until }) => [id, until]));
}

/** Pauses a provider until `until`; null ends its pause. */
export async function setPause(
  tx: Queryable,
  { id, until, now }: { readonly id: string; readonly until: Date | null; readonly now: Date },
): Promise<void> {
  await tx.query("delete from provider_pauses where provider_id = $1 or until <= $2", [id, now]);
  if (until === null) return;
  await tx.query(
    "insert into provider_pauses (provider_id, created_at, until) values ($1, $2, $3)",
    [id, now, until],
  );
}
