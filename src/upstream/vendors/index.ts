/** The vendors of text that differ from their protocols' own ways: one row each. A row that needs code has a file beside this one. */
import type { Dialect } from "../../catalog/index.ts";
import { azure } from "./azure.ts";
import { bedrock } from "./bedrock.ts";
import { encodeModel } from "./protocols.ts";
import type { Vendor } from "./types.ts";
import { vertex } from "./vertex.ts";

const rows: Partial<Readonly<Record<Dialect, Vendor>>> = {
  azure,
  vertex,
  bedrock,
  anthropic: { countPaths: { messages: () => "/messages/count_tokens" } },
  google: {
    countPaths: { generate_content: (model) => `/models/${encodeModel(model)}:countTokens` },
  },
};

const asItsProtocol: Vendor = {};

/** The row of a dialect. */
export const vendorOf = (dialect: Dialect): Vendor => rows[dialect] ?? asItsProtocol;
