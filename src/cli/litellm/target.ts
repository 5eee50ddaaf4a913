/** Where a LiteLLM deployment's calls go, and what finds out: the prefix of `model`, and the fields of its address and keys. */
import type { OfferProtocol } from "../../catalog/index.ts";
import type { Section } from "./file.ts";
import type { Report } from "./report.ts";
import { isNoKey, type Variables } from "./variables.ts";

/** A provider of ours without its id, and what is called there. */
export interface Target {
  /** What the provider's id begins with. */
  readonly vendor: string;
  /** What tells it from others of its vendor: a region, a resource. */
  readonly place?: string | undefined;
  /** The provider's row without id. */
  readonly row: Readonly<Record<string, unknown>>;
  readonly protocols: readonly OfferProtocol[];
  readonly upstream: string;
  /** The vendor of the list whose model it is, and the model's name there. */
  readonly known?: { readonly vendor: string; readonly name: string } | undefined;
  /** A server of one's own: its models cost nothing unless the file says so. */
  readonly isOwn?: boolean;
  /** The vendor's whole list can be called there by its own names. */
  readonly hasList?: boolean;
  /** Not the vendor's own address: the vendor's name is left to that. */
  readonly isElsewhere?: boolean;
}

/** The first label of a host, which names the resource; undefined for a number. */
export const placeOf = (url: string): string | undefined =>
  /^https?:\/\/([A-Za-z][A-Za-z0-9-]*)[.:/]/.exec(`${url}/`)?.[1]?.toLowerCase();

/** What is not supported, with what to do. */
export interface Refused {
  readonly refused: string;
}

/** What a target is made from. */
export interface Parameters {
  /** `litellm_params`, with its named credential's values. */
  readonly params: Section;
  /** The name behind the prefix. */
  readonly name: string;
  readonly variables: Variables;
  readonly report: Report;
}

/** An address of LiteLLM's file without a slash at its end, as our file has it; undefined where the field is absent. */
export function addressOf(
  { params, variables, report }: Parameters,
  wish: string,
): { readonly url: string; readonly query: Record<string, string> } | undefined {
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
    return { url, query: {} };
  }
  const [address, search = ""] = text.split("?", 2) as [string, string?];
  const query = [...new URLSearchParams(search)].map(
    ([name, value]) => [name, variables.header(name, value, path)] as const,
  );
  report.taken(path, "providers[].base_url");
  return { url: address.replace(/\/+$/, ""), query: Object.fromEntries(query) };
}

/**
 * The key: the file's, or the variable that LiteLLM reads by itself. `none` where a server takes none.
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
    report.taken(path, becomes);
    return "none";
  }
  const key = variables.secret(text, path, `${wish}_API_KEY`);
  if (variables.isLiteral(text))
    report.changed(path, "the key is not copied: set the variable that the file names", becomes);
  else report.taken(path, becomes);
  return key;
}
