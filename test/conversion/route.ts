/** The route of one call between two protocols, without a gateway. */
import {
  codecs,
  createRoute,
  upstreamCodecs,
  type JsonObject,
  type Route,
} from "../../src/protocols/index.ts";
import type { Body, Name } from "./world.ts";

/** A non-streaming call of `acme/x`, whose provider names it `x`. `more` overrides the defaults. */
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
