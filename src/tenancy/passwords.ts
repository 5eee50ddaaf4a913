/**
 * Passwords of console users: scrypt, stored as `salt:hash` in hexadecimal. The parameters, the NFKC step and the salt
 * being hashed as its hexadecimal text are those of better-auth, so that the console login can read these rows.
 */
import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { inTurns } from "../base/in-turn.ts";
import { base62OfBytes } from "./base62.ts";

const cost = { N: 16384, r: 16, p: 1, maxmem: 128 * 16384 * 16 * 2 };
const hashLength = 64;

/**
 * Strangers ask for it: two of the pool's four threads are left to calls, and who would wait for seconds is refused. Who is known
 * has one more, so that strangers who ask without end do not keep them out.
 */
const deriving = { strangers: inTurns(2, 30), known: inTurns(1, 10) };

/** Whose turn a derivation takes. */
export type PasswordTurn = keyof typeof deriving;

/** @throws GatewayError `overloaded` */
const derive = (
  password: string,
  salt: string,
  turn: PasswordTurn = "strangers",
): Promise<Buffer> =>
  deriving[turn](
    () =>
      new Promise((resolve, reject) => {
        scrypt(password.normalize("NFKC"), salt, hashLength, cost, (error, hash) =>
          error ? reject(error) : resolve(hash),
        );
      }),
  );

/** `salt:hash` of a password. Takes some 50 ms on purpose, off the main thread. */
export async function hashPassword(
  password: string,
  salt = randomBytes(16).toString("hex"),
): Promise<string> {
  return `${salt}:${(await derive(password, salt)).toString("hex")}`;
}

/** Whether the password is the one `stored` was made from. */
export async function verifyPassword(password: string, stored: string): Promise<boolean> {
  const [isThis] = await matchPasswords(password, [stored]);
  return isThis === true;
}

const noSalt = "0".repeat(32);

/**
 * Which of several stored passwords this one is. Each salt among them is derived with once, and one is where there is none:
 * passwords that share a salt take the time of one, and so does nothing at all.
 */
export async function matchPasswords(
  password: string,
  stored: readonly string[],
  turn?: PasswordTurn,
): Promise<boolean[]> {
  const saltOf = (text: string): string => text.split(":")[0]!;
  const salts = new Set(stored.length === 0 ? [noSalt] : stored.map(saltOf));
  const derived = new Map(
    await Promise.all(
      [...salts].map(async (salt) => [salt, await derive(password, salt, turn)] as const),
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
