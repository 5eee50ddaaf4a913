/**
 * Models as they are configured, with how they are doing. docs/management.md.
 * Everybody who signs in sees them, to choose from; what a provider calls a model is for those who run the
 * installation (T37).
 */
import { Type } from "../../base/json-schema.ts";
import { modelRow, type Catalog, type Model, type Provider } from "../../catalog/index.ts";
import type { Health } from "../../routing/index.ts";
import { oneOf, orNull } from "../shapes/schema.ts";
import { route } from "./route.ts";
import { strict, words } from "./schemas.ts";

const measured = Type.Object({
  first_token_ms: orNull(Type.Number()),
  tokens_per_second: orNull(Type.Number()),
});

const offerHealth = Type.Object(
  {
    state: oneOf("ready", "due", "out"),
    reason: orNull(Type.String({ description: "Why it is left out; null where it is not." })),
    failure_share: Type.Number({ description: "Of recent calls, from 0 to 1." }),
    stream: measured,
    whole: measured,
  },
  {
    description:
      "As the process that answers knows it from its own calls. `ready`: calls may go there. `due`: one may, to probe it. `out`: none may while others are left. Means are null where nothing is known.",
  },
);

const offer = Type.Object({
  provider: Type.String(),
  tier: Type.String(),
  protocol: Type.Optional(Type.String()),
  upstream_model: Type.Optional(Type.String({ description: "For organization admins." })),
  price: Type.Unsafe<object>({
    type: "object",
    description: "USD, as in the configuration file: text per million tokens.",
  }),
  price_above: Type.Optional(Type.Unsafe<object>({ type: "object" })),
  price_tiers: Type.Optional(Type.Array(Type.Unsafe<object>({ type: "object" }))),
  later_prices: Type.Optional(
    Type.Array(Type.Unsafe<object>({ type: "object" }), {
      description: "Each with `from`: when it begins to hold, by itself.",
    }),
  ),
  record: Type.Optional(
    Type.Unsafe<object>({
      type: "object",
      description: "What is different about the model at this provider.",
    }),
  ),
  streaming: Type.Optional(Type.Boolean()),
  health: orNull(offerHealth),
});

/** As the configuration file has it; absent where it is not known. */
const abilities = (what: string) =>
  Type.Unsafe<object>({ type: "object", description: `${what} As in the configuration file.` });

const model = Type.Object({
  id: Type.String(),
  name: Type.Optional(Type.String()),
  description: Type.Optional(Type.String()),
  kind: oneOf("text", "image", "video", "embedding"),
  family: Type.Optional(Type.String()),
  endpoints: Type.Array(Type.String()),
  context_length: Type.Optional(Type.Integer()),
  max_output_tokens: Type.Optional(Type.Integer()),
  reasoning: Type.Optional(abilities("How it reasons.")),
  tool_choice: Type.Optional(abilities("Which choices of tools it takes.")),
  structured_outputs: Type.Optional(Type.Boolean()),
  prefill: Type.Optional(Type.Boolean()),
  input_modalities: Type.Optional(Type.Array(Type.String())),
  output_modalities: Type.Optional(Type.Array(Type.String())),
  lifecycle: Type.Optional(abilities("Absent: in service.")),
  offers: Type.Array(offer),
});

type ServedModel = Parameters<Health["of"]>[0];

function healthOf(health: Health, served: ServedModel, at: Provider): object {
  const nowMs = health.nowMs();
  const { circuit, speed } = health.of(served);
  const state = health.standing(served, at);
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

/** What of an offer's row callers may not know. */
const insideOnly = new Set(["upstream_model"]);

interface Reading {
  readonly catalog: Catalog;
  readonly health: Health | undefined;
  /** The reader runs the installation. */
  readonly inside: boolean;
}

function renderModel(one: Model, { catalog, health, inside }: Reading): object {
  const { offers, ...row } = modelRow(one);
  return {
    ...row,
    endpoints: one.endpoints,
    offers: offers.map((each, index) => {
      const at = catalog.providers.get(each.provider)!;
      const shown = Object.entries(each).filter(([name]) => inside || !insideOnly.has(name));
      return {
        ...Object.fromEntries(shown),
        tier: at.tier,
        health: health ? healthOf(health, one.offers[index]!, at) : null,
      };
    }),
  };
}

const whole = (data: readonly object[]) => ({ body: { data, has_more: false, next_cursor: null } });
const modelsSchema = Type.Object({
  data: Type.Array(model),
  has_more: Type.Literal(false),
  next_cursor: Type.Null(),
});

const models = route({
  method: "GET",
  path: "/models",
  operationId: "listConfiguredModels",
  summary: "The models of the configuration, who offers them, and how that goes",
  action: "model.read",
  query: strict({
    kind: Type.Optional(words("text", "image", "video", "embedding")),
    provider: Type.Optional(Type.String()),
  }),
  answer: { name: "ConfiguredModels", schema: modelsSchema },
  handle({ services, actor, query }) {
    const catalog = services.catalog();
    const reading = { catalog, health: services.health, inside: actor.organizationAdmin };
    const wanted = [...catalog.models.values()].filter(
      ({ kind, offers }) =>
        (query.kind === undefined || kind === query.kind) &&
        (query.provider === undefined || offers.some((each) => each.provider === query.provider)),
    );
    return Promise.resolve(whole(wanted.map((one) => renderModel(one, reading))));
  },
});

export const modelRoutes = [models];
