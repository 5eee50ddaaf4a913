/** Takes back the removal of a member, over the management API. */
import { Type } from "../../base/json-schema.ts";
import { createObject, etagOf, memberKind, placeOfWorkspace } from "../../admin/index.ts";
import { restoreMember } from "../../tenancy/index.ts";
import { auditRevoked, removeInvited } from "./invitations.ts";
import { reenableMemberKeys } from "./member-keys.ts";
import { memberSchema, renderMembers } from "./member-views.ts";
import { route } from "./route.ts";

const restore = route({
  method: "POST",
  path: "/workspaces/{id}/members/{user_id}/restore",
  operationId: "restoreMember",
  summary: "Undo the removal of a member, within ten minutes",
  description:
    "Restores the role, the caps and the limits, and enables the keys that the removal disabled. An invitation that was sent to them since is revoked.",
  action: "member.create",
  answer: {
    name: "MemberRestored",
    schema: Type.Object({
      ...memberSchema.schema.properties,
      enabled_keys: Type.Array(Type.String()),
    }),
  },
  status: 201,
  errors: ["not_found", "insufficient_permissions", "conflict"],
  async handle(request) {
    const { services, params } = request;
    const workspaceId = params["id"]!;
    const { member, enabled } = await createObject(services, memberKind, request, {
      action: "member.create",
      place: (context) => placeOfWorkspace(context, workspaceId),
      async create(context) {
        const reference = { workspaceId, userId: params["user_id"]! };
        const restored = await restoreMember(context, reference);
        const { member, disabledKeys, invited } = restored;
        if (invited) {
          await auditRevoked(context, request, invited);
          await removeInvited(context, invited);
        }
        return {
          member,
          enabled: await reenableMemberKeys(context, request, { workspaceId, ids: disabledKeys }),
        };
      },
      row: (made) => made.member,
    });
    const [shown] = await renderMembers(services, [member]);
    return {
      etag: etagOf(memberKind.view(member)),
      body: { ...shown!, enabled_keys: enabled },
    };
  },
});

export const memberRestoreRoutes = [restore];
