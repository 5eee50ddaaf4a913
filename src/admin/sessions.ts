/**
 * Console sessions: better-auth on our database, with its tables under our names and our migrations. docs/management.md. Loaded at the first use: a gateway that nobody signs in to need not hold it in memory.
 */
import type { betterAuth, BetterAuthOptions } from "better-auth";
import { GatewayError } from "../base/errors.ts";
import { inTime } from "../base/in-time.ts";
import type { Log } from "../base/log.ts";
import { newId } from "../base/ids.ts";
import type { Clock } from "../base/clock.ts";
import type { Settings } from "../catalog/index.ts";
import { lookOnce, type Database } from "../storage/index.ts";
import type { Secrets } from "../tenancy/index.ts";
import type { SignedIn } from "./accounts.ts";
import { adoptSubjects, forgetTokens, meetPerson, oidcProvider, subjectAt } from "./identity.ts";
import { checkedProvider, type Profile } from "./identity-provider.ts";
import type { SessionOpening } from "./open-session.ts";
import { endOldest } from "./own-sessions.ts";
import { signInLog } from "./sign-in-log.ts";
import { tokenEndpointAuth } from "./token-endpoint.ts";

export interface SessionsOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly secrets: Pick<Secrets, "sessionSecret">;
  readonly oidc: Settings["console"]["oidc"];
  /** The address people use; known once the gateway listens. */
  readonly publicUrl: () => string;
  readonly log: Pick<Log, "info" | "warn" | "error">;
  /** How long the identity provider may take for one step; 10 s where absent. */
  readonly providerMs?: number | undefined;
}

export interface Sessions {
  /** What people sign in with besides a password: the host of the identity provider; null without one. */
  readonly provider: string | null;
  /** Answers a request below `/auth` about a session that there is. */
  handle(request: Request): Promise<Response>;
  /** Answers a step of signing in with the identity provider. @throws GatewayError `upstream_timeout` where that is silent */
  signIn(request: Request): Promise<Response>;
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

/** With where the library writes: one for all that are loaded, so that what strangers cause is bounded. */
interface Loading extends SessionsOptions {
  readonly write: ReturnType<typeof signInLog>;
}

function baseOptions(options: Loading) {
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
      // What the provider grants opens its own doors, and nothing here needs it.
      updateAccountOnSignIn: false,
      // Whoever begins to sign in is a stranger: they keep what it takes themselves, sealed.
      storeStateStrategy: "cookie" as const,
    },
    // Passwords are checked by ours (accounts.ts): several users may have one address.
    emailAndPassword: { enabled: false },
    // Ours counts accounts too, and on all nodes (throttle.ts).
    rateLimit: { enabled: false },
    telemetry: { enabled: false },
    databaseHooks: {
      session: { create: { after: ({ userId }) => endOldest(options.database, userId) } },
    },
    logger: { level: "error" as const, log: options.write },
    onAPIError: { errorURL: "/" }, // where a return goes that belongs to no sign-in: the console says so
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

/** A provider that says an address is not verified vouches for nobody by it; one that says nothing is taken to. */
async function meet(options: SessionsOptions, issuer: string, profile: Profile): Promise<void> {
  const { email, email_verified: verified } = profile;
  const subject = subjectAt(issuer, profile.sub);
  const isVerified = verified === undefined || verified === true || verified === "true";
  if (subject !== "" && typeof email === "string" && isVerified) {
    await meetPerson(options, { subject, email });
  }
}

/** Sessions by themselves: they are good however the identity provider is. */
async function loadSessions(options: Loading): Promise<Auth> {
  const { betterAuth } = await import("better-auth");
  const { sessionOpener } = await import("./open-session.ts");
  await forgetTokens(options.database);
  const auth = betterAuth({ ...baseOptions(options), plugins: [sessionOpener] });
  return auth as unknown as Auth;
}

/** Signing in with the identity provider. `whole`: it could be read. */
async function loadProvider(
  options: Loading,
  oidc: NonNullable<SessionsOptions["oidc"]>,
): Promise<{ auth: Pick<Auth, "handler">; whole: boolean }> {
  const { betterAuth } = await import("better-auth");
  const { genericOAuth } = await import("better-auth/plugins/generic-oauth");
  const issuer = oidc.issuer.replace(/\/+$/, "");
  await adoptSubjects(options.database, issuer);
  const discoveryUrl = `${issuer}/.well-known/openid-configuration`;
  const authentication = await tokenEndpointAuth(discoveryUrl);
  const checking = {
    clientId: oidc.clientId,
    log: options.log,
    meet: (profile: Profile) => meet(options, issuer, profile),
  };
  const auth = betterAuth({
    ...baseOptions(options),
    plugins: [
      genericOAuth({
        config: [
          {
            providerId: oidcProvider,
            clientId: oidc.clientId,
            clientSecret: oidc.clientSecret,
            discoveryUrl,
            authentication: authentication ?? "post",
            scopes: ["openid", "email", "profile"],
            requireIdTokenVerification: true,
            disableSignUp: true,
            accountSubject: ({ profile }) => subjectAt(issuer, (profile as Profile).sub),
          },
        ],
      }),
      // Behind the library's own: what that found is checked.
      {
        id: "checked-provider",
        init: ({ socialProviders }) => ({
          context: {
            socialProviders: socialProviders.map((one) => checkedProvider(one, checking)),
          },
        }),
      },
    ],
  });
  const { socialProviders } = await auth.$context;
  const isThere = socialProviders.some(({ id }) => id === oidcProvider);
  return { auth, whole: authentication !== undefined && isThere };
}

/** How long the identity provider may take for one step of a sign-in. */
const providerMsDefault = 10_000;

const silent = (): GatewayError =>
  new GatewayError(
    "upstream_timeout",
    "The identity provider did not answer in time. Try again, or sign in with a password.",
  );

/** What is loaded at its first use; again where that failed, or is not `good`. */
function atFirstUse<Loaded>(
  load: () => Promise<Loaded>,
  good: (loaded: Loaded) => boolean = () => true,
): () => Promise<Loaded> {
  let loading: Promise<Loaded> | undefined;
  const forget = (): void => void (loading = undefined);
  return () => {
    if (loading === undefined) {
      loading = load();
      loading.then((loaded) => {
        if (!good(loaded)) forget();
      }, forget);
    }
    return loading;
  };
}

export function createSessions(options: SessionsOptions): Sessions {
  const { oidc, providerMs = providerMsDefault } = options;
  const loading = { ...options, write: signInLog(options.log) };
  const sessions = atFirstUse(() => loadSessions(loading));
  const provider =
    oidc &&
    atFirstUse(
      () => loadProvider(loading, oidc),
      ({ whole }) => whole,
    );
  /** The library says only that it failed. @throws GatewayError `database_unavailable` where that is why */
  const whyNot = async (failure: unknown): Promise<never> => {
    await lookOnce("Sessions cannot be checked now: the database does not answer.", () =>
      options.database.query("select 1", []),
    );
    throw failure;
  };
  return {
    provider: oidc === undefined ? null : new URL(oidc.issuer).host,
    async handle(request) {
      return (await sessions()).handler(request);
    },
    async signIn(request) {
      if (provider === undefined) return (await sessions()).handler(request);
      const answer = async () => (await provider()).auth.handler(request);
      return inTime(answer(), providerMs, silent);
    },
    async userOf(headers) {
      const { api } = await sessions();
      const session = await api.getSession({ headers }).catch(whyNot);
      if (session === null) return undefined;
      return {
        userId: session.user.id,
        sessionId: session.session.id,
        passwordChangeRequired: session.session.passwordChangeRequired === true,
      };
    },
    async open(opening, headers) {
      return (await sessions()).api.openSession({ body: opening, headers, asResponse: true });
    },
  };
}
