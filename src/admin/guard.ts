/**
 * The guard: applies the table of rights to somebody and an object. Whoever may not see an object gets the answer that it does
 * not exist, in the very words in which a missing one is answered, after the very same read of the database.
 */
import { GatewayError } from "../base/errors.ts";
import { noSuch, type Visibility } from "../tenancy/index.ts";
import type { Actor } from "./actor.ts";
import { reachesTo, verdict, type Action, type Relation, type Role } from "./rights.ts";

/** Where an object stands. Nothing given: it belongs to the installation. */
export interface Place {
  readonly workspaceId?: string | null | undefined;
  /** Of an organization itself; it is in reach of the members of its workspaces. */
  readonly organizationId?: string | null | undefined;
  /** The user who made it, or whom it is about. */
  readonly ownerId?: string | null | undefined;
}

interface Standing {
  readonly role: Role;
  readonly relation: Relation;
}

function memberOf(actor: Actor, place: Place): Role | undefined {
  if (place.workspaceId) {
    const membership = actor.memberships.get(place.workspaceId);
    return membership && roleOf(membership.role);
  }
  if (!place.organizationId) return undefined;
  const within = [...actor.memberships.values()].filter(
    ({ organizationId }) => organizationId === place.organizationId,
  );
  if (within.length === 0) return undefined;
  return within.some(({ role }) => role === "admin") ? "workspace_admin" : "member";
}

const roleOf = (role: "admin" | "member"): Role =>
  role === "admin" ? "workspace_admin" : "member";

/** In which role somebody meets an object, and how it stands to them. */
function standing(actor: Actor, place: Place): Standing {
  const member = memberOf(actor, place);
  const role = actor.organizationAdmin ? "organization_admin" : (member ?? "member");
  const mine = actor.userId !== null && place.ownerId === actor.userId;
  // What somebody made in a workspace they have left is theirs no more.
  const reached = member !== undefined || actor.organizationAdmin || !place.workspaceId;
  if (mine && reached) return { role, relation: "own" };
  return { role, relation: member === undefined ? "foreign" : "workspace" };
}

/**
 * Lets somebody pass who may do that. `what` names the kind of object, such as "workspace".
 * @throws GatewayError 403 `insufficient_permissions`; 404 `not_found`, where they may not even see it
 */
export function permit(actor: Actor, action: Action, place: Place, what: string): void {
  const { role, relation } = standing(actor, place);
  const decided = verdict(action, role, relation);
  if (decided === "missing") throw noSuch(what);
  if (decided === "refused") throw insufficient(action);
}

/** Whether somebody may do that, for what depends on it. */
export function allows(actor: Actor, action: Action, place: Place): boolean {
  const { role, relation } = standing(actor, place);
  return verdict(action, role, relation) === "allowed";
}

export const insufficient = (action: string): GatewayError =>
  new GatewayError("insufficient_permissions", `Your role does not allow ${action}.`);

/** What somebody sees of a list, whose rows are read by the right `action`. */
export function visibilityOf(actor: Actor, action: Action): Visibility {
  if (actor.organizationAdmin) {
    return {
      everything: reachesTo(action, "organization_admin", "foreign"),
      workspaceIds: [],
      ownWorkspaceIds: [],
      userId: actor.userId,
    };
  }
  const within = (relation: Relation): string[] =>
    [...actor.memberships]
      .filter(([, { role }]) => reachesTo(action, roleOf(role), relation))
      .map(([workspaceId]) => workspaceId);
  return {
    everything: false,
    workspaceIds: within("workspace"),
    ownWorkspaceIds: within("own"),
    userId: actor.userId,
  };
}

/** The organizations somebody may read; undefined: all of them. */
export function organizationIdsOf(actor: Actor): string[] | undefined {
  const { everything, workspaceIds } = visibilityOf(actor, "organization.read");
  if (everything) return undefined;
  const ids = workspaceIds.map((id) => actor.memberships.get(id)?.organizationId ?? null);
  return [...new Set(ids.filter((id) => id !== null))];
}
