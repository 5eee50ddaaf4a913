/**
 * Passwords of console users: scrypt, stored as `salt:hash` in hexadecimal. The parameters, the NFKC step and hashing the salt as
 * hexadecimal text match better-auth, so that the console login can read these rows.
 */
import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { limitConcurrency } from "../base/concurrency-limit.ts";
import { base62OfBytes } from "./base62.ts";

/** Characters of a password that a person chooses. */
export const passwordLengthMin = 10;
export const passwordLengthMax = 128;

const cost = { N: 16384, r: 16, p: 1, maxmem: 128 * 16384 * 16 * 2 };
const hashLength = 64;

/**
 * Unknown clients can trigger derivations. So two of the thread pool's four threads stay free for calls, and a request that would
 * wait for seconds is refused. Known users have one more slot, so that a flood of unknown clients does not lock them out.
 */
const deriving = { strangers: limitConcurrency(2, 30), known: limitConcurrency(1, 10) };

/** The queue that a derivation waits in. */
export type PasswordQueue = keyof typeof deriving;

/** @throws GatewayError `overloaded` */
const derive = (
  password: string,
  salt: string,
  queue: PasswordQueue = "strangers",
): Promise<Buffer> =>
  deriving[queue](
    () =>
      new Promise((resolve, reject) => {
        scrypt(password.normalize("NFKC"), salt, hashLength, cost, (error, hash) =>
          error ? reject(error) : resolve(hash),
        );
      }),
  );

/** Returns `salt:hash` of a password. Takes some 50 ms on purpose, off the main thread. */
export async function hashPassword(
  password: string,
  salt = randomBytes(16).toString("hex"),
): Promise<string> {
  return `${salt}:${(await derive(password, salt)).toString("hex")}`;
}

/** True if `stored` was made from this password. */
export async function verifyPassword(password: string, stored: string): Promise<boolean> {
  const [isThis] = await matchPasswords(password, [stored]);
  return isThis === true;
}

const noSalt = "0".repeat(32);

/**
 * Tells for each stored password whether it matches. Derives once per distinct salt, and once with a dummy salt if the list is empty.
 * So passwords that share a salt take the time of one, and so does an empty list.
 */
export async function matchPasswords(
  password: string,
  stored: readonly string[],
  queue?: PasswordQueue,
): Promise<boolean[]> {
  const saltOf = (text: string): string => text.split(":")[0]!;
  const salts = new Set(stored.length === 0 ? [noSalt] : stored.map(saltOf));
  const derived = new Map(
    await Promise.all(
      [...salts].map(async (salt) => [salt, await derive(password, salt, queue)] as const),
    ),
  );
  return stored.map((text) => {
    const expected = Buffer.from(text.split(":")[1] ?? "", "hex");
    return expected.length === hashLength && timingSafeEqual(expected, derived.get(saltOf(text))!);
  });
}

/** A password to print once: 128 random bits in 22 characters. */
export function oneTimePassword(): string {
  return base62OfBytes(randomBytes(16), 22);
}
