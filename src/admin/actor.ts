/** The caller of the management API, with current roles: read for each request, so a change takes effect at once. */
import type { Queryable } from "../storage/index.ts";
import type { MemberRole } from "../tenancy/index.ts";

/** How the caller authenticated. */
export type ActorKind = "admin_token" | "token" | "session";

export interface Actor {
  readonly kind: ActorKind;
  /** null for the admin token, which belongs to no user. */
  readonly userId: string | null;
  /** The session that authenticated the request; undefined for tokens. */
  readonly sessionId?: string | undefined;
  /** Name for the audit log: an e-mail address, or "admin token". */
  readonly name: string;
  /** Administers every organization and workspace. */
  readonly organizationAdmin: boolean;
  /** The user's role by workspace id. */
  readonly memberships: ReadonlyMap<string, Membership>;
}

export interface Membership {
  readonly role: MemberRole;
  readonly organizationId: string | null;
}

/** False for a user without a workspace, such as a removed member: nothing of the installation is for them. */
export const hasRole = ({ organizationAdmin, memberships }: Actor): boolean =>
  organizationAdmin || memberships.size > 0;

export const adminTokenActor: Actor = {
  kind: "admin_token",
  userId: null,
  name: "admin token",
  organizationAdmin: true,
  memberships: new Map(),
};

/** The recorded creator of an object: the user, or `admin_token`, so that each object has an owner. */
export const creatorOf = (actor: Actor): string => actor.userId ?? "admin_token";

interface UserRow {
  readonly email: string;
  readonly role: "admin" | "user";
  readonly workspace_id: string | null;
  readonly member_role: MemberRole;
  readonly organization_id: string | null;
}

/** Loads a user as an actor; undefined if the user no longer exists. */
export async function loadActor(
  database: Queryable,
  userId: string,
  kind: "token" | "session",
): Promise<Actor | undefined> {
  const rows = await database.query<UserRow>(
    `select u.email, u.role, w.id as workspace_id, m.role as member_role, w.organization_id
     from users u left join members m on m.user_id = u.id and m.status = 'active' left join workspaces w on w.id = m.workspace_id
     where u.id = $1`,
    [userId],
  );
  const [first] = rows;
  if (first === undefined) return undefined;
  const memberships = new Map<string, Membership>();
  for (const row of rows) {
    if (row.workspace_id === null) continue;
    memberships.set(row.workspace_id, {
      role: row.member_role,
      organizationId: row.organization_id,
    });
  }
  return {
    kind,
    userId,
    name: first.email,
    organizationAdmin: first.role === "admin",
    memberships,
  };
}
