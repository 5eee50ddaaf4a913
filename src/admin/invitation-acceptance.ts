/** Accepts invitations: the holder of the link may do so. docs/management.md. */
import { GatewayError } from "../base/errors.ts";
import {
  changeMany,
  claimUser,
  findLogins,
  hashFor,
  loginOf,
  openInvitation,
  passwordLengthMin,
  useInvitation,
  useInvitationAs,
  type ChangeContext,
  type Member,
  type OpenInvitation,
} from "../tenancy/index.ts";
import { writeAudit } from "./audit.ts";
import { memberKind } from "./kinds.ts";
import type { WithinChange } from "./objects.ts";
import { keepSession } from "./own-sessions.ts";
import { checkWithinLimit, type Throttle } from "./throttle.ts";

export interface ThrottledContext extends ChangeContext {
  readonly throttle: Throttle;
}

/** The accepting person: a signed-in user, or one who chooses a password. */
export type Accepting =
  | { readonly userId: string; readonly email: string; readonly sessionId: string | undefined }
  | { readonly password: string; readonly name: string | undefined };

interface Acceptance {
  readonly token: string;
  readonly by: Accepting;
  readonly requestId: string;
}

/** The new member; `hash`: the stored password of a user who joined with one. */
interface Accepted {
  readonly member: Member;
  readonly hash: string | undefined;
}

/**
 * Accepts an invitation, once. If the password opens an existing user with this address, that user joins. Otherwise it becomes the
 * password of the invited user. That choice counts as a failed sign-in, since it reveals whether the password exists.
 * @throws GatewayError `not_found`, `conflict` (a member already), `too_many_attempts`, `invalid_value` (a new password that is too short)
 */
export async function acceptInvitation(
  context: ThrottledContext,
  { token, by, requestId }: Acceptance,
): Promise<Accepted> {
  const open = await openInvitation(context, token);
  const joiner = await joinerOf(context, open, by);
  return changeMany(context.database, async (database) => {
    const within = { ...context, database };
    // If another user sets this user's password meanwhile, the session ends and cannot join.
    if ("userId" in by) await keepSession(within, by.sessionId);
    const { member: invited } = open;
    const isTheirs = joiner.userId === undefined || joiner.userId === invited.userId;
    const member = isTheirs
      ? await useInvitation(within, invited)
      : await useInvitationAs(within, invited, joiner.userId);
    if (joiner.userId === undefined) await claimUser(within, member.userId, joiner);
    await noteAccepted(within, { invited, member, email: joiner.email, requestId });
    return { member, hash: joiner.hash };
  });
}

type Joiner =
  | { readonly userId: string; readonly email: string; readonly hash?: string }
  | {
      readonly userId: undefined;
      readonly email: string;
      readonly name: string | undefined;
      readonly hash: string;
    };

async function joinerOf(
  context: ThrottledContext,
  { email }: OpenInvitation,
  by: Accepting,
): Promise<Joiner> {
  if ("userId" in by) return { userId: by.userId, email: by.email };
  const { password, name } = by;
  // The link's holder has a count separate from strangers' guesses. No address limit applies: many people of one office may join at
  // once.
  const admission = await context.throttle.begin({ kind: "invited", subject: email });
  const logins = await checkWithinLimit(context.throttle, admission, () =>
    findLogins(context, { email, password }),
  );
  // As at a sign-in: of several users with this password, the one who has joined.
  const known = loginOf(logins);
  if (known !== undefined) {
    await context.throttle.uncount(admission);
    return { userId: known.userId, email, hash: known.hash };
  }
  // A known one may be shorter: an operator may have set it.
  if (password.length < passwordLengthMin)
    throw new GatewayError(
      "invalid_value",
      `\`password\` is neither that of an account with this address, nor has it the ${passwordLengthMin} characters of a new one.`,
      { param: "password" },
    );
  return { userId: undefined, email, name, hash: await hashFor(context, email, password) };
}

/** Writes the audit entry of an accepted invitation. */
export function noteAccepted(
  context: WithinChange,
  done: {
    readonly invited: Member;
    readonly member: Member;
    readonly email: string;
    readonly requestId: string;
  },
): Promise<void> {
  const { invited, member, email, requestId } = done;
  return writeAudit(context, {
    actor: { kind: "session", userId: member.userId, name: email },
    action: "invitation.accept",
    object: { type: "invitation", id: invited.invitation!.id },
    place: memberKind.place(member),
    before: memberKind.view(invited),
    after: memberKind.view(member),
    requestId,
  });
}
