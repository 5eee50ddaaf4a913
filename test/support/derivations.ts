/**
 * Caches password derivations. One derivation takes 60 ms of a processor on purpose, and half of those in a test with many
 * sign-ins repeat a password and a salt. For tests about who may sign in; tests about the cost of a derivation do not use it.
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
 * Caches derivations while the tests of this file run. If `heldUntil` returns a promise, the derivation of that password takes no
 * processor time. It ends with the promise, with a hash of zeros. If `heldUntil` returns undefined, the derivation is real.
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
