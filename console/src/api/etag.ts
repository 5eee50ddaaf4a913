/**
 * Entity tags: a response with a tag gets it as the field `etag`, so that data and tag stay together. A change sends the tag back as
 * `If-Match`, and is refused if another user changed the object first.
 */

/** Adds the tag of a response to its body. */
export async function withEtag(response: Response): Promise<Response> {
  const etag = response.headers.get("etag");
  const isJson = response.headers.get("content-type")?.startsWith("application/json") === true;
  if (etag === null || !isJson) return response;
  const body = (await response.json()) as object;
  const { status, headers } = response;
  return new Response(JSON.stringify({ ...body, etag }), { status, headers });
}

/** The `If-Match` header of an object; no header without a tag. */
export function ifMatch(object: object | undefined): { "If-Match"?: string } {
  const etag = object !== undefined && "etag" in object ? object.etag : undefined;
  return typeof etag === "string" ? { "If-Match": etag } : {};
}
