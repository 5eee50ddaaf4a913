/** A person joins a workspace: as the user they are already, or as a new one. contract.md "Sessions and tokens". */
import type { WithinChange } from "../../admin/index.ts";
import {
  addMember,
  createUser,
  findUserByEmail,
  oneTimePassword,
  type Member,
  type MemberRole,
  type SpendCapsPatch,
} from "../../tenancy/index.ts";

interface Joining {
  readonly workspaceId: string;
  readonly email: string;
  readonly name: string | undefined;
  readonly role: MemberRole;
  readonly password: string | undefined;
  readonly spendCaps: SpendCapsPatch | null | undefined;
}

export interface Joined {
  readonly member: Member;
  readonly userCreated: boolean;
  /** Of a new user without a password of their own. */
  readonly oneTimePassword: string | undefined;
}

/**
 * Adds the member. The password of somebody who is a user already is theirs: an admin of one workspace must not set it.
 * @throws GatewayError `invalid_value`, `conflict` when already a member
 */
export async function joinWorkspace(context: WithinChange, joining: Joining): Promise<Joined> {
  const { workspaceId, role, spendCaps, email } = joining;
  const known = await findUserByEmail(context, email);
  const made =
    known === undefined && joining.password === undefined ? oneTimePassword() : undefined;
  const user =
    known ??
    (await createUser(context, {
      email,
      name: joining.name ?? email,
      role: "user",
      password: joining.password ?? made,
    }));
  const member = await addMember(context, { workspaceId, userId: user.id, role, spendCaps });
  return { member, userCreated: known === undefined, oneTimePassword: made };
}
