/**
 * Who may do what: one table, read by every route and by the matrix test. CAP-10,
 * CAP-12 to CAP-14, VIS-01 to VIS-04.
 */

/** organization_admin administers the installation; the others are roles in the object's workspace. */
export type Role = "organization_admin" | "workspace_admin" | "member";

/** The object's relation to the actor: made by them, in a workspace of theirs, or neither. */
export type Relation = "own" | "workspace" | "foreign";

/** How far a right reaches; each includes those before it. */
type Reach = "nothing" | "own" | "workspace" | "everything";

/** missing: answered as if the object did not exist, because the actor may not see it. */
export type Verdict = "allowed" | "refused" | "missing";

/** The rights that decide who sees an object. */
type Seeing =
  | "organization.read"
  | "workspace.read"
  | "member.read"
  | "key.read"
  | "token.read"
  | "session.read"
  | "request.read"
  | "task.read"
  | "delivery.read";

interface Right extends Readonly<Record<Role, Reach>> {
  /** The right needed to see the object; null: there is nothing to hide. */
  readonly seen: Seeing | null;
}

function right(
  seen: Seeing | null,
  organization_admin: Reach,
  workspace_admin: Reach,
  member: Reach,
): Right {
  return { seen, organization_admin, workspace_admin, member };
}

/** Each action with the right to see its object, and its reach for organization admin, workspace admin and member. */
export const rights = {
  "organization.read": right("organization.read", "everything", "workspace", "workspace"),
  "organization.create": right(null, "everything", "nothing", "nothing"),
  "organization.change": right("organization.read", "everything", "nothing", "nothing"),

  "workspace.read": right("workspace.read", "everything", "workspace", "workspace"),
  "workspace.create": right(null, "everything", "nothing", "nothing"),
  "workspace.change": right("workspace.read", "everything", "workspace", "nothing"),
  "workspace.set_spend_caps": right("workspace.read", "everything", "nothing", "nothing"),
  "workspace.set_credit_line": right("workspace.read", "everything", "nothing", "nothing"),
  "workspace.set_rate_limits": right("workspace.read", "everything", "nothing", "nothing"),
  "workspace.set_status": right("workspace.read", "everything", "nothing", "nothing"),
  "workspace.add_credits": right("workspace.read", "everything", "nothing", "nothing"),
  "balance.read": right("workspace.read", "everything", "workspace", "workspace"),
  "ledger.read": right("workspace.read", "everything", "workspace", "nothing"),
  // For the ledgers of all workspaces at once.
  "ledger.verify": right(null, "everything", "nothing", "nothing"),

  "signing_secret.read": right("workspace.read", "everything", "workspace", "nothing"),
  "signing_secret.change": right("workspace.read", "everything", "workspace", "nothing"),
  "signing_secret.rotate": right("workspace.read", "everything", "workspace", "nothing"),

  "member.read": right("member.read", "everything", "workspace", "own"),
  "member.create": right("workspace.read", "everything", "workspace", "nothing"),
  "member.change": right("member.read", "everything", "workspace", "nothing"),
  "member.reset_password": right("member.read", "everything", "workspace", "nothing"),
  "member.delete": right("member.read", "everything", "workspace", "nothing"),

  "invitation.revoke": right("member.read", "everything", "workspace", "nothing"),

  "key.read": right("key.read", "everything", "workspace", "own"),
  "key.create": right("workspace.read", "everything", "workspace", "workspace"),
  "key.create_for_member": right("workspace.read", "everything", "workspace", "nothing"),
  "key.change": right("key.read", "everything", "workspace", "own"),
  "key.loosen_spend_caps": right("key.read", "everything", "workspace", "nothing"),
  "key.loosen_limits": right("key.read", "everything", "workspace", "nothing"),
  "key.disable": right("key.read", "everything", "workspace", "own"),
  "key.enable": right("key.read", "everything", "workspace", "own"),
  "key.revoke": right("key.read", "everything", "workspace", "own"),
  "key.reveal": right("key.read", "everything", "workspace", "own"),
  "key.rotate": right("key.read", "everything", "workspace", "own"),

  // For the actor's own tokens, and only with a session.
  "token.create": right(null, "own", "own", "own"),
  "token.read": right("token.read", "own", "own", "own"),
  "token.revoke": right("token.read", "own", "own", "own"),

  // For the actor's own open sessions.
  "session.read": right("session.read", "own", "own", "own"),
  "session.end": right("session.read", "own", "own", "own"),

  // For calls, tasks and callbacks; `own`: made by the actor's key.
  "request.read": right("request.read", "everything", "workspace", "own"),
  "task.read": right("task.read", "everything", "workspace", "own"),
  "task.cancel": right("task.read", "everything", "workspace", "own"),
  "delivery.read": right("delivery.read", "everything", "workspace", "own"),
  "delivery.redeliver": right("delivery.read", "everything", "workspace", "own"),
  "webhook.test": right("workspace.read", "everything", "workspace", "nothing"),
  "usage.read": right(null, "everything", "workspace", "own"),

  // The configuration, which has no owner.
  "model.read": right(null, "everything", "everything", "everything"),
  "provider.read": right(null, "everything", "everything", "everything"),
  "provider.create": right(null, "everything", "nothing", "nothing"),
  "provider.change": right(null, "everything", "nothing", "nothing"),
  "provider.delete": right(null, "everything", "nothing", "nothing"),
  "provider.test": right(null, "everything", "nothing", "nothing"),
  "provider.pause": right(null, "everything", "nothing", "nothing"),

  "gateway.read": right(null, "everything", "nothing", "nothing"),
  "hook.read": right(null, "everything", "nothing", "nothing"),

  // The installation's list of models, which vendor presets use.
  "vendor.read": right(null, "everything", "nothing", "nothing"),
  "catalog.read": right(null, "everything", "nothing", "nothing"),
  "catalog.change": right(null, "everything", "nothing", "nothing"),

  // For the named person, in all workspaces.
  "personal_data.erase": right(null, "everything", "nothing", "nothing"),

  "audit.read": right(null, "everything", "workspace", "nothing"),
} as const satisfies Record<string, Right>;

export type Action = keyof typeof rights;

const reaches: Readonly<Record<Reach, readonly Relation[]>> = {
  nothing: [],
  own: ["own"],
  workspace: ["own", "workspace"],
  everything: ["own", "workspace", "foreign"],
};

/** True if a role's right reaches objects of this relation. */
export const reachesTo = (action: Action, role: Role, relation: Relation): boolean =>
  reaches[rights[action][role]].includes(relation);

/** The verdict on `action` by a role on an object of this relation. */
export function verdict(action: Action, role: Role, relation: Relation): Verdict {
  if (reachesTo(action, role, relation)) return "allowed";
  const { seen } = rights[action];
  return seen === null || reachesTo(seen, role, relation) ? "refused" : "missing";
}
