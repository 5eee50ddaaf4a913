/** The route of one call between two protocols, without a gateway around it. */
import {
  codecs,
  createRoute,
  upstreamCodecs,
  type JsonObject,
  type Route,
} from "../../src/protocols/index.ts";
import type { Body, Name } from "./world.ts";

/** A whole call of `acme/x`, which its provider calls `x`; `more` is what is otherwise. */
export const routeOf = (
  from: Name,
  to: Name | "converse",
  body: Body,
  { forced, ...more }: Partial<Parameters<typeof createRoute>[0]> & { forced?: boolean } = {},
): Route =>
  createRoute(
    {
      caller: codecs[from],
      upstream: upstreamCodecs[to],
      body: body as JsonObject,
      stream: false,
      requestedModel: "acme/x",
      model: "acme/x",
      upstreamModel: "x",
      maxOutputTokens: 1000,
      inputEstimate: 1,
      id: "req_1",
      createdAt: 1,
      ...more,
    },
    forced,
  );
