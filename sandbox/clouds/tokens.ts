/** The tokens that a simulated cloud has given: good for a while, unless they are taken back. */
import { randomBytes } from "node:crypto";

export interface Tokens {
  /** How long the next ones are good, seconds. */
  lifeSeconds: number;
  /** How many were given. */
  readonly given: number;
  give(): { readonly token: string; readonly expiresMs: number };
  /** What is wrong with a token; undefined where nothing is. */
  faultOf(token: string): "unknown" | "expired" | undefined;
  /** Takes back all that were given. */
  revoke(): void;
}

/** Tokens that begin with `name`. */
export function createTokens(name: string): Tokens {
  const known = new Map<string, number>();
  let given = 0;
  return {
    lifeSeconds: 3600,
    get given() {
      return given;
    },
    give() {
      given += 1;
      const token = `${name}-${randomBytes(24).toString("base64url")}`;
      const expiresMs = Date.now() + this.lifeSeconds * 1000;
      known.set(token, expiresMs);
      return { token, expiresMs };
    },
    faultOf(token) {
      const expiresMs = known.get(token);
      if (expiresMs === undefined) return "unknown";
      return Date.now() < expiresMs ? undefined : "expired";
    },
    revoke: () => known.clear(),
  };
}
