/** Members as the management API shows them: with the user they are, and what they have spent in the workspace. */
import { Type } from "../../base/json-schema.ts";
import { memberKind, readSpend } from "../../admin/index.ts";
import { getUser, renderSpend, type Member } from "../../tenancy/index.ts";
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
        { description: "Of an invited member." },
      ),
    ),
    ...spendFields,
    ...stamps,
  }),
};

export function renderMembers(
  services: AdminServices,
  members: readonly Member[],
): Promise<object[]> {
  return Promise.all(
    members.map(async (member) => {
      const { workspaceId, userId } = member;
      const [user, spend] = await Promise.all([
        getUser(services, userId),
        readSpend(services.database, workspaceId, { layer: "member", id: userId }),
      ]);
      return {
        object: "member",
        email: user.email,
        name: user.name,
        ...memberKind.view(member),
        ...renderSpend(member.spendCaps, spend),
        created_at: member.createdAt.toISOString(),
        updated_at: member.updatedAt.toISOString(),
      };
    }),
  );
}
