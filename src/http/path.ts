/** Paths and queries of requests. */

/** What a request asks for: path and query, as sent. */
interface Asking {
  readonly raw: { readonly url?: string | undefined };
}

const origin = /^https?:\/\/[^/?#]*/i;
const malformedEscape = /%(?![\da-f]{2})/i;
/** Escapes of characters that mean the same with and without one. */
const needlessEscape = /%(?:2[de]|3\d|[46][1-9a-f]|[57][\da]|5f|7e)/gi;

/**
 * The path of a request's target, without its query, and without the origin that a target may begin with. Needless escapes
 * are taken out of it; a path with a malformed one stays as it is.
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

/** The parameters of a query, without its question mark. Of a name that comes twice, the last counts. */
export function parseQuery(query: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(query));
}

/** The request's query, without its question mark; undefined where it has none. */
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

/** Every value of one name in the request's query, in their order. */
export function queryValuesOf(asking: Asking, name: string): readonly string[] {
  const query = queryIn(asking);
  return query === undefined ? [] : new URLSearchParams(query).getAll(name);
}

/** Whether a path is one of a route's: `:name` stands for one step of it, a `*` at its end for all that begin so. */
export function fitsRoute(route: string, path: string): boolean {
  if (route.endsWith("*"))
    return path.length >= route.length && path.startsWith(route.slice(0, -1));
  const steps = route.split("/");
  // A stranger's path may have thousands of steps, and is compared with each route.
  const taken = path.split("/", steps.length + 1);
  return (
    steps.length === taken.length &&
    steps.every((step, at) => (step.startsWith(":") ? taken[at] !== "" : step === taken[at]))
  );
}

/** A path without the slashes at its end. By an expression, a path of slashes before something else would take a second. */
export function withoutEndSlashes(path: string): string {
  let end = path.length;
  while (end > 0 && path[end - 1] === "/") end -= 1;
  return path.slice(0, end);
}
