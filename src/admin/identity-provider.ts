/**
 * Decides which claims of the identity provider are trusted: a verified ID token, and a profile with the same subject as that
 * token. OpenID Connect Core 3.1.3.7 and 5.3.2; docs/management.md.
 */
import type { Log } from "../base/log.ts";
import { parseJsonObject, type WireObject } from "../base/json.ts";

/** A user's claims, from the token or the userinfo endpoint. */
export interface Profile {
  readonly sub?: unknown;
  readonly email?: unknown;
  readonly email_verified?: unknown;
}

/** Tokens that the provider returned for the code of a sign-in. */
interface TokenResponse {
  readonly idToken?: string | undefined;
}

/** The part of the library's provider that returns the user's claims; it verifies an ID token if there is one. */
export interface UserInfoProvider {
  readonly id: string;
  getUserInfo(tokens: TokenResponse): Promise<{ readonly data: Profile } | null>;
}

interface Checking {
  /** The gateway's client id at the provider. */
  readonly clientId: string;
  readonly log: Pick<Log, "warn">;
  /** Receives each trusted profile before the library looks for its account. */
  readonly linkUser: (profile: Profile) => Promise<void>;
}

/** The claims of a token that is already verified. */
function claimsOf(idToken: string): WireObject {
  try {
    return parseJsonObject(Buffer.from(idToken.split(".")[1] ?? "", "base64url"));
  } catch {
    return {};
  }
}

/**
 * Returns the fault of a verified token that the library accepts. A token without `exp` never expires; `azp` is the client that
 * requested it.
 */
function faultOf({ exp, azp }: WireObject, clientId: string): string | undefined {
  if (typeof exp !== "number") return "gave an ID token without an end";
  if (azp !== undefined && azp !== clientId)
    return "gave an ID token that was made for another client";
  return undefined;
}

async function checkedUserInfo(
  provider: UserInfoProvider,
  tokens: TokenResponse,
  { clientId, log, linkUser }: Checking,
): ReturnType<UserInfoProvider["getUserInfo"]> {
  const { idToken } = tokens;
  const refuse = (why: string): null => {
    log.warn({}, `sign-in: the identity provider ${why}`);
    return null;
  };
  if (idToken === undefined) return refuse("gave no ID token");
  const userInfo = await provider.getUserInfo(tokens);
  if (userInfo === null) return null;
  const claims = claimsOf(idToken);
  const fault = faultOf(claims, clientId);
  if (fault !== undefined) return refuse(fault);
  if (userInfo.data.sub !== claims["sub"])
    return refuse("told of another person than its ID token names");
  await linkUser(userInfo.data);
  return userInfo;
}

/** Wraps the library's provider with these checks. */
export const checkedProvider = <Provider extends UserInfoProvider>(
  provider: Provider,
  checking: Checking,
): Provider => ({
  ...provider,
  getUserInfo: (tokens: TokenResponse) => checkedUserInfo(provider, tokens, checking),
});
