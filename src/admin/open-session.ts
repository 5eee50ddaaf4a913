/**
 * A better-auth plugin that opens a session for a user we have authenticated. The library stores the session and sets its cookie.
 * The call has no path, so requests cannot reach it.
 */
import { createAuthEndpoint } from "better-auth/api";
import { setSessionCookie } from "better-auth/cookies";

export interface SessionOpening {
  readonly userId: string;
  /** The session may only change the password. */
  readonly passwordChangeRequired: boolean;
  /** False: the session lasts until the browser closes. */
  readonly remember: boolean;
}

/** The plugin; `body` of its call is a {@link SessionOpening}. */
export const sessionOpener = {
  id: "open-session",
  endpoints: {
    openSession: createAuthEndpoint(
      { method: "POST", metadata: { SERVER_ONLY: true } },
      async (endpoint) => {
        const opening = endpoint.body as unknown as SessionOpening;
        const { internalAdapter } = endpoint.context;
        const user = await internalAdapter.findUserById(opening.userId);
        if (!user) throw new Error("a session for a user who is not there");
        const session = await internalAdapter.createSession(user.id, !opening.remember, {
          passwordChangeRequired: opening.passwordChangeRequired,
        });
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
};
