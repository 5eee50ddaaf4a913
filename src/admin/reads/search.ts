/** Searches visible objects by a part of the name, up to five of each kind: for the command palette. */
import type { Queryable } from "../../storage/index.ts";
import { visibilityParams, whereVisible, type Visibility } from "../../tenancy/index.ts";

const foundMax = 5;

export interface FoundKey {
  readonly id: string;
  readonly name: string;
  readonly key_last4: string;
  readonly status: string;
  readonly workspace_id: string;
}

export interface FoundMember {
  readonly user_id: string;
  readonly email: string;
  readonly name: string;
  readonly workspace_id: string;
}

export interface FoundWorkspace {
  readonly id: string;
  readonly name: string;
}

export interface Found {
  readonly keys: readonly FoundKey[];
  readonly members: readonly FoundMember[];
  readonly workspaces: readonly FoundWorkspace[];
}

export interface SearchScope {
  readonly keys: Visibility;
  readonly members: Visibility;
  readonly workspaces: Visibility;
}

/** SQL that is true if a column contains the text $1. `first` sorts values that begin with it before others. */
const has = (column: string): string => `strpos(lower(${column}), lower($1)) > 0`;
const first = (column: string): string =>
  `strpos(lower(${column}), lower($1)) <> 1, lower(${column})`;

const keySql = `select id, name, key_last4, status, workspace_id from api_keys
  where (${has("name")} or key_last4 = $1 or id = $1)
    and ${whereVisible(2, { workspace: "workspace_id", owner: "created_by" })}
  order by ${first("name")}, id limit ${foundMax}`;

const memberSql = `select m.user_id, u.email, u.name, m.workspace_id from members m join users u on u.id = m.user_id
  where (${has("u.email")} or ${has("u.name")})
    and ${whereVisible(2, { workspace: "m.workspace_id", owner: "m.user_id" })}
  order by ${first("u.email")}, m.workspace_id limit ${foundMax}`;

const workspaceSql = `select id, name from workspaces
  where (${has("name")} or id = $1) and ($2::boolean or id = any($3::text[]))
  order by ${first("name")}, id limit ${foundMax}`;

/**
 * Finds keys by name, last four characters or id, members by name or e-mail, and workspaces by name or id. Returns only objects
 * that the actor sees.
 */
export async function search(
  database: Queryable,
  text: string,
  scope: SearchScope,
): Promise<Found> {
  const of = <Row extends object>(
    sql: string,
    visibility: Visibility,
    params = 4,
  ): Promise<Row[]> =>
    database.query<Row>(sql, [text, ...visibilityParams(visibility).slice(0, params)]);
  const [keys, members, workspaces] = await Promise.all([
    of<FoundKey>(keySql, scope.keys),
    of<FoundMember>(memberSql, scope.members),
    of<FoundWorkspace>(workspaceSql, scope.workspaces, 2),
  ]);
  return { keys, members, workspaces };
}
