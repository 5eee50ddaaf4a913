/** Finds wrongly copied vendor keys by their form, without asking the vendor. Messages never contain any part of the key. */
import type { Provider } from "./types.ts";

interface KeyMistake {
  /** Continues a sentence that begins with "its key". */
  readonly message: string;
  readonly fix: string;
  /** True if a header can carry the key. */
  readonly isSendable: boolean;
}

/** Pattern, message, fix; the first pattern that matches is reported. */
const forms: readonly (readonly [RegExp, string, string])[] = [
  [
    /^\s*["'`\u2018-\u201f]|["'`\u2018-\u201f]\s*$/,
    "has a quotation mark at an end, which is sent as a part of it",
    "write the value without quotes; docker's --env-file keeps them",
  ],
  [
    /^\s|\s$/,
    "begins or ends with white space",
    "write the value without it; lines of files from Windows end with a carriage return",
  ],
  [/^Bearer\s/i, 'begins with "Bearer"', "leave that word out: it is added where it belongs"],
  [/\.\.\.$|\u2026$|^<.*>$/, "looks like an example", "give the key that the vendor made for you"],
  [
    /^gw_(?:live|temp|admin|pat)_/,
    "is a key of a gateway such as this one, and of no vendor",
    "give the vendor's key; programs that call the gateway read the same variable, so start them in another shell",
  ],
  [/[^\x20-\x7e]/, "has characters that no header can carry", "copy it from the vendor again"],
];

/**
 * The mistake in a key's form; undefined if there is none. Certificates and JSON are not checked, since their lines may end in
 * any way. A gateway's key is fine if the provider may be another gateway.
 */
export function keyMistake(
  apiKey: string,
  { dialect }: Pick<Provider, "dialect">,
): KeyMistake | undefined {
  if (/^\s*(?:-----BEGIN|\{)/.test(apiKey)) return undefined;
  if (dialect === "openai-compatible" && apiKey.startsWith("gw_live_")) return undefined;
  const form = forms.find(([pattern]) => pattern.test(apiKey));
  if (form === undefined) return undefined;
  return { message: form[1], fix: form[2], isSendable: !/[^\x20-\x7e]/.test(apiKey) };
}

/** One line for each wrong key of the providers. */
export const keyMistakes = (providers: Iterable<Provider>): string[] =>
  [...providers].flatMap((provider) =>
    provider.credentials.flatMap((credential, _at, { length }) => {
      const mistake = keyMistake(credential.apiKey, provider);
      const name = length === 1 ? "its key" : `its key ${credential.id}`;
      return mistake ? [`provider ${provider.id}: ${name} ${mistake.message}; ${mistake.fix}`] : [];
    }),
  );
