/** Hints for a 404: the path that the caller probably meant. A wrong base URL is the commonest mistake of a first call. */
import { nearest } from "../base/suggest.ts";
import { fitsRoute, withoutEndSlashes } from "./path.ts";
import { isServedAt, likelyRoute } from "./routes.ts";

/** The methods of each route, by its path pattern. */
export type Methods = ReadonlyMap<string, ReadonlySet<string>>;

interface UnmatchedRequest {
  readonly method: string;
  readonly path: string;
}

/** Longer paths get no suggestion: they are no typing mistake, and a stranger's path may be as long as a request head. */
const hintedPathMax = 200;

/** Returns a sentence with the path that was probably meant, or with the page that lists the paths. */
export function notFoundHint(requested: UnmatchedRequest, methods: Methods): string {
  if (requested.path.length > hintedPathMax) return "See /docs.";
  return (
    slashHint(requested, methods) ??
    sdkHint(requested) ??
    completionsHint(requested) ??
    managementHint(requested.path, methods) ??
    typoHint(requested, methods) ??
    "See /docs."
  );
}

function slashHint({ method, path }: UnmatchedRequest, methods: Methods): string | undefined {
  const bare = withoutEndSlashes(path);
  if (bare === path || bare === "") return undefined;
  const isThere = [...methods].some(
    ([url, known]) => known.has(method) && isServedAt(url, method, bare),
  );
  return isThere ? `It is at ${bare}, without the slash at the end.` : undefined;
}

/** The hint for an SDK whose base URL has the wrong path: how that URL must end. */
function sdkHint({ method, path }: UnmatchedRequest): string | undefined {
  const likely = likelyRoute(method, path);
  if (likely === undefined) return undefined;
  switch (likely.errors) {
    case "messages":
      return `It is at ${likely.path}: the base URL of Anthropic's SDKs has no path here.`;
    case "generate_content":
      return "It is at /v1beta/models/<model>: the base URL of Google's SDKs has no path here.";
    default:
      return `It is at ${likely.path}: the base URL of OpenAI's SDKs ends in /v1 here.`;
  }
}

/** The hint for the old completions endpoint, which examples of years ago still call. */
const completionsHint = ({ method, path }: UnmatchedRequest): string | undefined =>
  method === "POST" && /(?:^|\/)(?<!\/chat\/)completions$/.test(path)
    ? "Completions of a prompt are not offered: send `messages` to /v1/chat/completions."
    : undefined;

/** The hint for a path with one misspelt segment, such as `/v1/chat/completion`. */
function typoHint({ method, path }: UnmatchedRequest, methods: Methods): string | undefined {
  const segments = path.split("/");
  const urls = [...methods]
    .filter(([, known]) => known.has(method))
    .map(([url]) => url.split("/"))
    .filter((url) => url.length === segments.length);
  const isParameter = (one: string): boolean => /^[:*]/.test(one);
  for (const [at, segment] of segments.entries()) {
    const words = urls
      .filter((url) =>
        url.every((one, index) =>
          index === at ? !isParameter(one) : isParameter(one) || one === segments[index],
        ),
      )
      .map((url) => url[at]!);
    const near = nearest(segment, words);
    // The same word here means that another segment is wrong, or missing.
    if (near !== undefined && near !== segment)
      return `Did you mean ${segments.with(at, near).join("/")}? See /docs.`;
  }
  return undefined;
}

const management = "/admin/v1";
const managementLike = /^(?:\/v1|\/api)?\/admin(?:\/v1|\/api)?(?=\/)/;

/** The hint for a management API path with a wrong prefix, or with a misspelt collection. */
function managementHint(path: string, methods: Methods): string | undefined {
  const rest = path.replace(managementLike, "");
  if (rest === path) return undefined;
  const own = [...methods.keys()].filter((url) => url.startsWith(`${management}/`));
  const requested = management + rest;
  if (own.some((url) => fitsRoute(url, requested))) return `It is at ${requested}.`;
  const [, first = ""] = rest.split("/");
  const near = nearest(
    first,
    own.map((url) => url.slice(management.length + 1).split("/")[0]!),
  );
  return near === undefined || near === first
    ? undefined
    : `Did you mean ${management}/${near}? See /docs.`;
}
