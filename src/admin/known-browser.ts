/**
 * Browsers in which a user has signed in before. When strangers' guesses block an account, these browsers still get in: they have
 * their own count. OWASP "Slow Down Online Guessing Attacks with Device Cookies".
 * The cookie gives no access. Its signature covers the password's hash, so a password change ends it. So a thief who knew the old
 * password has no cookies to guess the new one with.
 */
import { createHmac } from "node:crypto";
import { newId } from "../base/ids.ts";
import { isSameSecret } from "../base/same-secret.ts";
import { addressText, usersOf, storedPassword, type RowContext } from "../tenancy/index.ts";
import type { Secrets } from "../tenancy/index.ts";

export interface KnownBrowser {
  /** The id in the cookie. */
  readonly id: string;
  /** The only user whose password may be tried with this browser's count. */
  readonly userId: string;
}

export interface KnownBrowserContext extends RowContext {
  readonly secrets: Pick<Secrets, "sessionSecret">;
}

const cookieName = "tollgate.browser";
const lifeS = 90 * 24 * 60 * 60;
const inCookies = /(?:^|;\s*)tollgate\.browser=([\w-]+)\.([\w-]+)\.(\d{1,15})\.([\w-]+)(?:;|$)/;

/** Signs the text of a cookie; undefined for a user without a password. */
async function sign(
  context: KnownBrowserContext,
  { userId, text }: { readonly userId: string; readonly text: string },
): Promise<string | undefined> {
  const hash = await storedPassword(context, userId);
  if (hash === undefined) return undefined;
  return createHmac("sha256", context.secrets.sessionSecret())
    .update(`known-browser-v1\n${text}\n${hash}`)
    .digest("base64url");
}

/** The `Set-Cookie` value for a browser in which a user just signed in by password; undefined for a user without a password. */
export async function browserCookie(
  context: KnownBrowserContext,
  { userId, secure }: { readonly userId: string; readonly secure: boolean },
): Promise<string | undefined> {
  const nowMs = context.clock.now();
  const text = `${newId("browser", nowMs)}.${userId}.${Math.floor(nowMs / 1000) + lifeS}`;
  const signature = await sign(context, { userId, text });
  if (signature === undefined) return undefined;
  const flags = `Max-Age=${lifeS}; Path=/auth; HttpOnly; SameSite=Strict${secure ? "; Secure" : ""}`;
  return `${cookieName}=${text}.${signature}; ${flags}`;
}

/** Returns the known browser of these cookies, if it belongs to a user with this address. */
export async function knownBrowser(
  context: KnownBrowserContext,
  { cookie = "", email }: { readonly cookie: string | undefined; readonly email: string },
): Promise<KnownBrowser | undefined> {
  const [, id, userId, expiresS, signature] = inCookies.exec(cookie) ?? [];
  if (id === undefined || userId === undefined || signature === undefined) return undefined;
  if (Number(expiresS) * 1000 <= context.clock.now()) return undefined;
  const right = await sign(context, { userId, text: `${id}.${userId}.${expiresS}` });
  if (right === undefined || !isSameSecret(signature, right)) return undefined;
  const users = await usersOf(context, [userId]);
  return users.get(userId)?.email === addressText(email) ? { id, userId } : undefined;
}
