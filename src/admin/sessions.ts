/** Console sessions by better-auth, on our tables and migrations. Loaded at first use, to save memory. docs/management.md. */
import type { betterAuth, BetterAuthOptions } from "better-auth";
import { GatewayError } from "../base/errors.ts";
import { withTimeout } from "../base/timeouts.ts";
import type { Log } from "../base/log.ts";
import { newId } from "../base/ids.ts";
import type { Clock } from "../base/clock.ts";
import type { Settings } from "../catalog/index.ts";
import { readOnce, type Database } from "../storage/index.ts";
import type { Secrets } from "../tenancy/index.ts";
import type { SignedIn } from "./accounts.ts";
import { adoptSubjects, forgetTokens, linkIdentity, oidcProvider, subjectAt } from "./identity.ts";
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
  /** The public URL; known once the gateway listens. */
  readonly publicUrl: () => string;
  readonly log: Pick<Log, "info" | "warn" | "error">;
  /** Timeout in ms for one step of the identity provider; 10 s if absent. */
  readonly providerMs?: number | undefined;
}

export interface Sessions {
  /** The host of the identity provider; null without one. */
  readonly provider: string | null;
  /** Answers a request below `/auth` about an existing session. */
  handle(request: Request): Promise<Response>;
  /** Answers a sign-in step with the identity provider. @throws GatewayError `upstream_timeout` if that does not answer */
  signIn(request: Request): Promise<Response>;
  /** The session's user by these headers; undefined without a valid session. */
  userOf(headers: Headers): Promise<SignedIn | undefined>;
  /** Opens a session. The response sets its cookie and contains the user and the token. */
  open(opening: SessionOpening, headers: Headers): Promise<Response>;
}

/** Prefix of the session cookie's name. */
export const cookiePrefix = "tollgate";
const dayS = 24 * 60 * 60;

const timestamps = { createdAt: "created_at", updatedAt: "updated_at" };

/** The library's names, mapped to our tables. */
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

/** Adds the library's log writer: one for all instances, so that log lines caused by strangers stay bounded. */
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
      // An address alone proves nothing: identity.ts links the user before the library looks for an account.
      accountLinking: { enabled: false },
      // The provider's tokens give access to its own services; we do not need them.
      updateAccountOnSignIn: false,
      // A client that begins to sign in is unknown: it keeps the state itself, sealed.
      storeStateStrategy: "cookie" as const,
    },
    // accounts.ts checks passwords: several users may have one address.
    emailAndPassword: { enabled: false },
    // throttle.ts limits instead: it also counts accounts, and across all nodes.
    rateLimit: { enabled: false },
    telemetry: { enabled: false },
    databaseHooks: {
      session: { create: { after: ({ userId }) => endOldest(options.database, userId) } },
    },
    logger: { level: "error" as const, log: options.write },
    onAPIError: { errorURL: "/" }, // A return that belongs to no sign-in goes here; the console shows an error
    advanced: {
      cookiePrefix,
      useSecureCookies: baseURL.startsWith("https:"),
      // One place checks this for all cookie requests (src/http/admin/same-origin.ts).
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

/** An address that the provider calls unverified proves nothing. Without `email_verified`, the address counts as verified. */
async function linkUser(options: SessionsOptions, issuer: string, profile: Profile): Promise<void> {
  const { email, email_verified: verified } = profile;
  const subject = subjectAt(issuer, profile.sub);
  const isVerified = verified === undefined || verified === true || verified === "true";
  if (subject !== "" && typeof email === "string" && isVerified) {
    await linkIdentity(options, { subject, email });
  }
}

/** Loads sessions without the identity provider: they work even if that fails. */
async function loadSessions(options: Loading): Promise<Auth> {
  const { betterAuth } = await import("better-auth");
  const { sessionOpener } = await import("./open-session.ts");
  await forgetTokens(options.database);
  const auth = betterAuth({ ...baseOptions(options), plugins: [sessionOpener(options.database)] });
  return auth as unknown as Auth;
}

/** Loads sign-in with the identity provider. `whole`: its configuration could be read. */
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
    linkUser: (profile: Profile) => linkUser(options, issuer, profile),
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
      // Runs after the library's own plugin, to check the user info that it found.
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

/** Default timeout for one step of the identity provider. */
const providerMsDefault = 10_000;

const silent = (): GatewayError =>
  new GatewayError(
    "upstream_timeout",
    "The identity provider did not answer in time. Try again, or sign in with a password.",
  );

/** Loads at the first use; loads again if that failed or the result is not `good`. */
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
  /** The library reports a failure without its cause. @throws GatewayError `database_unavailable` if that is the cause */
  const whyNot = async (failure: unknown): Promise<never> => {
    await readOnce("Sessions cannot be checked now: the database does not answer.", () =>
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
      return withTimeout(answer(), providerMs, silent);
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
