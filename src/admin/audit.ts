/**
 * The audit log: who changed what, with values before and after. Each entry is written in the transaction of its change, so no
 * change lacks one. Views contain no secrets, so entries contain none.
 */
import { camelCased, wireCased, type SnakeCased } from "../base/casing.ts";
import { isObject } from "../base/json.ts";
import { newId } from "../base/ids.ts";
import { textOf, type Queryable } from "../storage/index.ts";
import {
  cursorOf,
  pageLimit,
  pageOf,
  visibilityParams,
  whereVisible,
  type Page,
  type PageRequest,
  type Visibility,
  type RowContext,
} from "../tenancy/index.ts";
import type { Actor, ActorKind } from "./actor.ts";
import type { Place } from "./guard.ts";

/** An audited action. `action` is the name in the table of rights, if it is a right. */
export interface AuditInput {
  readonly actor: Pick<Actor, "kind" | "userId" | "name">;
  readonly action: string;
  readonly object: { readonly type: string; readonly id: string };
  readonly place: Place;
  /** The object before and after; null if it did not exist. Both are null if none of its fields changed. */
  readonly before: object | null;
  readonly after: object | null;
  readonly requestId: string;
}

export interface AuditEntry {
  readonly id: string;
  readonly createdAt: Date;
  readonly workspaceId: string | null;
  readonly organizationId: string | null;
  readonly actor: {
    readonly kind: ActorKind;
    readonly id: string | null;
    readonly name: string;
  };
  readonly action: string;
  /** The object, with its current name. */
  readonly object: { readonly type: string; readonly id: string; readonly name: string | null };
  readonly before: object | null;
  readonly after: object | null;
  readonly requestId: string | null;
}

/** Returns the fields of `view` that differ from `other`; the whole view if `other` is null. */
function differing(view: object | null, other: object | null): object | null {
  if (!isObject(view) || !isObject(other)) return view;
  const changed = Object.entries(view).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(other[name]),
  );
  return Object.fromEntries(changed);
}

/** Writes an audit entry within the transaction of the change. */
export const writeAudit = (context: RowContext, input: AuditInput): Promise<void> =>
  writeAudits(context, [input]);

/** Writes audit entries within the transaction of their changes. */
export async function writeAudits(
  { database, clock }: RowContext,
  inputs: readonly AuditInput[],
): Promise<void> {
  const nowMs = clock.now();
  const rows = inputs.map(({ actor, action, object, place, before, after, requestId }) => ({
    workspace_id: place.workspaceId ?? "",
    id: newId("audit", nowMs),
    organization_id: place.organizationId ?? null,
    actor_kind: actor.kind,
    actor_id: actor.userId,
    actor_name: actor.name,
    action,
    object_type: object.type,
    object_id: object.id,
    before: differing(before, after),
    after: differing(after, before),
    request_id: requestId,
  }));
  await database.query(
    `insert into audit_entries (workspace_id, id, created_at, organization_id, actor_kind, actor_id, actor_name, action,
       object_type, object_id, before, after, request_id)
     select workspace_id, id, $2::timestamptz, organization_id, actor_kind, actor_id, actor_name, action, object_type, object_id, before, after,
       request_id
     from json_populate_recordset(null::audit_entries, $1::json)`,
    [textOf(rows), new Date(nowMs)],
  );
}

interface AuditRow extends SnakeCased<Omit<AuditEntry, "actor" | "object" | "workspaceId">> {
  readonly workspace_id: string;
  readonly actor_kind: ActorKind;
  readonly actor_id: string | null;
  readonly actor_name: string;
  readonly object_type: string;
  readonly object_id: string;
  readonly object_name: string | null;
}

export interface AuditFilter extends PageRequest {
  readonly visibility: Visibility;
  readonly workspaceId?: string | undefined;
  readonly actorId?: string | undefined;
  readonly action?: string | undefined;
  readonly objectId?: string | undefined;
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
}

const visible = whereVisible(1, { workspace: "workspace_id", owner: "actor_id" });

/**
 * Lists entries, newest first; `from` is inclusive, `to` exclusive. The query has only the conditions that are set, so that it can
 * use an index.
 */
export async function listAudit(
  database: Queryable,
  filter: AuditFilter,
): Promise<Page<AuditEntry>> {
  const limit = pageLimit(filter.limit);
  const params: unknown[] = [...visibilityParams(filter.visibility)];
  const where = [visible];
  const only = (condition: string, value: unknown): void => {
    if (value !== undefined) where.push(`${condition} $${params.push(value)}`);
  };
  only("workspace_id =", filter.workspaceId);
  only("actor_id =", filter.actorId);
  only("action =", filter.action);
  only("object_id =", filter.objectId);
  only("created_at >=", filter.from);
  only("created_at <", filter.to);
  only("id <", cursorOf(filter, "audit") ?? undefined);
  const rows = await database.query<AuditRow>(
    `with page as (
       select * from audit_entries where ${where.join(" and ")} order by id desc limit $${params.push(limit + 1)}
     )
     select page.*, coalesce(k.name, w.name, o.name, u.name) as object_name
     from page
     left join api_keys k on page.object_type = 'api_key' and k.id = page.object_id
     left join workspaces w on page.object_type in ('workspace', 'signing_secret') and w.id = page.object_id
     left join organizations o on page.object_type = 'organization' and o.id = page.object_id
     left join users u on page.object_type in ('member', 'user') and u.id = page.object_id
     order by page.id desc`,
    params,
  );
  return pageOf(rows.map(entryOfRow), limit);
}

const entryOfRow = ({
  actor_kind,
  actor_id,
  actor_name,
  object_type,
  object_id,
  object_name,
  ...row
}: AuditRow) => ({
  ...camelCased(row),
  workspaceId: row.workspace_id || null,
  actor: { kind: actor_kind, id: actor_id, name: actor_name },
  object: { type: object_type, id: object_id, name: object_name },
});

export const renderAudit = ({ object: subject, ...entry }: AuditEntry) => ({
  ...wireCased(entry),
  object: "audit_entry",
  subject,
});
