/** A stand-in identity provider (OpenID Connect): it signs in whoever the test says, and checks what it is asked. */
import { createHash, generateKeyPairSync, randomUUID, sign } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";

export interface Claims {
  readonly sub: string;
  readonly email: string;
  readonly email_verified: boolean;
  readonly name: string;
}

const base64url = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");

export async function startIdentityProvider(client: { id: string; secret: string }) {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const codes = new Map<string, { query: URLSearchParams; claims: Claims }>();
  let issuer = "";
  let claims: Claims;
  /** Tokens of another issuer's key, when the test wants a forger. */
  let forge = false;
  /** Whether the token has the id alone, and everything else is asked for with the access token. */
  let isBare = false;
  const granted = new Map<string, Claims>();

  function idToken(nonce: string | null, who: Claims): string {
    const now = Math.floor(Date.now() / 1000);
    const said = isBare ? { sub: who.sub } : who;
    const body = { ...said, nonce, iss: issuer, aud: client.id, iat: now, exp: now + 60 };
    const text = `${base64url({ alg: "RS256", kid: "one" })}.${base64url(body)}`;
    const key = forge ? generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey : privateKey;
    return `${text}.${sign("sha256", Buffer.from(text), key).toString("base64url")}`;
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
    const basic = Buffer.from(`${client.id}:${client.secret}`).toString("base64");
    const authenticated =
      form.get("client_secret") === client.secret ||
      request.headers.authorization === `Basic ${basic}`;
    if (!known || !authenticated) return undefined;
    if (known.query.get("code_challenge") !== challenge) return undefined;
    codes.delete(form.get("code")!);
    const access = randomUUID();
    granted.set(`Bearer ${access}`, known.claims);
    return {
      access_token: access,
      token_type: "Bearer",
      expires_in: 60,
      id_token: idToken(known.query.get("nonce"), known.claims),
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
    signsIn(who: Claims, options: { forged?: boolean; bare?: boolean } = {}) {
      claims = who;
      forge = options.forged === true;
      isBare = options.bare === true;
    },
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}
