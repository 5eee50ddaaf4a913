/** Resolves a management API credential, the admin token or a personal token, to an actor. docs/management.md. */
import type { Clock } from "../base/clock.ts";
import { GatewayError } from "../base/errors.ts";
import { isSameSecret } from "../base/same-secret.ts";
import { readOnce, type Database } from "../storage/index.ts";
import type { Secrets } from "../tenancy/index.ts";
import { adminTokenActor, loadActor, type Actor } from "./actor.ts";
import type { SignedIn } from "./accounts.ts";
import { ownerOfToken } from "./tokens.ts";

export interface ActorsOptions {
  readonly database: Database;
  readonly secrets: Secrets;
  readonly clock: Clock;
  readonly adminTokens: readonly string[];
}

export interface Actors {
  /** @throws GatewayError 401 `invalid_credential`; 503 `database_unavailable` */
  ofBearer(bearer: string): Promise<Actor>;
  /** The user of a valid session. @throws GatewayError as above; 403 `password_change_required` */
  ofSession(session: SignedIn): Promise<Actor>;
}

const unknown = (): GatewayError =>
  new GatewayError(
    "invalid_credential",
    "The token is not valid here. The management API takes the admin token or a personal token; API keys do not open it.",
  );

/** Resolves actors from the database. Nothing is cached: management calls are rare, and a revoked role must end at once. */
export function createActors(options: ActorsOptions): Actors {
  const { database, adminTokens } = options;
  async function ofUser(userId: string | undefined, kind: "token" | "session"): Promise<Actor> {
    const actor = userId === undefined ? undefined : await loadActor(database, userId, kind);
    if (actor === undefined) throw unknown();
    return actor;
  }
  return {
    ofBearer: (bearer) =>
      adminTokens.some((token) => isSameSecret(bearer, token))
        ? Promise.resolve(adminTokenActor)
        : guarded(async () => ofUser(await ownerOfToken(options, bearer), "token")),
    async ofSession({ userId, sessionId, passwordChangeRequired }) {
      if (passwordChangeRequired) {
        throw new GatewayError(
          "password_change_required",
          "Somebody else set your password. Change it with POST /auth/change-password first.",
        );
      }
      return guarded(async () => ({ ...(await ofUser(userId, "session")), sessionId }));
    },
  };
}

const guarded = (load: () => Promise<Actor>): Promise<Actor> =>
  readOnce("Credentials cannot be checked now: the database does not answer.", load);
