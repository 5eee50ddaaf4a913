/**
 * Vertex AI: models are below their publisher, in a project and a location of the base URL. Claude's model is in the path, not in the body,
 * and the body names a version. docs/vertex.md.
 */
import { encodeModel } from "./protocols.ts";
import type { Vendor } from "./types.ts";

const anthropicVersion = "vertex-2023-10-16";

export const vertex: Vendor = {
  path(own, { protocol, model, stream }) {
    switch (protocol) {
      case "generate_content":
        return `/publishers/google${own}`;
      case "messages":
        return `/publishers/anthropic/models/${encodeModel(model)}:${stream ? "streamRawPredict" : "rawPredict"}`;
      default:
        return `/endpoints/openapi${own}`;
    }
  },
  body(body, { protocol }) {
    if (protocol !== "messages") return body;
    const { model: _inPath, ...rest } = body;
    return { ...rest, anthropic_version: anthropicVersion };
  },
};
