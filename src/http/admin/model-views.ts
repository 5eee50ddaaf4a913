/**
 * Renders a model for the management API: its parameters, and its offers with price and health. Only organization admins see a
 * provider's own name of a model (T37).
 */
import { Type } from "../../base/json-schema.ts";
import { parametersOf } from "../../calls/index.ts";
import { modelRow, type Catalog, type Model, type Provider } from "../../catalog/index.ts";
import type { Health } from "../../routing/index.ts";
import { oneOf, orNull } from "../shapes/schema.ts";
import { layerNames, type Reach } from "./scope.ts";

const measured = Type.Object({
  first_token_ms: orNull(Type.Number()),
  tokens_per_second: orNull(Type.Number()),
});

const offerHealth = Type.Object(
  {
    state: oneOf("ready", "due", "out"),
    reason: orNull(Type.String({ description: "Why it is excluded; null: it is not." })),
    failure_share: Type.Number({ description: "Share of recent calls, from 0 to 1." }),
    stream: measured,
    whole: measured,
  },
  {
    description:
      "As the answering process knows it from its own calls. `ready`: gets calls. `due`: gets one call as a probe. `out`: gets no calls while others are left. Means are null if unknown.",
  },
);

const offer = Type.Object({
  provider: Type.String(),
  tier: Type.String(),
  source: oneOf("file", "environment", "sandbox", "api"),
  paused_until: orNull(Type.String({ description: "Its provider is paused until then." })),
  protocol: Type.Optional(Type.String()),
  upstream_model: Type.Optional(Type.String({ description: "For organization admins." })),
  price: Type.Unsafe<object>({
    type: "object",
    description: "USD, as in the configuration file: text per million tokens.",
  }),
  price_above: Type.Optional(Type.Unsafe<object>({ type: "object" })),
  price_tiers: Type.Optional(Type.Array(Type.Unsafe<object>({ type: "object" }))),
  price_hours: Type.Optional(
    Type.Array(Type.Unsafe<object>({ type: "object" }), {
      description: "Prices at some hours of the week, in place of `price`, as in the file.",
    }),
  ),
  later_prices: Type.Optional(
    Type.Array(Type.Unsafe<object>({ type: "object" }), {
      description: "Each with `from`: when it takes effect.",
    }),
  ),
  record: Type.Optional(
    Type.Unsafe<object>({
      type: "object",
      description: "Overrides of the model's record at this provider.",
    }),
  ),
  streaming: Type.Optional(Type.Boolean()),
  health: orNull(offerHealth),
});

/** A field as in the configuration file; absent if unknown. */
const abilities = (what: string) =>
  Type.Unsafe<object>({ type: "object", description: `${what} As in the configuration file.` });

const domain = Type.Object({
  type: oneOf("string", "integer", "number", "boolean", "enum", "array", "object"),
  values: Type.Optional(Type.Array(Type.String())),
  min: Type.Optional(Type.Number({ description: "For arrays, items; for texts, characters." })),
  max: Type.Optional(Type.Number()),
  multiple_of: Type.Optional(Type.Number()),
  pattern: Type.Optional(Type.String()),
  default: Type.Optional(Type.Unknown()),
});

export const modelShape = Type.Object({
  id: Type.String(),
  aliases: Type.Optional(
    Type.Array(Type.String(), {
      description: "Other names for it; a star matches any end.",
    }),
  ),
  fallbacks: Type.Optional(
    Type.Array(Type.String(), { description: "Models that answer if none of its providers can." }),
  ),
  in_scope: Type.Boolean({
    description: "Whether the key of `key_id` can call it; without `key_id`, whether any key can.",
  }),
  // With `key_id`: the outermost layer that excludes it.
  out_of_scope_by: orNull(oneOf(...layerNames)),
  supported_parameters: Type.Optional(
    Type.Record(Type.String(), domain, {
      description: "Only with `ids`: its parameters with exact domains, by chat-completions name.",
    }),
  ),
  name: Type.Optional(Type.String()),
  description: Type.Optional(Type.String()),
  created: Type.Integer({ description: "Unix time in seconds." }),
  kind: oneOf("text", "image", "video", "embedding"),
  family: Type.Optional(Type.String()),
  endpoints: Type.Array(Type.String()),
  context_length: Type.Optional(Type.Integer()),
  max_output_tokens: Type.Optional(Type.Integer()),
  reserve_output_tokens: Type.Optional(
    Type.Integer({ description: "Reserved if a call sets no maximum." }),
  ),
  parameters: Type.Optional(abilities("Narrower domains of parameters.")),
  reasoning: Type.Optional(abilities("How it reasons.")),
  tool_choice: Type.Optional(abilities("The tool choices that it supports.")),
  structured_outputs: Type.Optional(Type.Boolean()),
  prefill: Type.Optional(Type.Boolean()),
  input_modalities: Type.Optional(Type.Array(Type.String())),
  output_modalities: Type.Optional(Type.Array(Type.String())),
  lifecycle: Type.Optional(abilities("Absent: active.")),
  offers: Type.Array(offer),
});

type ServedModel = Parameters<Health["of"]>[0];

function healthOf(health: Health, served: ServedModel, at: Provider): object {
  const nowMs = health.nowMs();
  const { circuit, speed } = health.of(served);
  const state = health.availability(served, at);
  const listed = (stream: boolean) => ({
    first_token_ms: speed.firstTokenMs(stream, nowMs) ?? null,
    tokens_per_second: speed.tokensPerSecond(stream, nowMs) ?? null,
  });
  return {
    state,
    reason: state === "out" ? health.reason(served, at) : null,
    failure_share: circuit.failureShare(nowMs),
    stream: listed(true),
    whole: listed(false),
  };
}

/** Fields of an offer's row that callers may not see. */
const adminOnlyFields = new Set(["upstream_model"]);

function pausedUntil({ paused }: Catalog, provider: string): string | null {
  const untilMs = paused?.get(provider);
  return untilMs === undefined ? null : new Date(untilMs).toISOString();
}

interface ViewContext {
  readonly catalog: Catalog;
  readonly health: Health | undefined;
  /** True if the reader is an organization admin. */
  readonly isOrganizationAdmin: boolean;
  readonly reach: Reach;
  /** Includes the parameters: there are many, so only for models that the request names. */
  readonly withParameters: boolean;
}

export function renderModel(one: Model, viewContext: ViewContext): object {
  const { catalog, health, isOrganizationAdmin, reach, withParameters } = viewContext;
  const { offers, ...row } = modelRow(one);
  const callable = reach.callable.get(one.id);
  return {
    ...row,
    endpoints: one.endpoints,
    in_scope: callable !== undefined,
    out_of_scope_by: reach.leftOutBy(one.id),
    ...(withParameters && {
      supported_parameters: callable ? parametersOf(callable, catalog) : {},
    }),
    offers: offers.map((each, index) => {
      const at = catalog.providers.get(each.provider)!;
      const shown = Object.entries(each).filter(
        ([name]) => isOrganizationAdmin || !adminOnlyFields.has(name),
      );
      return {
        ...Object.fromEntries(shown),
        tier: at.tier,
        source: catalog.sources?.get(at.id)?.kind ?? "file",
        paused_until: pausedUntil(catalog, at.id),
        health: health ? healthOf(health, one.offers[index]!, at) : null,
      };
    }),
  };
}
