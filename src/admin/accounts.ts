/** Password sign-in and password change. docs/management.md. */
import { GatewayError, invalidValue } from "../base/errors.ts";
import {
  changeMany,
  findLogins,
  getUser,
  hashFor,
  loginOf,
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
import { noteAccepted, type ThrottledContext } from "./invitation-acceptance.ts";
import { knownBrowser, type KnownBrowserContext } from "./known-browser.ts";
import type { WithinChange } from "./objects.ts";
import { otherUserWith, sharedPassword } from "./same-password.ts";
import { checkWithinLimit, isOverloaded } from "./throttle.ts";

interface SignIn {
  readonly email: string;
  readonly password: string;
  /** The client address; undefined if attempts are not limited by address. */
  readonly address: string | undefined;
  /** The request's cookies, which may identify a known browser. */
  readonly cookie?: string | undefined;
  readonly requestId: string;
}

/** The user of a new session or of an open one. */
export interface SignedIn {
  readonly userId: string;
  /** Set for an open session. */
  readonly sessionId?: string | undefined;
  /** Another user set the password: this session may only change it. */
  readonly passwordChangeRequired: boolean;
}

/** The user whom a password opens, and its stored hash. */
export interface PasswordOwner {
  readonly userId: string;
  readonly hash: string;
}

/**
 * Signs in with a password. A password that the user chose also accepts the user's open invitations. Users who share an address and
 * a password are one person: the one who has already joined accepts the invitations of the others.
 * @throws GatewayError 401 `invalid_credential`, with the same text and timing for an unknown address; 429 `too_many_attempts`
 */
export async function signIn(
  context: ThrottledContext & KnownBrowserContext,
  { email, password, address, cookie, requestId }: SignIn,
): Promise<SignedIn & PasswordOwner> {
  const browser = () => knownBrowser(context, { cookie, email });
  const admission = await context.throttle.begin({
    kind: "account",
    subject: email,
    address,
    browser,
  });
  const { onlyUser } = admission;
  const logins = await checkWithinLimit(context.throttle, admission, () =>
    findLogins(context, { email, password, onlyUser }).catch(async (error: unknown) => {
      // Strangers may use up all password checks. A known browser has its own, for its own user.
      const known = isOverloaded(error) ? await browser() : undefined;
      if (known === undefined) throw error;
      return findLogins(context, { email, password, onlyUser: known.userId, turn: "known" });
    }),
  );
  for (const login of logins) {
    if (login.oneTime && !(await useOneTimePassword(context, login))) continue;
    await context.throttle.uncount(admission);
    if (login.oneTime)
      return { userId: login.userId, hash: login.hash, passwordChangeRequired: true };
    const own = logins.filter(({ oneTime }) => !oneTime);
    const { userId, hash } = loginOf(own) ?? login;
    await acceptInvitationsOfLogins(context, own, { userId, email, requestId });
    return { userId, hash, passwordChangeRequired: false };
  }
  throw new GatewayError(
    "invalid_credential",
    "The e-mail address and the password do not belong together. A one-time password works once.",
  );
}

/** Accepts the open invitations of all users with this password, as user `by.userId`. */
async function acceptInvitationsOfLogins(
  context: ThrottledContext,
  logins: readonly Login[],
  by: { readonly userId: string; readonly email: string; readonly requestId: string },
): Promise<void> {
  const userIds = logins.filter(({ invited }) => invited).map(({ userId }) => userId);
  if (userIds.length === 0) return;
  await changeMany(context.database, async (database) => {
    const within = { ...context, database };
    const open = await openInvitationsFor(within, { userIds, joiner: by.userId });
    await acceptInvitations(within, { open, ...by });
  });
}

interface PasswordChange {
  readonly userId: string;
  readonly currentPassword: string;
  readonly newPassword: string;
  /** Keeps personal tokens; otherwise they are revoked. */
  readonly keepTokens: boolean;
  readonly requestId: string;
}

/**
 * Changes a user's password. All sessions of the user end, and so do the personal tokens unless `keepTokens` is set. Open
 * invitations are accepted, because the user has proved the password of the invitation. If another user of the address has joined
 * with the new password, that user accepts them.
 * @returns the user whom the new password opens, and its hash
 * @throws GatewayError `invalid_value` (naming the password), `conflict` without a password, `too_many_attempts`
 */
export async function changePassword(
  context: ThrottledContext,
  change: PasswordChange,
): Promise<PasswordOwner> {
  const { userId, newPassword, requestId } = change;
  const { email } = await getUser(context, userId);
  const stored = await checkCurrentPassword(context, change);
  const hash = await hashFor(context, email, newPassword);
  const other = await otherUserWith(context, { userId, email, hash });
  return changeMany(context.database, async (database) => {
    const within = { ...context, database };
    // Same lock order as accepting an invitation.
    const open = await openInvitationsOf(within, { userId });
    await database.query("select 1 from users where id = $1 for update", [userId]);
    // When two changes race, only one still finds the password that it verified.
    if ((await storedPassword(within, userId)) !== stored) {
      throw new GatewayError(
        "conflict",
        "The password has just been changed elsewhere. Sign in again with the new one.",
      );
    }
    if (other === undefined) await storeChosen(within, { ...change, email, hash });
    else if (open.length === 0) throw sharedPassword("newPassword");
    const accepting = other ?? userId;
    await acceptInvitations(within, { open, userId: accepting, email, requestId });
    return { userId: accepting, hash };
  });
}

/** Returns the stored password, which is the one that the change names. @throws GatewayError */
async function checkCurrentPassword(
  context: ThrottledContext,
  { userId, currentPassword, newPassword }: PasswordChange,
): Promise<string> {
  // Signed-in users have their own count: guesses by strangers do not block a password change.
  const admission = await context.throttle.begin({ kind: "session", subject: userId });
  const stored = await storedPassword(context, userId);
  if (stored === undefined) {
    throw new GatewayError("conflict", "Your account has no password, so there is none to change.");
  }
  const isRight = await checkWithinLimit(context.throttle, admission, () =>
    verifyPassword(currentPassword, stored),
  );
  if (!isRight) throw invalidValue("currentPassword", "is not your password");
  await context.throttle.uncount(admission);
  if (newPassword === currentPassword) {
    throw invalidValue("newPassword", "must differ from the current password");
  }
  return stored;
}

interface ChosenPassword extends PasswordChange {
  readonly email: string;
  readonly hash: string;
}

/** Stores the new password, and ends what the old one opened. */
async function storeChosen(
  context: WithinChange,
  { userId, email, hash, keepTokens, requestId }: ChosenPassword,
): Promise<void> {
  await setPassword(context, userId, { hash, oneTime: false });
  const revoked = keepTokens ? [] : await revokeTokens(context, userId);
  await writeAudit(context, {
    actor: { kind: "session", userId, name: email },
    action: "password.change",
    object: { type: "user", id: userId },
    place: { ownerId: userId },
    before: null,
    after: { revoked_tokens: revoked },
    requestId,
  });
}

interface Accepting {
  readonly open: readonly Member[];
  /** The user who accepts. */
  readonly userId: string;
  readonly email: string;
  readonly requestId: string;
}

/** Accepts open invitations as one user, whether they are for this user or for another user of the same person. */
async function acceptInvitations(
  context: WithinChange,
  { open, userId, ...by }: Accepting,
): Promise<void> {
  for (const invited of open) {
    const member =
      invited.userId === userId
        ? await useInvitation(context, invited)
        : await useInvitationAs(context, invited, userId);
    await noteAccepted(context, { invited, member, ...by });
  }
}
