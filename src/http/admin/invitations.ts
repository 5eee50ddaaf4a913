/** Open invitations over the management API: revoking one, and their audit entries. */
import { Type } from "../../base/json-schema.ts";
import {
  changeObject,
  memberKind,
  writeAudit,
  type RequestContext,
  type ObjectKind,
  type WithinChange,
} from "../../admin/index.ts";
import { getInvited, removeMember, removeUser, type Member } from "../../tenancy/index.ts";
import { route } from "./route.ts";

/** Writes the audit entry of a new invitation. */
export const auditInvited = (
  context: WithinChange,
  asked: RequestContext,
  member: Member,
): Promise<void> => auditInvitation(context, asked, member, "invitation.create");

/** Writes the audit entry of an invitation that was revoked or replaced. */
export const auditRevoked = (
  context: WithinChange,
  asked: RequestContext,
  member: Member,
): Promise<void> => auditInvitation(context, asked, member, "invitation.revoke");

function auditInvitation(
  context: WithinChange,
  { actor, requestId }: RequestContext,
  member: Member,
  action: "invitation.create" | "invitation.revoke",
): Promise<void> {
  const view = memberKind.view(member);
  const made = action === "invitation.create";
  return writeAudit(context, {
    actor,
    requestId,
    action,
    object: { type: "invitation", id: member.invitation!.id },
    place: memberKind.place(member),
    before: made ? null : view,
    after: made ? view : null,
  });
}

/** Removes an invited member, with the user that was created for the invitation. */
export async function removeInvited(context: WithinChange, member: Member): Promise<Member> {
  const removed = await removeMember(context, member);
  await removeUser(context, member.userId);
  return removed;
}

const invitationKind: ObjectKind<Member> = {
  ...memberKind,
  type: "invitation",
  label: "invitation",
  id: (member) => member.invitation!.id,
};

const revoke = route({
  method: "DELETE",
  path: "/workspaces/{id}/invitations/{invitation_id}",
  operationId: "revokeInvitation",
  summary: "Revoke an open invitation",
  description:
    "Its link and its one-time password stop working, and the invited member is removed.",
  action: "invitation.revoke",
  answer: {
    name: "InvitationRevoked",
    schema: Type.Object({
      object: Type.Literal("invitation"),
      id: Type.String(),
      deleted: Type.Literal(true),
    }),
  },
  errors: ["not_found", "insufficient_permissions"],
  async handle(request) {
    const { services, params } = request;
    const id = params["invitation_id"]!;
    await changeObject(services, invitationKind, request, {
      action: "invitation.revoke",
      removes: true,
      load: (context) => getInvited(context, { workspaceId: params["id"]!, id }),
      apply: removeInvited,
    });
    return { body: { object: "invitation", id, deleted: true } };
  },
});

export const invitationRoutes = [revoke];
