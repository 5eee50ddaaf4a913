/** Ends a membership or an open invitation, to remove a member or to erase a person. T70. */
import { changeObject, memberKind } from "../../admin/index.ts";
import {
  getMember,
  keepForRestore,
  removeMember,
  type Member,
  type MemberReference,
} from "../../tenancy/index.ts";
import { auditRevoked, removeInvited } from "./invitations.ts";
import { disableMemberKeys } from "./member-keys.ts";
import type { AdminRequest } from "./route.ts";

type Asking = Pick<AdminRequest<unknown, unknown>, "services" | "actor" | "requestId" | "ifMatch">;

/** Disables the member's keys, and removes the member. @throws GatewayError as `changeObject` */
export async function endMembership(
  request: Asking,
  reference: MemberReference,
): Promise<{ readonly member: Member; readonly disabledKeys: readonly string[] }> {
  let disabledKeys: string[] = [];
  const member = await changeObject(request.services, memberKind, request, {
    action: "member.delete",
    removes: true,
    load: (context) => getMember(context, reference, { forUpdate: true }),
    async apply(context, before) {
      if (before.status === "invited") {
        await auditRevoked(context, request, before);
        return removeInvited(context, before);
      }
      disabledKeys = await disableMemberKeys(context, request, before);
      await keepForRestore(context, before, disabledKeys);
      return removeMember(context, before);
    },
  });
  return { member, disabledKeys };
}
