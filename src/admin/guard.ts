/**
 * The guard: applies the table of rights to an actor and an object. If the actor may not see the object, the answer is that of a
 * missing object, with the same text and after the same database read.
 */
import { GatewayError } from "../base/errors.ts";
import { notFound, type Visibility } from "../tenancy/index.ts";
import { hasRole, type Actor } from "./actor.ts";
import {
  reachesTo,
  verdict,
  type Action,
  type Relation,
  type Role,
  type Verdict,
} from "./rights.ts";

/** The place of an object. Without any field, it belongs to the installation. */
export interface Place {
  readonly workspaceId?: string | null | undefined;
  /** Set for an organization itself; members of its workspaces may reach it. */
  readonly organizationId?: string | null | undefined;
  /** The user who made the object, or whom it is about. */
  readonly ownerId?: string | null | undefined;
}

interface RoleAndRelation {
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

/** Returns the role in which the actor meets an object, and the object's relation to the actor. */
function roleAndRelation(actor: Actor, place: Place): RoleAndRelation {
  const member = memberOf(actor, place);
  const role = actor.organizationAdmin ? "organization_admin" : (member ?? "member");
  const mine = actor.userId !== null && place.ownerId === actor.userId;
  // Objects that a user made in a workspace stop being theirs when they leave it.
  const reached = member !== undefined || actor.organizationAdmin || !place.workspaceId;
  if (mine && reached) return { role, relation: "own" };
  return { role, relation: member === undefined ? "foreign" : "workspace" };
}

/**
 * Throws unless the actor may do the action. `what` names the kind of object, such as "workspace".
 * @throws GatewayError 403 `insufficient_permissions`; 404 `not_found`, if the actor may not even see the object
 */
export function permit(actor: Actor, action: Action, place: Place, what: string): void {
  const decided = decide(actor, action, place);
  if (decided === "missing") throw notFound(what);
  if (decided === "refused") throw insufficient(action);
}

/** True if the actor may do the action, for decisions that depend on it. */
export function allows(actor: Actor, action: Action, place: Place): boolean {
  return decide(actor, action, place) === "allowed";
}

function decide(actor: Actor, action: Action, place: Place): Verdict {
  const { role, relation } = roleAndRelation(actor, place);
  const decided = verdict(action, role, relation);
  return decided === "allowed" && relation === "foreign" && !hasRole(actor) ? "refused" : decided;
}

export const insufficient = (action: string): GatewayError =>
  new GatewayError("insufficient_permissions", `Your role does not allow ${action}.`);

/** Returns which rows of a list the actor sees; the right `action` governs reading them. */
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

/** The organizations that the actor may read; undefined: all. */
export function organizationIdsOf(actor: Actor): string[] | undefined {
  const { everything, workspaceIds } = visibilityOf(actor, "organization.read");
  if (everything) return undefined;
  const ids = workspaceIds.map((id) => actor.memberships.get(id)?.organizationId ?? null);
  return [...new Set(ids.filter((id) => id !== null))];
}
