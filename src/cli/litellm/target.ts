/** The target of a LiteLLM deployment's calls, determined from the prefix of `model` and the fields of its address and keys. */
import type { OfferProtocol } from "../../catalog/index.ts";
import type { Section } from "./file.ts";
import type { Report } from "./report.ts";
import { isNoKey, type Variables } from "./variables.ts";

/** A provider in our file without its id, and the model to call there. */
export interface Target {
  /** Prefix of the provider's id. */
  readonly vendor: string;
  /** Distinguishes it from other providers of its vendor: a region, a resource. */
  readonly place?: string | undefined;
  /** The provider's row without id. */
  readonly row: Readonly<Record<string, unknown>>;
  readonly protocols: readonly OfferProtocol[];
  readonly upstream: string;
  /** The vendor in the list of models, and the model's name there. */
  readonly known?: { readonly vendor: string; readonly name: string } | undefined;
  /** The cloud in the list of models, whose prices may differ from the maker's own. */
  readonly cloud?: string;
  /** A self-hosted server: its models are free unless the file sets a price. */
  readonly isSelfHosted?: boolean;
  /** True if all models of the vendor's list can be called there, by their own names. */
  readonly hasList?: boolean;
  /** True if the address is not the vendor's own. The plain vendor name is then left for a provider at the vendor's address. */
  readonly isElsewhere?: boolean;
}

/** Returns the first label of a host, which names the resource; undefined for an IP address. */
export const placeOf = (url: string): string | undefined =>
  /^https?:\/\/([A-Za-z][A-Za-z0-9-]*)[.:/]/.exec(`${url}/`)?.[1]?.toLowerCase();

/** The reason why a deployment is not supported, with what to do. */
export interface Refused {
  readonly refused: string;
}

/** The input for a target. */
export interface Parameters {
  /** `litellm_params`, with the values of its named credential. */
  readonly params: Section;
  /** The name after the prefix. */
  readonly name: string;
  readonly variables: Variables;
  readonly report: Report;
}

/** An address of LiteLLM's file. */
interface Address {
  /** Path of the field. */
  readonly path: string;
  /** Without query and trailing slashes. */
  readonly url: string;
  readonly query: Readonly<Record<string, string>>;
}

/** Returns the `query` of a provider's row; nothing if there are no parameters. */
export const queryRow = (
  query: Readonly<Record<string, string>> | undefined,
): { readonly query?: Readonly<Record<string, string>> } =>
  query !== undefined && Object.keys(query).length > 0 ? { query } : {};

/** Converts an address of LiteLLM's file; undefined if the field is absent. */
export function addressOf(
  { params, variables, report }: Parameters,
  wish: string,
): Address | undefined {
  const field = ["api_base", "base_url"].find((name) => params.text(name) !== undefined);
  if (field === undefined) return undefined;
  const text = params.text(field)!;
  const path = params.at(field);
  if (text.startsWith("os.environ/") || text.includes("${") || /\/\/[^/]*@/.test(text)) {
    const url = variables.secret(text, path, `${wish}_BASE_URL`);
    report.changed(
      path,
      "read from the variable, with its version segment",
      "providers[].base_url",
    );
    return { path, url, query: {} };
  }
  const [address, search = ""] = text.split("?", 2) as [string, string?];
  const query = [...new URLSearchParams(search)].map(
    ([name, value]) => [name, variables.header(name, value, path)] as const,
  );
  report.takenOver(path, "providers[].base_url");
  return { path, url: address.replace(/\/+$/, ""), query: Object.fromEntries(query) };
}

/**
 * Returns the key: the file's, or the variable that LiteLLM reads by default. `none` if a server takes no key.
 * @param fallback the variable's name; undefined: no key
 */
export function keyOf(
  { params, variables, report }: Parameters,
  wish: string,
  fallback: string | undefined,
): string {
  const text = params.text("api_key");
  const path = params.at("api_key");
  const becomes = "providers[].api_key";
  if (text === undefined)
    return fallback === undefined ? "none" : variables.named(fallback, params.at("model"));
  if (isNoKey(text)) {
    report.takenOver(path, becomes);
    return "none";
  }
  const key = variables.secret(text, path, `${wish}_API_KEY`);
  if (variables.isLiteral(text))
    report.changed(path, "the key is not copied: set the variable that the file names", becomes);
  else report.takenOver(path, becomes);
  return key;
}
