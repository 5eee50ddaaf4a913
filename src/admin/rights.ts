/**
 * Who may do what: one table, read by every route and by the matrix test. CAP-10,
 * CAP-12 to CAP-14, VIS-01 to VIS-04.
 */

/** organization_admin: administers the installation; the others are roles in the workspace of the object. */
export type Role = "organization_admin" | "workspace_admin" | "member";

/** How an object stands to whoever asks: made by them, in a workspace of theirs, or neither. */
export type Relation = "own" | "workspace" | "foreign";

/** How far a right reaches; each one includes those before it. */
type Reach = "nothing" | "own" | "workspace" | "everything";

/** missing: answered as if the object did not exist, because its reader may not see it either. */
export type Verdict = "allowed" | "refused" | "missing";

/** The rights that decide who sees an object at all. */
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
  /** The right whose holders see the object; null: there is nothing to hide. */
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

/** Each action with the right that sees its object, and how far it reaches for organization admin, workspace admin, member. */
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
  // Of the ledgers of all workspaces at once.
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

  // Of oneself, and with a session only.
  "token.create": right(null, "own", "own", "own"),
  "token.read": right("token.read", "own", "own", "own"),
  "token.revoke": right("token.read", "own", "own", "own"),

  // Of oneself: where one is signed in.
  "session.read": right("session.read", "own", "own", "own"),
  "session.end": right("session.read", "own", "own", "own"),

  // Made by a key of one's own: a call, a task, its callback.
  "request.read": right("request.read", "everything", "workspace", "own"),
  "task.read": right("task.read", "everything", "workspace", "own"),
  "task.cancel": right("task.read", "everything", "workspace", "own"),
  "delivery.read": right("delivery.read", "everything", "workspace", "own"),
  "delivery.redeliver": right("delivery.read", "everything", "workspace", "own"),
  "webhook.test": right("workspace.read", "everything", "workspace", "nothing"),
  "usage.read": right(null, "everything", "workspace", "own"),

  // The configuration, which belongs to nobody.
  "model.read": right(null, "everything", "everything", "everything"),
  "provider.read": right(null, "everything", "everything", "everything"),
  "provider.create": right(null, "everything", "nothing", "nothing"),
  "provider.change": right(null, "everything", "nothing", "nothing"),
  "provider.delete": right(null, "everything", "nothing", "nothing"),
  "provider.test": right(null, "everything", "nothing", "nothing"),
  "provider.pause": right(null, "everything", "nothing", "nothing"),

  "gateway.read": right(null, "everything", "nothing", "nothing"),
  "hook.read": right(null, "everything", "nothing", "nothing"),

  // The list of models that the vendors' presets go by, of the whole installation.
  "vendor.read": right(null, "everything", "nothing", "nothing"),
  "catalog.read": right(null, "everything", "nothing", "nothing"),
  "catalog.change": right(null, "everything", "nothing", "nothing"),

  // Of whoever is named, in any workspace.
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

/** Whether a right of a role reaches objects of a relation. */
export const reachesTo = (action: Action, role: Role, relation: Relation): boolean =>
  reaches[rights[action][role]].includes(relation);

/** What somebody of a role gets who does `action` to an object of a relation. */
export function verdict(action: Action, role: Role, relation: Relation): Verdict {
  if (reachesTo(action, role, relation)) return "allowed";
  const { seen } = rights[action];
  return seen === null || reachesTo(seen, role, relation) ? "refused" : "missing";
}
