/** Renders members for the management API: with their user, and their spend in the workspace. */
import { Type } from "../../base/json-schema.ts";
import { memberKind, readSpends } from "../../admin/index.ts";
import { renderSpend, usersOf, type Member } from "../../tenancy/index.ts";
import { orNull, timestamp } from "../shapes/schema.ts";
import type { AdminServices } from "../services.ts";
import { words } from "./schemas.ts";
import { spendFields, stamps } from "./shapes.ts";

export const memberSchema = {
  name: "Member",
  schema: Type.Object({
    object: Type.Literal("member"),
    workspace_id: Type.String(),
    user_id: Type.String(),
    email: Type.String(),
    name: Type.String(),
    role: words("admin", "member"),
    status: words("invited", "active"),
    invitation: orNull(
      Type.Object(
        { id: Type.String(), expires_at: timestamp("When it can no longer be accepted.") },
        { description: "Only of an invited member." },
      ),
    ),
    ...spendFields,
    ...stamps,
  }),
};

/** Renders members. Reads all their users and spends at once. */
export async function renderMembers(
  services: AdminServices,
  members: readonly Member[],
): Promise<object[]> {
  const ids = members.map(({ userId }) => userId);
  const places = members.map(({ workspaceId, userId }) => ({ workspaceId, id: userId }));
  const [users, spends] = await Promise.all([
    usersOf(services, ids),
    readSpends(services.database, "member", places),
  ]);
  return members.flatMap((member, at) => {
    const user = users.get(member.userId);
    // A user who was erased meanwhile is no member any more.
    if (user === undefined) return [];
    return {
      object: "member",
      ...user,
      ...memberKind.view(member),
      ...renderSpend(member.spendCaps, spends[at]!),
      created_at: member.createdAt.toISOString(),
      updated_at: member.updatedAt.toISOString(),
    };
  });
}
