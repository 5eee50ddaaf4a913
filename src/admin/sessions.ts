/**
 * Console sessions: better-auth on our database, with its tables under our names and our migrations. contract.md
 * "Sessions and tokens". Loaded at the first use: a gateway that nobody signs in to need not hold it in memory.
 */
import type { betterAuth, BetterAuthOptions } from "better-auth";
import type { Log } from "../base/log.ts";
import { newId } from "../base/ids.ts";
import type { Settings } from "../catalog/index.ts";
import type { Database } from "../storage/index.ts";
import { hashPassword, verifyPassword, type Secrets } from "../tenancy/index.ts";

export interface SessionsOptions {
  readonly database: Database;
  readonly secrets: Pick<Secrets, "sessionSecret">;
  readonly oidc: Settings["console"]["oidc"];
  /** The address people use; known once the gateway listens. */
  readonly publicUrl: () => string;
  readonly log: Pick<Log, "warn">;
}

export interface Sessions {
  /** Answers a request below `/auth`. */
  handle(request: Request): Promise<Response>;
  /** The user whose session these headers carry; undefined without a good one. */
  userOf(headers: Headers): Promise<string | undefined>;
}

/** What a session's cookie is called begins with this. */
export const cookiePrefix = "tollgate";
/** The identity provider's name in paths: `/auth/callback/oidc`. */
const oidcProvider = "oidc";

const dayS = 24 * 60 * 60;
const passwordLengthMin = 10;
export const passwordLengthMax = 128;

const timestamps = { createdAt: "created_at", updatedAt: "updated_at" };

/** Their names, in our tables. */
const tables = {
  user: { modelName: "users", fields: { emailVerified: "email_verified", ...timestamps } },
  session: {
    modelName: "auth_sessions",
    fields: {
      userId: "user_id",
      expiresAt: "expires_at",
      ipAddress: "ip_address",
      userAgent: "user_agent",
      ...timestamps,
    },
    expiresIn: 7 * dayS,
    updateAge: dayS,
  },
  verification: {
    modelName: "auth_verifications",
    fields: { expiresAt: "expires_at", ...timestamps },
  },
} satisfies BetterAuthOptions;

const accountFields = {
  userId: "user_id",
  providerId: "provider_id",
  accountId: "account_id",
  accessToken: "access_token",
  refreshToken: "refresh_token",
  idToken: "id_token",
  accessTokenExpiresAt: "access_token_expires_at",
  refreshTokenExpiresAt: "refresh_token_expires_at",
  ...timestamps,
};

const idPrefixes: Readonly<Record<string, string>> = {
  user: "user",
  users: "user",
  session: "session",
  account: "account",
  verification: "verification",
};

function baseOptions(options: SessionsOptions) {
  const baseURL = options.publicUrl().replace(/\/+$/, "");
  return {
    appName: "Tollgate",
    baseURL,
    basePath: "/auth",
    secret: options.secrets.sessionSecret(),
    database: { db: options.database.kysely, type: "postgres" as const },
    ...tables,
    account: {
      modelName: "auth_accounts",
      fields: accountFields,
      // Whoever the operator's identity provider vouches for is the user of that e-mail address.
      accountLinking: {
        enabled: true,
        trustedProviders: [oidcProvider],
        requireLocalEmailVerified: false,
      },
    },
    emailAndPassword: {
      enabled: true,
      // Users are made by administrators.
      disableSignUp: true,
      minPasswordLength: passwordLengthMin,
      maxPasswordLength: passwordLengthMax,
      password: {
        hash: hashPassword,
        verify: ({ hash, password }: { hash: string; password: string }) =>
          verifyPassword(password, hash),
      },
    },
    databaseHooks: {
      account: { create: { after: (account) => takeOver(options.database, account) } },
    },
    // Ours counts accounts too, and on all nodes (throttle.ts).
    rateLimit: { enabled: false },
    telemetry: { enabled: false },
    logger: { level: "error" as const, log: logTo(options.log) },
    advanced: {
      cookiePrefix,
      useSecureCookies: baseURL.startsWith("https:"),
      // Checked for all that a cookie may do in one place (src/http/admin/same-origin.ts).
      disableCSRFCheck: true,
      database: {
        generateId: ({ model }: { model: string }) => newId(idPrefixes[model] ?? model),
      },
    },
  } satisfies BetterAuthOptions;
}

/**
 * The identity provider has vouched for a user for the first time. Until then the address was somebody's claim, and the
 * password may be known to whoever added the user: it ends, with the sessions and tokens that came of it.
 */
async function takeOver(
  database: Database,
  account: { readonly providerId: string; readonly userId: string },
): Promise<void> {
  if (account.providerId !== oidcProvider) return;
  await database.query(
    `with proven as (
       update users set email_verified = true where id = $1 and not email_verified returning id
     ), passwords as (
       delete from auth_accounts where provider_id = 'credential' and user_id in (select id from proven)
     ), sessions as (
       delete from auth_sessions where user_id in (select id from proven)
     )
     update admin_tokens set revoked_at = now() where revoked_at is null and user_id in (select id from proven)`,
    [account.userId],
  );
}

const logTo = (log: Pick<Log, "warn">) => (level: string, message: string) =>
  log.warn({ level }, `sign-in: ${message}`);

type Auth = Pick<ReturnType<typeof betterAuth>, "handler"> & {
  readonly api: {
    getSession(input: { headers: Headers }): Promise<{ user: { id: string } } | null>;
  };
};

async function load(options: SessionsOptions): Promise<{ auth: Auth; whole: boolean }> {
  const { betterAuth } = await import("better-auth");
  const { oidc } = options;
  if (oidc === undefined) return { auth: betterAuth(baseOptions(options)), whole: true };
  const { genericOAuth } = await import("better-auth/plugins/generic-oauth");
  const auth = betterAuth({
    ...baseOptions(options),
    plugins: [
      genericOAuth({
        config: [
          {
            providerId: oidcProvider,
            clientId: oidc.clientId,
            clientSecret: oidc.clientSecret,
            discoveryUrl: `${oidc.issuer.replace(/\/+$/, "")}/.well-known/openid-configuration`,
            scopes: ["openid", "email", "profile"],
            requireIdTokenVerification: true,
            disableSignUp: true,
          },
        ],
      }),
    ],
  });
  const { socialProviders } = await auth.$context;
  return { auth, whole: socialProviders.some(({ id }) => id === oidcProvider) };
}

/** Sessions on a database. */
export function createSessions(options: SessionsOptions): Sessions {
  let opened: Promise<Auth> | undefined;
  function open(): Promise<Auth> {
    const opening = (opened ??= load(options).then(({ auth, whole }) => {
      // The identity provider did not answer; it is asked again next time.
      if (!whole) opened = undefined;
      return auth;
    }));
    opening.catch(() => (opened = undefined));
    return opening;
  }
  return {
    async handle(request) {
      return (await open()).handler(request);
    },
    async userOf(headers) {
      const session = await (await open()).api.getSession({ headers });
      return session?.user.id;
    },
  };
}
