/** How the guard, the entity tags and the audit log see each kind of object of the management API. */
import {
  renderCreditLine,
  renderLowBalance,
  renderKeySettings,
  renderRateLimits,
  renderRouting,
  renderSpendCaps,
  getWorkspace,
  type KeyRecord,
  type Member,
  type Organization,
  type SigningSecret,
  type Workspace,
  type RowContext,
} from "../tenancy/index.ts";
import type { ObjectKind } from "./objects.ts";
import type { AdminToken } from "./tokens.ts";

export const organizationKind: ObjectKind<Organization> = {
  type: "organization",
  label: "organization",
  id: (organization) => organization.id,
  place: (organization) => ({ organizationId: organization.id }),
  view: ({ name, modelAllowlist, routing }) => ({
    name,
    model_allowlist: modelAllowlist,
    routing: renderRouting(routing),
  }),
};

export const workspaceKind: ObjectKind<Workspace> = {
  type: "workspace",
  label: "workspace",
  id: (workspace) => workspace.id,
  place: (workspace) => ({ workspaceId: workspace.id, organizationId: workspace.organizationId }),
  view: (workspace) => ({
    organization_id: workspace.organizationId,
    name: workspace.name,
    status: workspace.status,
    spend_caps: renderSpendCaps(workspace.spendCaps),
    credit_line: renderCreditLine(workspace.creditLineNano),
    model_allowlist: workspace.modelAllowlist,
    routing: renderRouting(workspace.routing),
    rate_limits: renderRateLimits(workspace.rateLimits),
    alert_webhook_url: workspace.alertWebhookUrl,
    alert_thresholds: workspace.alertThresholds,
    low_balance_alert: renderLowBalance(workspace.lowBalanceNano),
    keep_bodies: workspace.keepBodies,
    body_retention_days: workspace.bodyRetentionDays,
  }),
};

/** The workspace in which an object is created, as a place. @throws GatewayError `not_found` */
export async function placeOfWorkspace(context: RowContext, id: string) {
  const workspace = await getWorkspace(context, id);
  return { place: workspaceKind.place(workspace), label: workspaceKind.label };
}

export const memberKind: ObjectKind<Member> = {
  type: "member",
  label: "member",
  id: (member) => member.userId,
  place: (member) => ({ workspaceId: member.workspaceId, ownerId: member.userId }),
  view: ({ workspaceId, userId, role, status, invitation, spendCaps, rateLimits }) => ({
    workspace_id: workspaceId,
    user_id: userId,
    role,
    status,
    invitation: invitation && {
      id: invitation.id,
      expires_at: invitation.expiresAt.toISOString(),
    },
    spend_caps: renderSpendCaps(spendCaps),
    rate_limits: renderRateLimits(rateLimits),
  }),
};

export const keyKind: ObjectKind<KeyRecord> = {
  type: "api_key",
  label: "API key",
  id: (key) => key.id,
  place: (key) => ({ workspaceId: key.workspaceId, ownerId: key.createdBy }),
  view: renderKeySettings,
};

/** The view leaves out the secret itself. */
export const signingSecretKind: ObjectKind<SigningSecret & { readonly workspace: Workspace }> = {
  type: "signing_secret",
  label: "workspace",
  id: ({ workspace }) => workspace.id,
  place: ({ workspace }) => workspaceKind.place(workspace),
  view: ({ enabled, version }) => ({ enabled, version }),
};

export const tokenKind: ObjectKind<AdminToken> = {
  type: "admin_token",
  label: "token",
  id: (token) => token.id,
  place: (token) => ({ ownerId: token.userId }),
  view: ({ name, userId, expiresAt, revokedAt }) => ({
    name,
    user_id: userId,
    expires_at: expiresAt,
    revoked_at: revokedAt,
  }),
};
