/** A request that was rewritten for its target, so that its answer must be mapped back. Pure. */
import type { Note } from "../base/notes.ts";
import type { CanonicalRequest } from "./canonical/request.ts";
import type { UpstreamCodec } from "./codec.ts";

export interface RequestRewrite {
  readonly request: CanonicalRequest;
  readonly notes: readonly Note[];
  /** Wraps a codec so that answers match the caller's original request. The wrapped codec knows tools by the names in `request`. */
  readonly wrapCodec: (upstream: UpstreamCodec) => UpstreamCodec;
}

/** A request that needs no rewriting. */
export const unchanged = (request: CanonicalRequest): RequestRewrite => ({
  request,
  notes: [],
  wrapCodec: (upstream) => upstream,
});
