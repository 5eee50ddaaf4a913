/**
 * Every column of the database that holds sealed values. A rotation of the master key counts and rewrites them.
 * `test/tenancy/sealed-values.test.ts` checks that the list is complete.
 */
import type { Queryable } from "../storage/index.ts";
import { sealMark, type SealedKind } from "./derived-keys.ts";
import {
  answerSealName,
  bodySealName,
  credentialSealName,
  providerSealName,
  signingSealName,
} from "./seal-names.ts";

type Row = Readonly<Record<string, string>>;

export interface SealedColumn {
  readonly table: string;
  readonly column: string;
  /** The columns of the primary key, all texts. */
  readonly key: readonly string[];
  /** SQL of further inputs of the name, by alias. */
  readonly also?: Readonly<Record<string, string>>;
  readonly kind: SealedKind;
  /** Returns the name that a value is bound to. */
  readonly name: (row: Row) => string;
  /** How many rows are read, sealed and written at once. */
  readonly batch: number;
}

const text = { kind: "text", batch: 500 } as const;
const version = { version: "signing_version::text" };

export const sealedColumns: readonly SealedColumn[] = [
  {
    ...text,
    table: "api_keys",
    column: "ciphertext",
    key: ["workspace_id", "id"],
    name: ({ id }) => id!,
  },
  {
    ...text,
    table: "providers",
    column: "settings",
    key: ["id"],
    name: ({ id }) => providerSealName(id!),
  },
  {
    ...text,
    table: "provider_credentials",
    column: "api_key",
    key: ["provider_id", "id"],
    name: ({ provider_id: provider, id }) => credentialSealName(provider!, id!),
  },
  {
    ...text,
    table: "workspaces",
    column: "signing_sealed",
    key: ["id"],
    also: version,
    name: ({ id, version }) => signingSealName(id!, Number(version)),
  },
  {
    ...text,
    table: "workspaces",
    column: "signing_previous_sealed",
    key: ["id"],
    also: version,
    name: ({ id, version }) => signingSealName(id!, Number(version) - 1),
  },
  {
    // A row holds up to three bodies of 256 kB.
    kind: "body",
    batch: 20,
    table: "request_bodies",
    column: "sealed",
    key: ["workspace_id", "id"],
    name: ({ workspace_id: workspaceId, id }) =>
      bodySealName({ workspaceId: workspaceId!, id: id! }),
  },
  {
    kind: "body",
    batch: 20,
    table: "cached_answers",
    column: "sealed",
    key: ["workspace_id", "digest"],
    name: ({ workspace_id: workspaceId, digest }) =>
      answerSealName({ workspaceId: workspaceId!, digest: digest! }),
  },
];

/** Counts the values that are not sealed under the key `except`, in one column or in all. */
export async function countSealed(
  database: Queryable,
  {
    except,
    columns = sealedColumns,
  }: { readonly except: string; readonly columns?: readonly SealedColumn[] },
): Promise<number> {
  let sum = 0;
  for (const { table, column } of columns) {
    const [row] = await database.query<{ n: bigint }>(
      `select count(*) as n from ${table} where substr(${column}, 1, 5) <> $1`,
      [sealMark(except)],
    );
    sum += Number(row!.n);
  }
  return sum;
}

/** A sealed value with its row's key; null if it is already sealed under the wanted key. */
export interface SealedValue {
  readonly key: readonly string[];
  readonly name: string;
  readonly sealed: Buffer | null;
}

/** The next `batch` rows of a column in key order; `sealed` is set if the value is not sealed under the key `except`. */
export async function nextSealed(
  database: Queryable,
  { table, column, key, also = {}, name, batch }: SealedColumn,
  { except, after }: { readonly except: string; readonly after: readonly string[] | undefined },
): Promise<SealedValue[]> {
  const further = Object.entries(also).map(([as, sql]) => `, ${sql} as ${as}`);
  const places = key.map((_name, index) => `$${index + 2}`);
  const behind = after === undefined ? "" : `and (${key.join(", ")}) > (${places.join(", ")})`;
  const rows = await database.query<Row & { readonly sealed_value: Buffer | null }>(
    `select ${key.join(", ")}${further.join("")},
       case when substr(${column}, 1, 5) <> $1 then ${column} end as sealed_value
     from ${table} where ${column} is not null ${behind} order by ${key.join(", ")} limit ${batch}`,
    [sealMark(except), ...(after ?? [])],
  );
  return rows.map((row) => ({
    key: key.map((column) => row[column]!),
    name: name(row),
    sealed: row.sealed_value,
  }));
}

/** Replaces values that are unchanged since they were read. Returns how many it replaced. */
export async function replaceSealed(
  database: Queryable,
  { table, column, key }: SealedColumn,
  values: readonly { readonly old: SealedValue; readonly sealed: Buffer }[],
): Promise<number> {
  const names = key.map((_name, index) => `key_${index}`);
  const types = key.map((_name, index) => `$${index + 3}::text[]`);
  const same = key.map((column, index) => `t.${column} = n.key_${index}`);
  const rows = await database.query(
    `update ${table} t set ${column} = n.fresh
     from unnest($1::bytea[], $2::bytea[], ${types.join(", ")}) as n (old, fresh, ${names.join(", ")})
     where ${same.join(" and ")} and t.${column} = n.old returning 1`,
    [
      values.map(({ old }) => old.sealed),
      values.map(({ sealed }) => sealed),
      ...key.map((_name, index) => values.map(({ old }) => old.key[index]!)),
    ],
  );
  return rows.length;
}
