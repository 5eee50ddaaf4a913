/** Rights over a key that depend on its owner and on its settings. docs/management.md; Requirements: KEY, CAP-13, CAP-14, VIS. */
import { isDeepStrictEqual } from "node:util";
import { creatorOf, keyKind, permit, type Actor, type WithinChange } from "../../admin/index.ts";
import { GatewayError, invalidValue } from "../../base/errors.ts";
import {
  getMember,
  lockMembership,
  settingBeyondBounds,
  type KeyRecord,
} from "../../tenancy/index.ts";

/** Returns the user id of a new key's owner. @throws GatewayError 403 `insufficient_permissions`, `invalid_value` for an unknown user id */
export async function ownerOf(
  context: WithinChange,
  actor: Actor,
  body: { readonly workspace_id: string; readonly user_id?: string | undefined },
): Promise<string> {
  const { workspace_id: workspaceId, user_id: userId } = body;
  if (userId === undefined || userId === actor.userId) {
    // A key can outlive its creator's membership: a member who is being removed must not create one meanwhile.
    if (actor.userId !== null && !actor.organizationAdmin)
      await lockMembership(context, { workspaceId, userId: actor.userId });
    return creatorOf(actor);
  }
  permit(actor, "key.create_for_member", { workspaceId }, "workspace");
  const member = await getMember(context, { workspaceId, userId }, { forUpdate: true }).catch(
    (error: unknown) => {
      if (error instanceof GatewayError && error.code === "not_found") return undefined;
      throw error;
    },
  );
  if (member?.status === "active") return member.userId;
  throw invalidValue(
    "user_id",
    member
      ? "must be an active member; this one has not accepted the invitation yet"
      : "must be the id of a member of the workspace",
  );
}

/** Refuses changes beyond a member's rights: members may tighten the limits that administrators set, and change their own freely. */
export function refuseBeyond(before: KeyRecord, after: KeyRecord): void {
  const field = settingBeyondBounds(before.bounds, after);
  if (field === undefined) return;
  throw new GatewayError(
    "insufficient_permissions",
    `An administrator set \`${field}\` of this key: you may tighten it, not loosen it.`,
    { param: field },
  );
}

/**
 * Requires administrator rights to change the response cache, which sets the price of a repeated answer. Owners may keep the cache or
 * switch it off.
 */
export function permitCache(
  actor: Actor,
  place: Parameters<typeof permit>[2],
  { before, after }: Readonly<Record<"before" | "after", KeyRecord["responseCache"]>>,
): void {
  if (after !== null && !isDeepStrictEqual(before, after))
    permit(actor, "key.loosen_limits", place, keyKind.label);
}
