/**
 * A stand-in identity provider (OpenID Connect). It signs in the user that the test names, checks requests, and lies if the test
 * says so.
 */
import { createHash, createHmac, generateKeyPairSync, randomUUID, sign } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";

export interface Claims {
  readonly sub: string;
  readonly email: string;
  readonly email_verified: boolean;
  readonly name: string;
}

/** Deviations from a correct answer to a sign-in. */
export interface Manner {
  /** The token is signed by another key than the provider publishes. */
  readonly forged?: boolean;
  /** The token has only the id; the gateway must read everything else with the access token. */
  readonly bare?: boolean;
  /** There is no token. */
  readonly tokenless?: boolean;
  /** The userinfo endpoint describes another user. */
  readonly userinfo?: Claims;
  /** Overrides fields of the token's header. */
  readonly header?: object;
  /** Adds or replaces claims of the token. */
  readonly body?: object;
  /** The token has no signature, or is signed with the public key as the secret. */
  readonly signedBy?: "nobody" | "public key";
}

const base64url = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");

/**
 * The ways in which a client may send its secret, as the discovery document lists them. If absent, the document lists none, and
 * the provider takes both.
 */
interface ProviderOptions {
  readonly methods?: readonly string[];
}

export async function startIdentityProvider(
  client: { id: string; secret: string },
  { methods }: ProviderOptions = {},
) {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const codes = new Map<string, { query: URLSearchParams; claims: Claims }>();
  let issuer = "";
  let claims: Claims;
  let manner: Manner = {};
  /** All granted tokens, and the claims of each. */
  const tokens: string[] = [];
  const granted = new Map<string, Claims>();

  const publicPem = publicKey.export({ format: "pem", type: "spki" });

  function signed(text: string): string {
    if (manner.signedBy === "nobody") return "";
    if (manner.signedBy === "public key")
      return createHmac("sha256", publicPem).update(text).digest("base64url");
    const other = () => generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
    const key = manner.forged === true ? other() : privateKey;
    return sign("sha256", Buffer.from(text), key).toString("base64url");
  }

  function idToken(nonce: string | null, who: Claims): string {
    const now = Math.floor(Date.now() / 1000);
    const identity = manner.bare === true ? { sub: who.sub } : who;
    const right = { ...identity, nonce, iss: issuer, aud: client.id, iat: now, exp: now + 60 };
    const header = { alg: "RS256", kid: "one", ...manner.header };
    const text = `${base64url(header)}.${base64url({ ...right, ...manner.body })}`;
    return `${text}.${signed(text)}`;
  }

  /** Both halves are form-encoded. RFC 6749, 2.3.1. */
  function isBasic(header: string | undefined): boolean {
    const encoded = Buffer.from(header?.replace(/^Basic /, "") ?? "", "base64").toString();
    const [id, secret] = [...new URLSearchParams(encoded.replace(":", "&")).keys()];
    return id === client.id && secret === client.secret;
  }

  async function bodyOf(request: IncomingMessage): Promise<URLSearchParams> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    return new URLSearchParams(Buffer.concat(chunks).toString());
  }

  async function token(request: IncomingMessage): Promise<object | undefined> {
    const form = await bodyOf(request);
    const known = codes.get(form.get("code") ?? "");
    const verifier = form.get("code_verifier") ?? "";
    const challenge = createHash("sha256").update(verifier).digest("base64url");
    const takes = (method: string): boolean => methods === undefined || methods.includes(method);
    const authenticated =
      (takes("client_secret_post") && form.get("client_secret") === client.secret) ||
      (takes("client_secret_basic") && isBasic(request.headers.authorization));
    if (!known || !authenticated) return undefined;
    if (known.query.get("code_challenge") !== challenge) return undefined;
    codes.delete(form.get("code")!);
    const access = randomUUID();
    granted.set(`Bearer ${access}`, manner.userinfo ?? known.claims);
    const refresh = randomUUID();
    const token = idToken(known.query.get("nonce"), known.claims);
    tokens.push(access, refresh, token);
    return {
      access_token: access,
      refresh_token: refresh,
      token_type: "Bearer",
      expires_in: 60,
      ...(manner.tokenless !== true && { id_token: token }),
    };
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url!, issuer);
    const json = (status: number, body: object) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    if (url.pathname === "/.well-known/openid-configuration") {
      json(200, {
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        userinfo_endpoint: `${issuer}/userinfo`,
        jwks_uri: `${issuer}/jwks`,
        id_token_signing_alg_values_supported: ["RS256"],
        ...(methods && { token_endpoint_auth_methods_supported: methods }),
      });
    } else if (url.pathname === "/jwks") {
      json(200, { keys: [{ ...publicKey.export({ format: "jwk" }), kid: "one", alg: "RS256" }] });
    } else if (url.pathname === "/userinfo") {
      const who = granted.get(request.headers.authorization ?? "");
      json(who ? 200 : 401, who ?? { error: "invalid_token" });
    } else if (url.pathname === "/authorize") {
      const code = randomUUID();
      codes.set(code, { query: url.searchParams, claims });
      const back = new URL(url.searchParams.get("redirect_uri")!);
      back.searchParams.set("code", code);
      back.searchParams.set("state", url.searchParams.get("state")!);
      response.writeHead(302, { location: back.href }).end();
    } else {
      const tokens = await token(request);
      json(tokens ? 200 : 400, tokens ?? { error: "invalid_grant" });
    }
  }

  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    issuer,
    /** All tokens granted so far: access tokens, refresh tokens and ID tokens. */
    tokens,
    publicKey: publicKey.export({ format: "jwk" }),
    signsIn(who: Claims, how: Manner = {}) {
      claims = who;
      manner = how;
    },
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}

type IdentityProvider = Awaited<ReturnType<typeof startIdentityProvider>>;

const cookies = (response: Response): string =>
  response.headers
    .getSetCookie()
    .map((cookie) => cookie.split(";")[0]!)
    .join("; ");

export interface SigningIn extends Manner {
  readonly provider: IdentityProvider;
  /** The gateway's address. */
  readonly base: string;
  /** The cookie that comes back with the callback; the one of the beginning if absent. */
  readonly state?: string;
}

/** Does everything that a browser does in a sign-in, until it is back in the console. */
export async function signInThere(who: Claims, { provider, base, state, ...how }: SigningIn) {
  provider.signsIn(who, how);
  const begun = await fetch(`${base}/auth/sign-in/social`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ provider: "oidc" }),
  });
  if (begun.status !== 200) throw new Error(`${begun.status} ${await begun.text()}`);
  const { url } = (await begun.json()) as { url: string };
  const authorized = await fetch(url, { redirect: "manual" });
  const back = new URL(authorized.headers.get("location")!);
  if (!back.href.startsWith(`${base}/auth/callback/oidc?`)) throw new Error(back.href);
  const cookie = state ?? cookies(begun);
  const done = await fetch(back, { redirect: "manual", headers: { cookie } });
  const location = done.headers.get("location") ?? "";
  return { location, cookie: cookies(done) };
}

/** The configuration of a gateway with this identity provider. */
export const signInConfig = (issuer: string, client: { id: string; secret: string }): string => `
providers: []
models: []
console:
  oidc:
    issuer: ${issuer}
    client_id: ${client.id}
    client_secret: "${client.secret}"
`;
