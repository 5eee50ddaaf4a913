/** Hints for a 404: the path that the caller probably meant. A wrong base URL is the commonest mistake of a first call. */
import { nearest } from "../base/suggest.ts";
import { fitsRoute, withoutEndSlashes } from "./path.ts";
import { likelyRoute } from "./routes.ts";

/** The methods of each route, by its path pattern. */
export type Methods = ReadonlyMap<string, ReadonlySet<string>>;

interface Asked {
  readonly method: string;
  readonly path: string;
}

/** Longer paths get no suggestion: they are no typing mistake, and a stranger's path may be as long as a request head. */
const lookedAtMax = 200;

/** Returns a sentence with the path that was probably meant, or with the page that lists the paths. */
export function whereInstead(asked: Asked, methods: Methods): string {
  if (asked.path.length > lookedAtMax) return "See /docs.";
  return (
    withoutSlash(asked, methods) ??
    ofSdk(asked) ??
    ofPrompt(asked) ??
    ofManagement(asked.path, methods) ??
    ofTypo(asked, methods) ??
    "See /docs."
  );
}

function withoutSlash({ method, path }: Asked, methods: Methods): string | undefined {
  const bare = withoutEndSlashes(path);
  if (bare === path || bare === "") return undefined;
  const isThere = [...methods].some(([url, known]) => known.has(method) && fitsRoute(url, bare));
  return isThere ? `It is at ${bare}, without the slash at the end.` : undefined;
}

/** The hint for an SDK whose base URL has the wrong path: how that URL must end. */
function ofSdk({ method, path }: Asked): string | undefined {
  const meant = likelyRoute(method, path);
  if (meant === undefined) return undefined;
  switch (meant.errors) {
    case "messages":
      return `It is at ${meant.path}: the base URL of Anthropic's SDKs has no path here.`;
    case "generate_content":
      return "It is at /v1beta/models/<model>: the base URL of Google's SDKs has no path here.";
    default:
      return `It is at ${meant.path}: the base URL of OpenAI's SDKs ends in /v1 here.`;
  }
}

/** The hint for the old completions endpoint, which examples of years ago still call. */
const ofPrompt = ({ method, path }: Asked): string | undefined =>
  method === "POST" && /(?:^|\/)(?<!\/chat\/)completions$/.test(path)
    ? "Completions of a prompt are not offered: send `messages` to /v1/chat/completions."
    : undefined;

/** The hint for a path with one misspelt segment, such as `/v1/chat/completion`. */
function ofTypo({ method, path }: Asked, methods: Methods): string | undefined {
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
function ofManagement(path: string, methods: Methods): string | undefined {
  const rest = path.replace(managementLike, "");
  if (rest === path) return undefined;
  const own = [...methods.keys()].filter((url) => url.startsWith(`${management}/`));
  const asked = management + rest;
  if (own.some((url) => fitsRoute(url, asked))) return `It is at ${asked}.`;
  const [, first = ""] = rest.split("/");
  const near = nearest(
    first,
    own.map((url) => url.slice(management.length + 1).split("/")[0]!),
  );
  return near === undefined || near === first
    ? undefined
    : `Did you mean ${management}/${near}? See /docs.`;
}
