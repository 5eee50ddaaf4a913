/**
 * What the identity provider says of somebody, and how much of it is believed: an ID token that is verified, and a profile of the
 * very person that the token names. OpenID Connect Core 3.1.3.7 and 5.3.2; docs/management.md.
 */
import type { Log } from "../base/log.ts";
import { parseJsonObject, type WireObject } from "../base/json.ts";

/** What somebody is called, in the token or at the userinfo endpoint. */
export interface Profile {
  readonly sub?: unknown;
  readonly email?: unknown;
  readonly email_verified?: unknown;
}

/** What the provider gave for the code of a sign-in. */
interface Granted {
  readonly idToken?: string | undefined;
}

/** The part of the library's provider that tells who somebody is; it verifies an ID token where there is one. */
export interface ToldProvider {
  readonly id: string;
  getUserInfo(granted: Granted): Promise<{ readonly data: Profile } | null>;
}

interface Checking {
  /** Who we are at the provider. */
  readonly clientId: string;
  readonly log: Pick<Log, "warn">;
  /** Hears of a profile that is believed, before the library looks for its account. */
  readonly meet: (profile: Profile) => Promise<void>;
}

/** What a token says that was verified before. */
function claimsOf(idToken: string): WireObject {
  try {
    return parseJsonObject(Buffer.from(idToken.split(".")[1] ?? "", "base64url"));
  } catch {
    return {};
  }
}

/** What is wrong with a verified token that the library lets pass: one without an end is good for ever, and `azp` is who asked for it. */
function faultOf({ exp, azp }: WireObject, clientId: string): string | undefined {
  if (typeof exp !== "number") return "gave an ID token without an end";
  if (azp !== undefined && azp !== clientId)
    return "gave an ID token that was made for another client";
  return undefined;
}

async function believed(
  provider: ToldProvider,
  granted: Granted,
  { clientId, log, meet }: Checking,
): ReturnType<ToldProvider["getUserInfo"]> {
  const { idToken } = granted;
  const refuse = (why: string): null => {
    log.warn({}, `sign-in: the identity provider ${why}`);
    return null;
  };
  if (idToken === undefined) return refuse("gave no ID token");
  const told = await provider.getUserInfo(granted);
  if (told === null) return null;
  const claims = claimsOf(idToken);
  const fault = faultOf(claims, clientId);
  if (fault !== undefined) return refuse(fault);
  if (told.data.sub !== claims["sub"])
    return refuse("told of another person than its ID token names");
  await meet(told.data);
  return told;
}

/** The library's provider, with these checks. */
export const checkedProvider = <Provider extends ToldProvider>(
  provider: Provider,
  checking: Checking,
): Provider => ({
  ...provider,
  getUserInfo: (granted: Granted) => believed(provider, granted, checking),
});
