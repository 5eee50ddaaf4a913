/**
 * Passwords that a person chooses for several of their users. A sign-in with an address and a password opens one user, so no two users
 * who have joined may share a password. docs/management.md "How people join".
 */
import { GatewayError, invalidValue } from "../base/errors.ts";
import { joinedUserWith } from "../tenancy/index.ts";
import type { ThrottledContext } from "./invitation-acceptance.ts";

/**
 * Returns another user with this address who has joined with the same password. The result reveals whether the password exists, so it
 * counts like a guess at an invitation; beyond that limit it is undefined, and the password may be chosen.
 */
export async function otherUserWith(
  context: ThrottledContext,
  chosen: { readonly userId: string; readonly email: string; readonly hash: string },
): Promise<string | undefined> {
  try {
    await context.throttle.begin({ kind: "invited", subject: chosen.email });
  } catch (error) {
    if (error instanceof GatewayError && error.code === "too_many_attempts") return undefined;
    throw error;
  }
  return joinedUserWith(context, chosen);
}

/** The error for a password with which sign-ins could not tell two users apart. `param` is the field that has it. */
export const sharedPassword = (param: string): GatewayError =>
  invalidValue(
    param,
    "is the password of another account with your e-mail address; choose another one",
  );
