/**
 * What a password derives to, remembered: one derivation takes 60 ms of a processor on purpose, and half of those of a test that
 * signs in again and again are of a password and a salt that were derived before. For tests that are about who is let in; those
 * about what a derivation costs do without.
 */
import crypto, { type BinaryLike, type ScryptOptions } from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import { afterAll, beforeAll } from "vitest";

type Done = (error: Error | null, hash: Buffer) => void;

const known = new Map<string, Buffer>();

async function endAfter(held: Promise<void>, end: () => void): Promise<void> {
  await held;
  end();
}

/**
 * Remembers them while the tests of this file run. `heldUntil`: when the derivation of a password of nobody ends, which takes its turn
 * until then and nothing of a processor; undefined for the true ones.
 */
export function rememberDerivations(
  heldUntil: (password: string) => Promise<void> | undefined = () => undefined,
): void {
  const { scrypt } = crypto;
  const remembering = (
    password: BinaryLike,
    salt: BinaryLike,
    ...[length, options, done]: [length: number, options: ScryptOptions, done: Done]
  ): void => {
    const held = typeof password === "string" ? heldUntil(password) : undefined;
    if (held !== undefined) return void endAfter(held, () => done(null, Buffer.alloc(length)));
    const asked = JSON.stringify([password, salt, length, options]);
    const hash = known.get(asked);
    if (hash !== undefined) return void setImmediate(done, null, Buffer.from(hash));
    scrypt(password, salt, length, options, (error, derived) => {
      if (error === null) known.set(asked, Buffer.from(derived));
      done(error, derived);
    });
  };
  const put = (one: typeof scrypt): void => {
    crypto.scrypt = one;
    syncBuiltinESMExports();
  };
  beforeAll(() => put(remembering as typeof scrypt));
  afterAll(() => put(scrypt));
}
