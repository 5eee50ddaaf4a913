/**
 * A better-auth plugin that opens a session for a user we have authenticated. The library stores the session and sets its cookie.
 * The call has no path, so requests cannot reach it.
 */
import { createAuthEndpoint } from "better-auth/api";
import { setSessionCookie } from "better-auth/cookies";
import { GatewayError } from "../base/errors.ts";
import type { Queryable } from "../storage/index.ts";
import { keepsPassword } from "../tenancy/index.ts";

export interface SessionOpening {
  readonly userId: string;
  /** The stored hash of the password that was checked; absent if none was. */
  readonly hash?: string | undefined;
  /** The session may only change the password. */
  readonly passwordChangeRequired: boolean;
  /** False: the session lasts until the browser closes. */
  readonly remember: boolean;
}

/**
 * Returns the plugin; `body` of its call is a {@link SessionOpening}. If the password was changed after it was checked, the call ends its
 * session again: the change has ended only the sessions that it found.
 * @throws GatewayError `invalid_credential`
 */
export const sessionOpener = (database: Queryable) => ({
  id: "open-session",
  endpoints: {
    openSession: createAuthEndpoint(
      { method: "POST", metadata: { SERVER_ONLY: true } },
      async (endpoint) => {
        const opening = endpoint.body as unknown as SessionOpening;
        const { userId, hash } = opening;
        const { internalAdapter } = endpoint.context;
        const user = await internalAdapter.findUserById(userId);
        if (!user) throw new Error("a session for a user who is not there");
        const session = await internalAdapter.createSession(user.id, !opening.remember, {
          passwordChangeRequired: opening.passwordChangeRequired,
        });
        if (hash !== undefined && !(await keepsPassword({ database }, { userId, hash }))) {
          await internalAdapter.deleteSession(session.token);
          throw passwordChanged();
        }
        await setSessionCookie(endpoint, { session, user }, !opening.remember);
        const { id, email, name } = user;
        return endpoint.json({
          redirect: false,
          token: session.token,
          user: { id, email, name },
          password_change_required: opening.passwordChangeRequired,
        });
      },
    ),
  },
});

const passwordChanged = (): GatewayError =>
  new GatewayError(
    "invalid_credential",
    "The password has just been changed elsewhere. Sign in again with the new one.",
  );
