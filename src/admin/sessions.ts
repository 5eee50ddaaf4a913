/**
 * Console sessions: better-auth on our database, with its tables under our names and our migrations. docs/management.md. Loaded at the first use: a gateway that nobody signs in to need not hold it in memory.
 */
import type { betterAuth, BetterAuthOptions } from "better-auth";
import type { Log } from "../base/log.ts";
import { newId } from "../base/ids.ts";
import type { Clock } from "../base/clock.ts";
import type { Settings } from "../catalog/index.ts";
import type { Database } from "../storage/index.ts";
import type { Secrets } from "../tenancy/index.ts";
import type { SignedIn } from "./accounts.ts";
import { adoptSubjects, meetPerson, oidcProvider, subjectAt } from "./identity.ts";
import type { SessionOpening } from "./open-session.ts";

export interface SessionsOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly secrets: Pick<Secrets, "sessionSecret">;
  readonly oidc: Settings["console"]["oidc"];
  /** The address people use; known once the gateway listens. */
  readonly publicUrl: () => string;
  readonly log: Pick<Log, "warn">;
}

export interface Sessions {
  /** What people sign in with besides a password: the host of the identity provider; null without one. */
  readonly provider: string | null;
  /** Answers a request below `/auth`. */
  handle(request: Request): Promise<Response>;
  /** Whose session these headers carry; undefined without a good one. */
  userOf(headers: Headers): Promise<SignedIn | undefined>;
  /** Opens a session. The answer sets its cookie and tells the user and the token. */
  open(opening: SessionOpening, headers: Headers): Promise<Response>;
}

/** What a session's cookie is called begins with this. */
export const cookiePrefix = "tollgate";
const dayS = 24 * 60 * 60;
export const passwordLengthMin = 10;
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
    additionalFields: {
      passwordChangeRequired: {
        type: "boolean",
        required: false,
        input: false,
        fieldName: "password_change_required",
      },
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
    database: options.database.pool,
    ...tables,
    account: {
      modelName: "auth_accounts",
      fields: accountFields,
      // An address proves nothing by itself: identity.ts links before the library looks for an account.
      accountLinking: { enabled: false },
      // Whoever begins to sign in is a stranger: they keep what it takes themselves, sealed.
      storeStateStrategy: "cookie" as const,
    },
    // Passwords are checked by ours (accounts.ts): several users may have one address.
    emailAndPassword: { enabled: false },
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

const logTo = (log: Pick<Log, "warn">) => (level: string, message: string) =>
  log.warn({ level }, `sign-in: ${message}`);

type Auth = Pick<ReturnType<typeof betterAuth>, "handler"> & {
  readonly api: {
    getSession(input: { headers: Headers }): Promise<{
      user: { id: string };
      session: { id: string; passwordChangeRequired?: boolean | null | undefined };
    } | null>;
    openSession(input: {
      body: SessionOpening;
      headers: Headers;
      asResponse: true;
    }): Promise<Response>;
  };
};

interface Profile {
  readonly sub?: unknown;
  readonly email?: unknown;
  readonly email_verified?: unknown;
}

/** A provider that says an address is not verified vouches for nobody by it; one that says nothing is taken to. */
async function meet(
  options: SessionsOptions,
  issuer: string,
  profile: Profile,
): Promise<Record<string, never>> {
  const { email, email_verified: verified } = profile;
  const subject = subjectAt(issuer, profile.sub);
  const isVerified = verified === undefined || verified === true || verified === "true";
  if (subject !== "" && typeof email === "string" && isVerified) {
    await meetPerson(options, { subject, email });
  }
  return {};
}

async function load(options: SessionsOptions): Promise<{ auth: Auth; whole: boolean }> {
  const { betterAuth } = await import("better-auth");
  const { sessionOpener } = await import("./open-session.ts");
  const { oidc } = options;
  if (oidc === undefined) {
    const auth = betterAuth({ ...baseOptions(options), plugins: [sessionOpener] });
    return { auth: auth as unknown as Auth, whole: true };
  }
  const { genericOAuth } = await import("better-auth/plugins/generic-oauth");
  const issuer = oidc.issuer.replace(/\/+$/, "");
  await adoptSubjects(options.database, issuer);
  const auth = betterAuth({
    ...baseOptions(options),
    plugins: [
      sessionOpener,
      genericOAuth({
        config: [
          {
            providerId: oidcProvider,
            clientId: oidc.clientId,
            clientSecret: oidc.clientSecret,
            discoveryUrl: `${issuer}/.well-known/openid-configuration`,
            scopes: ["openid", "email", "profile"],
            requireIdTokenVerification: true,
            disableSignUp: true,
            accountSubject: ({ profile }) => subjectAt(issuer, (profile as Profile).sub),
            // Called with a profile whose token was verified.
            mapProfileToUser: (profile) => meet(options, issuer, profile as Profile),
          },
        ],
      }),
    ],
  });
  const { socialProviders } = await auth.$context;
  return {
    auth: auth as unknown as Auth,
    whole: socialProviders.some(({ id }) => id === oidcProvider),
  };
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
    provider: options.oidc === undefined ? null : new URL(options.oidc.issuer).host,
    async handle(request) {
      return (await open()).handler(request);
    },
    async userOf(headers) {
      const session = await (await open()).api.getSession({ headers });
      if (session === null) return undefined;
      return {
        userId: session.user.id,
        sessionId: session.session.id,
        passwordChangeRequired: session.session.passwordChangeRequired === true,
      };
    },
    async open(opening, headers) {
      return (await open()).api.openSession({ body: opening, headers, asResponse: true });
    },
  };
}
