/** Paths and queries of requests. */

/** A request's path and query, as sent. */
interface Asking {
  readonly raw: { readonly url?: string | undefined };
}

const origin = /^https?:\/\/[^/?#]*/i;
const malformedEscape = /%(?![\da-f]{2})/i;
/** Escapes of characters that mean the same unescaped. */
const needlessEscape = /%(?:2[de]|3\d|[46][1-9a-f]|[57][\da]|5f|7e)/gi;

/**
 * Returns the path of a request's target, without its query and without the origin that a target may begin with. Decodes needless
 * escapes; leaves a path with a malformed escape as it is.
 */
export function pathIn(target: string): string {
  const whole = target.startsWith("/") ? target : target.replace(origin, "");
  const path = upTo("#", upTo("?", whole));
  if (!path.includes("%") || malformedEscape.test(path)) return path;
  return path.replaceAll(needlessEscape, decodeURIComponent);
}

function upTo(mark: string, text: string): string {
  const end = text.indexOf(mark);
  return end === -1 ? text : text.slice(0, end);
}

/** Parses a query, without its question mark. If a name repeats, the last value counts. */
export function parseQuery(query: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(query));
}

/** The request's query, without its question mark; undefined if it has none. */
function queryIn({ raw }: Asking): string | undefined {
  const url = raw.url ?? "/";
  const start = url.indexOf("?");
  return start === -1 ? undefined : url.slice(start + 1);
}

/** The parameters of the request's query. */
export function queryOf(asking: Asking): Record<string, string> {
  const query = queryIn(asking);
  return query === undefined ? {} : parseQuery(query);
}

/** Every value of one name in the request's query, in order. */
export function queryValuesOf(asking: Asking, name: string): readonly string[] {
  const query = queryIn(asking);
  return query === undefined ? [] : new URLSearchParams(query).getAll(name);
}

/** True if a path matches a route: `:name` stands for one segment, a final `*` for any rest. */
export function fitsRoute(route: string, path: string): boolean {
  if (route.endsWith("*"))
    return path.length >= route.length && path.startsWith(route.slice(0, -1));
  const steps = route.split("/");
  // A stranger's path may have thousands of segments, and is compared with each route.
  const taken = path.split("/", steps.length + 1);
  return (
    steps.length === taken.length &&
    steps.every((step, at) => (step.startsWith(":") ? taken[at] !== "" : step === taken[at]))
  );
}

/** Removes the slashes at the end of a path. A regular expression would take a second for many slashes before other characters. */
export function withoutEndSlashes(path: string): string {
  let end = path.length;
  while (end > 0 && path[end - 1] === "/") end -= 1;
  return path.slice(0, end);
}
