/** What somebody may do, said beforehand: so that a page offers no button that would be refused. The same table decides again when it is pressed. */
import type { Actor } from "./actor.ts";
import { reachesTo, rights, type Action, type Role } from "./rights.ts";

/** The actions of somebody in one workspace. */
export interface WorkspaceRights {
  /** With everything in it. */
  readonly all: readonly Action[];
  /** With what they made themselves, or what is about them. */
  readonly own: readonly Action[];
}

export interface ActorRights {
  /** Wherever it is. */
  readonly everywhere: readonly Action[];
  /** With what is their own, in no workspace. */
  readonly own: readonly Action[];
  /** By the id of each workspace they are a member of. */
  readonly workspaces: Readonly<Record<string, WorkspaceRights>>;
}

const actions = Object.keys(rights) as Action[];

/** With what belongs to a user alone, in no workspace. */
const isPersonal = (action: Action): boolean => /^(token|session)\./.test(action);

/** The actions of a role that reach as far as one relation and no further. */
const reaching = (role: Role, to: "own" | "workspace" | "foreign"): Action[] =>
  actions.filter((action) => reachesTo(action, role, to));

/** What somebody may do. An organization admin may do it everywhere, so workspaces add nothing and are left out. */
export function rightsOf(actor: Actor): ActorRights {
  const role: Role = actor.organizationAdmin ? "organization_admin" : "member";
  const everywhere = reaching(role, "foreign");
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
