/** The objects of the management API as the guard, the entity tags and the audit log see them. */
import { renderKeySettings, type KeyRecord } from "../tenancy/index.ts";
import type { Kind } from "./objects.ts";
import type { AdminToken } from "./tokens.ts";

export const keyKind: Kind<KeyRecord> = {
  type: "api_key",
  what: "API key",
  id: (key) => key.id,
  place: (key) => ({ workspaceId: key.workspaceId, ownerId: key.createdBy }),
  view: renderKeySettings,
};

export const tokenKind: Kind<AdminToken> = {
  type: "admin_token",
  what: "token",
  id: (token) => token.id,
  place: (token) => ({ ownerId: token.userId }),
  view: ({ name, userId, expiresAt, revokedAt }) => ({
    name,
    user_id: userId,
    expires_at: expiresAt,
    revoked_at: revokedAt,
  }),
};
