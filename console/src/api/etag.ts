/**
 * Entity tags: an answer that has one carries it as its field `etag`, so that what is shown and the tag of it never part.
 * A change sends the tag back as `If-Match`, and is refused where somebody else was faster.
 */

/** Puts the tag of an answer into its body. */
export async function withEtag(response: Response): Promise<Response> {
  const etag = response.headers.get("etag");
  const isJson = response.headers.get("content-type")?.startsWith("application/json") === true;
  if (etag === null || !isJson) return response;
  const body = (await response.json()) as object;
  const { status, headers } = response;
  return new Response(JSON.stringify({ ...body, etag }), { status, headers });
}

/** `If-Match` of an object as it was read; no header where it has no tag. */
export function ifMatch(object: object | undefined): { "If-Match"?: string } {
  const etag = object !== undefined && "etag" in object ? object.etag : undefined;
  return typeof etag === "string" ? { "If-Match": etag } : {};
}
