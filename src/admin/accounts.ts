/** Signing in with a password, and changing it. docs/management.md. */
import { GatewayError, invalidValue } from "../base/errors.ts";
import {
  changeTogether,
  findLogins,
  getUser,
  hashFor,
  openInvitationsFor,
  openInvitationsOf,
  revokeTokens,
  setPassword,
  storedPassword,
  useInvitation,
  useInvitationAs,
  useOneTimePassword,
  verifyPassword,
  type Login,
  type Member,
} from "../tenancy/index.ts";
import { writeAudit } from "./audit.ts";
import { noteAccepted, type ThrottledContext } from "./joining.ts";
import { knownBrowser, type KnownBrowserContext } from "./known-browser.ts";
import type { WithinChange } from "./objects.ts";
import { inItsTurn, isOverloaded } from "./throttle.ts";

interface SignIn {
  readonly email: string;
  readonly password: string;
  /** Where the request came from; undefined where that is not limited. */
  readonly address: string | undefined;
  /** The cookies of the request: the browser may be known. */
  readonly cookie?: string | undefined;
  readonly requestId: string;
}

/** Whose session to open, or whose is open. */
export interface SignedIn {
  readonly userId: string;
  /** Of one that is open. */
  readonly sessionId?: string | undefined;
  /** Somebody else set the password: the session may only change it. */
  readonly passwordChangeRequired: boolean;
}

/**
 * With a password that is theirs, somebody who is still invited accepts: whoever was given it is here. Where it is that of several
 * users, these are one person, and their invitations become those of the one who has joined before.
 * @throws GatewayError 401 `invalid_credential`, in the same words and time for an unknown address; 429 `too_many_attempts`
 */
export async function signIn(
  context: ThrottledContext & KnownBrowserContext,
  { email, password, address, cookie, requestId }: SignIn,
): Promise<SignedIn> {
  const browser = () => knownBrowser(context, { cookie, email });
  const admission = await context.throttle.begin({
    door: "account",
    whose: email,
    address,
    browser,
  });
  const { onlyUser } = admission;
  const logins = await inItsTurn(context.throttle, admission, () =>
    findLogins(context, { email, password, onlyUser }).catch(async (error: unknown) => {
      // Strangers take all turns: a browser that is known has its own, for its own user.
      const known = isOverloaded(error) ? await browser() : undefined;
      if (known === undefined) throw error;
      return findLogins(context, { email, password, onlyUser: known.userId, turn: "known" });
    }),
  );
  for (const login of logins) {
    if (login.oneTime && !(await useOneTimePassword(context, login))) continue;
    await context.throttle.takeBack(admission);
    if (login.oneTime) return { userId: login.userId, passwordChangeRequired: true };
    const own = logins.filter(({ oneTime }) => !oneTime);
    const { userId } = own.find(({ joined }) => joined) ?? login;
    await joinAll(context, own, { userId, email, requestId });
    return { userId, passwordChangeRequired: false };
  }
  throw new GatewayError(
    "invalid_credential",
    "The e-mail address and the password do not belong together. A one-time password works once.",
  );
}

/** Accepts what the users of one password are invited to, as one of them. */
async function joinAll(
  context: ThrottledContext,
  logins: readonly Login[],
  by: { readonly userId: string; readonly email: string; readonly requestId: string },
): Promise<void> {
  const userIds = logins.filter(({ invited }) => invited).map(({ userId }) => userId);
  if (userIds.length === 0) return;
  await changeTogether(context.database, async (database) => {
    const within = { ...context, database };
    const open = await openInvitationsFor(within, { userIds, joiner: by.userId });
    await acceptAll(within, { open, ...by });
  });
}

interface PasswordChange {
  readonly userId: string;
  readonly currentPassword: string;
  readonly newPassword: string;
  /** Personal tokens go on; without it they end. */
  readonly keepTokens: boolean;
  readonly requestId: string;
}

/**
 * Gives a user another password. All their sessions end, and their personal tokens unless set otherwise. Where the old one
 * was of an invitation, the invitation is accepted: whoever was given it is here.
 * @throws GatewayError `invalid_value` (naming the password), `conflict` without a password, `too_many_attempts`
 */
export async function changePassword(
  context: ThrottledContext,
  change: PasswordChange,
): Promise<void> {
  const { userId, currentPassword, newPassword } = change;
  const { email } = await getUser(context, userId);
  // Whoever is signed in has a count of their own: strangers who guess do not keep them from another password.
  const admission = await context.throttle.begin({ door: "session", whose: userId });
  const stored = await storedPassword(context, userId);
  if (stored === undefined) {
    throw new GatewayError("conflict", "You have no password: you sign in elsewhere.");
  }
  const isRight = await inItsTurn(context.throttle, admission, () =>
    verifyPassword(currentPassword, stored),
  );
  if (!isRight) throw invalidValue("currentPassword", "is not your password");
  await context.throttle.takeBack(admission);
  if (newPassword === currentPassword) {
    throw invalidValue("newPassword", "must be another password than the current one");
  }
  const hash = await hashFor(context, email, newPassword);
  await changeTogether(context.database, async (database) => {
    const within = { ...context, database };
    // Locked in the order in which an invitation that is accepted locks.
    const open = await openInvitationsOf(within, { userId });
    await database.query("select 1 from users where id = $1 for update", [userId]);
    // Of two changes at once one finds the password it knows.
    if ((await storedPassword(within, userId)) !== stored) {
      throw new GatewayError("conflict", "The password was changed by somebody else just now.");
    }
    await setPassword(within, userId, { hash, oneTime: false });
    const revoked = change.keepTokens ? [] : await revokeTokens(within, userId);
    const actor = { kind: "session", userId, name: email } as const;
    const { requestId } = change;
    await writeAudit(within, {
      actor,
      action: "password.change",
      object: { type: "user", id: userId },
      place: { ownerId: userId },
      before: null,
      after: { revoked_tokens: revoked },
      requestId,
    });
    await acceptAll(within, { open, userId, email, requestId });
  });
}

interface Accepting {
  readonly open: readonly Member[];
  /** Who accepts. */
  readonly userId: string;
  readonly email: string;
  readonly requestId: string;
}

/** Uses open invitations up for one user, whom they are for or whose password theirs is. */
async function acceptAll(context: WithinChange, { open, userId, ...by }: Accepting): Promise<void> {
  for (const invited of open) {
    const member =
      invited.userId === userId
        ? await useInvitation(context, invited)
        : await useInvitationAs(context, invited, userId);
    await noteAccepted(context, { invited, member, ...by });
  }
}
