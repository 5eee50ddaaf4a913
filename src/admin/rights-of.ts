/**
 * Lists an actor's rights in advance, so that a page offers no button that would be refused. The same table decides again on each
 * request.
 */
import { hasRole, type Actor } from "./actor.ts";
import { reachesTo, rights, type Action, type Role } from "./rights.ts";

/** The actions of an actor in one workspace. */
export interface WorkspaceRights {
  /** On every object in the workspace. */
  readonly all: readonly Action[];
  /** On objects that they made or that are about them. */
  readonly own: readonly Action[];
}

export interface ActorRights {
  /** On objects anywhere. */
  readonly everywhere: readonly Action[];
  /** On their own objects outside workspaces. */
  readonly own: readonly Action[];
  /** By workspace id, for each membership. */
  readonly workspaces: Readonly<Record<string, WorkspaceRights>>;
}

const actions = Object.keys(rights) as Action[];

/** True for actions on objects that belong to a user, outside workspaces. */
const isPersonal = (action: Action): boolean => /^(token|session)\./.test(action);

/** The actions with which a role reaches objects of this relation. */
const reaching = (role: Role, to: "own" | "workspace" | "foreign"): Action[] =>
  actions.filter((action) => reachesTo(action, role, to));

/** Returns an actor's rights. An organization admin has them everywhere, so workspaces add nothing and are left out. */
export function rightsOf(actor: Actor): ActorRights {
  const role: Role = actor.organizationAdmin ? "organization_admin" : "member";
  const everywhere = hasRole(actor) ? reaching(role, "foreign") : [];
  const beyond = (list: readonly Action[], but: readonly Action[]): Action[] =>
    list.filter((action) => !but.includes(action));
  const memberships = actor.organizationAdmin ? [] : [...actor.memberships];
  return {
    everywhere,
    own: actions.filter(isPersonal),
    workspaces: Object.fromEntries(
      memberships.map(([id, membership]) => {
        const within: Role = membership.role === "admin" ? "workspace_admin" : "member";
        const all = reaching(within, "workspace");
        const own = reaching(within, "own").filter((action) => !isPersonal(action));
        return [id, { all: beyond(all, everywhere), own: beyond(own, all) }];
      }),
    ),
  };
}
