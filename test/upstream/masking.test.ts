/** Masking of the operator's credentials in vendors' texts: every known form is masked, ordinary words are not. */
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { Provider } from "../../src/catalog/index.ts";
import {
  answeredError,
  maskAnswer,
  maskError,
  withoutCredentials,
} from "../../src/upstream/index.ts";
import { costMs } from "../support/cost.ts";
import { provider } from "./media-support.ts";

const key = "sk-proj-Ab3/dE+fGh1jKlMn0pQrStUvWxYz4567";
const other = "AIzaSyD-9tSrke72PouQMnMX-a7eZSW0jkFMBWY";

const withKeys = (...keys: string[]): Provider => ({
  ...provider("openai", "https://api.openai.com/v1"),
  credentials: keys.map((apiKey, index) => ({ id: `k${index}`, apiKey, weight: 1 })),
});
const known = withKeys(key, other);
const mask = (text: string): string => withoutCredentials(known, text);

const escaped = (text: string): string =>
  Array.from(text, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");
const encoded = (text: string): string =>
  Array.from(text, (one) => `%${one.charCodeAt(0).toString(16)}`).join("");

describe("a credential that a vendor echoes", () => {
  it.each([
    ["whole", `Incorrect API key provided: ${key}.`],
    ["as a header", `bad header "authorization: Bearer ${key}"`],
    ["in JSON", JSON.stringify({ error: { message: `"${key}" is wrong` } })],
    ["in JSON with escaped slashes", JSON.stringify({ key }).replaceAll("/", "\\/")],
    ["in JSON within JSON", JSON.stringify({ raw: JSON.stringify({ key: `${key}"` }) })],
    ["escaped completely", `{"key":"${escaped(key)}"}`],
    ["in escapes within escapes", `{"raw":"${escaped(key).replaceAll("\\", "\\\\")}"}`],
    ["URL-encoded", `https://x.example/v1?key=${encodeURIComponent(key)}&alt=sse`],
    ["URL-encoded completely", `?key=${encoded(key)}`],
    ["URL-encoded twice", `?next=${encodeURIComponent(encodeURIComponent(key))}`],
    ["in HTML", `<b>${key.replaceAll("+", "&#43;").replaceAll("/", "&#x2f;")}</b>`],
    ["another credential of the provider", `?key=${other}: not valid`],
    ["twice, and both", `${key} ${key} ${other}`],
    ["cut at its end", `key ${key.slice(0, 20)}`],
    ["cut at its beginning", `key ending with ${key.slice(-12)}`],
    ["only its middle", `...${key.slice(10, 22)}...`],
    ["starred as OpenAI does", `provided: ${key.slice(0, 8)}${"*".repeat(28)}${key.slice(-4)}.`],
    ["dotted", `provided: ${key.slice(0, 3)}...${key.slice(-4)}`],
    ["with an ellipsis", `key ${key.slice(0, 5)}…${key.slice(-3)} is unknown`],
    ["stars and its end", `key ****${key.slice(-4)} is unknown`],
    ["crossed out", `key ${key.slice(0, 4)}xxxxxxxx${key.slice(-4)}`],
    ["its beginning and stars", `key ${key.slice(0, 12)}*****`],
  ])("is masked: %s", (_how, text) => {
    const masked = mask(text);
    expect(masked).toContain("[credential]");
    for (const one of [key, other])
      for (let at = 0; at + 8 <= one.length; at += 1)
        expect(masked).not.toContain(one.slice(at, at + 8));
    for (const end of [key, other].map((one) => one.slice(-4))) expect(masked).not.toContain(end);
    expect(masked).not.toContain(encoded(key).slice(9, 30));
    expect(masked).not.toContain(escaped(key).slice(12, 40));
    expect(masked.includes("is unknown")).toBe(text.includes("is unknown"));
  });

  it("is masked so that JSON stays valid", () => {
    for (const text of [
      JSON.stringify({ a: `x"${key}"y`, b: [`${key}\n`] }),
      `{"key":"${escaped(key)}","b":"\\u00fc"}`,
    ]) {
      const masked = JSON.parse(mask(text)) as object;
      expect(JSON.stringify(masked)).toContain("[credential]");
    }
  });

  it.each([
    "The model `gpt-9` does not exist or you do not have access to it.",
    "You can find your API key at https://platform.openai.com/account/api-keys. Wait... what?",
    "Keys look like sk-... or sk-proj-; yours does not.",
    "100%25 of 5 > 4 &amp; \\n \\u00fc, see https://x.example/a%20b",
    "**bold** ---- ____ .... xxxx",
    "",
  ])("is masked without changing ordinary text: %j", (text) => {
    expect(mask(text)).toBe(text);
  });

  it("is masked if it is one of a user's credentials at Google, whose other words are not", () => {
    const user = {
      type: "authorized_user",
      client_id: "764086051850.apps.googleusercontent.com",
      client_secret: "d-FL95Q19q7MQmFpd7hHD0Ty",
      refresh_token: "1//0gAbCdEfGhIjKlMnOpQrStUvWxYz",
    };
    const auth = { type: "google", serviceAccountKey: JSON.stringify(user, null, 2) } as const;
    const request = { add: {}, remove: [] };
    const access = { auth, headers: {}, query: {}, paths: {}, request };
    const said = (secret: string, token: string): string =>
      `authorized_user ${user.client_id}: ${secret} with ${token} was refused`;
    expect(
      withoutCredentials({ ...withKeys(), access }, said(user.client_secret, user.refresh_token)),
    ).toBe(said("[credential]", "[credential]"));
  });

  it("is masked as a whole word if it is short, and not at all if the provider takes none", () => {
    const short = withKeys("k3y!x");
    expect(withoutCredentials(short, 'the key "k3y!x" of ak3y!xa')).toBe(
      'the key "[credential]" of ak3y!xa',
    );
    expect(withoutCredentials(withKeys("", "abc"), "abc")).toBe("abc");
    expect(withoutCredentials(withKeys("sandbox"), "the sandbox says no")).toBe(
      "the sandbox says no",
    );
  });

  it("is masked in an error, its stack and its causes", () => {
    const error = new Error(`a ${key}`, { cause: new SyntaxError(`b ${key}`) });
    maskError(known, error);
    expect([error.message, (error.cause as Error).message]).toEqual([
      "a [credential]",
      "b [credential]",
    ]);
    expect(error.stack).not.toContain(key);
  });

  it("is masked in the refusal that the caller gets from an answer", () => {
    const error = answeredError("it is an error", { message: `prompt is too long, ${key}` });
    maskError(known, error);
    expect(error.refusal?.message).toBe("prompt is too long, [credential]");
  });

  it("is masked in a media vendor's report about a job", () => {
    const failed = maskAnswer(known, { state: "failed", code: key, message: `no ${key}` });
    expect(failed).toEqual({ state: "failed", code: "[credential]", message: "no [credential]" });
    const refused = { state: "refused", status: 400, message: key, param: key } as const;
    expect(JSON.stringify(maskAnswer(known, refused))).not.toContain(key);
  });

  it("is searched quickly in any text", () => {
    const size = 256 * 1024;
    for (const piece of [
      "\\",
      "%",
      "%25",
      "*",
      "*.",
      "sk-",
      key.slice(0, 7),
      "sk-...",
      "&#",
      "x",
    ]) {
      const begun = performance.now();
      mask(piece.repeat(Math.floor(size / piece.length)));
      expect({ piece, isSlow: performance.now() - begun > 1_000 }).toEqual({
        piece,
        isSlow: false,
      });
    }
  });

  it("is searched quickly in any text, even if tokens have thousands of characters", async () => {
    const token = (seed: number): string =>
      "eyJ0eXAi" +
      createHash("shake256", { outputLength: 1_500 }).update(`${seed}`).digest("base64url");
    const signedIn = withKeys(...Array.from({ length: 4 }, (_, seed) => token(seed)));
    const maskOne = (text: string): string => withoutCredentials(signedIn, text);
    expect(maskOne(`Bearer ${token(2).slice(0, 60)}***${token(2).slice(-9)}.`)).toBe(
      "Bearer [credential].",
    );
    for (const piece of ["* ", "e*", "eyJ0eXAi*"]) {
      // A vendor's refusal may echo the caller's own text like this.
      const cost = await costMs(() => maskOne(piece.repeat(2_000)));
      expect({ piece, isSlow: cost > 60 }).toEqual({ piece, isSlow: false });
    }
  });
});
