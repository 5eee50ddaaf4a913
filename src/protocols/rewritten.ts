/** A request that was rewritten for what its target takes, so that its answer has to be read back. Pure. */
import type { Note } from "../base/notes.ts";
import type { CanonicalRequest } from "./canonical/request.ts";
import type { UpstreamCodec } from "./codec.ts";

export interface Rewritten {
  readonly request: CanonicalRequest;
  readonly notes: readonly Note[];
  /** A codec that reads answers as the caller's own request asked for them. It knows tools by the names of `request`. */
  readonly restored: (upstream: UpstreamCodec) => UpstreamCodec;
}

/** A request that its target takes as it is. */
export const unchanged = (request: CanonicalRequest): Rewritten => ({
  request,
  notes: [],
  restored: (upstream) => upstream,
});
