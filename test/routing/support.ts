/** A model at three providers, and its plan; for the tests of plans and previews. */
import { GatewayError } from "../../src/base/errors.ts";
import { parseUsd } from "../../src/base/money.ts";
import {
  defaultTimeouts,
  type Catalog,
  type EndpointName,
  type Provider,
  type TextModel,
  type TextOffer,
} from "../../src/catalog/index.ts";
import {
  openScope,
  parseModelId,
  plan,
  type PlanInput,
  type RoutingScope,
} from "../../src/routing/index.ts";

function provider(id: string, tier: Provider["tier"] = "official"): Provider {
  return {
    id,
    dialect: "openai-compatible",
    baseUrl: `http://${id}`,
    tier,
    credentials: [{ id: "default", apiKey: "", weight: 1 }],
    onDisconnect: "abort",
    timeouts: defaultTimeouts,
  };
}

/** A chat offer of provider `name`, at `usd` USD per million tokens of input and of output. */
export function offer(
  name: string,
  usd: string,
  protocol: TextOffer["protocol"] = "chat",
): TextOffer {
  const rate = parseUsd(usd);
  return {
    provider: name,
    protocol,
    upstreamModel: "up",
    price: { input: rate, output: rate },
  };
}

export function catalogOf(
  offers: readonly TextOffer[],
  tiers: Record<string, Provider["tier"]> = {},
) {
  const model: TextModel = {
    id: "acme/talk",
    kind: "text",
    created: 0,
    endpoints: ["chat_completions", "messages"],
    contextLength: 1000,
    maxOutputTokens: 100,
    reserveOutputTokens: 100,
    parameters: {},
    offers,
  };
  const names = [...new Set(offers.map((each) => each.provider))];
  const catalog: Catalog = {
    models: new Map([[model.id, model]]),
    providers: new Map(names.map((name) => [name, provider(name, tiers[name])])),
  };
  return catalog;
}

export const three = catalogOf([offer("a", "3"), offer("b", "1"), offer("c", "2")], {
  c: "community",
});

export function planOf(
  catalog: Catalog,
  text: string,
  extra: Partial<PlanInput<EndpointName>> = {},
) {
  return plan({
    catalog,
    entryPoint: "chat_completions",
    parsed: parseModelId(text),
    scope: openScope,
    random: () => 0.5,
    ...extra,
  });
}
export const namesOf = (
  catalog: Catalog,
  text: string,
  extra: Partial<PlanInput<EndpointName>> = {},
) => planOf(catalog, text, extra).offers.map((each) => each.provider);
export const scoped = (scope: Partial<RoutingScope>) => ({ scope: { ...openScope, ...scope } });

export function refusal(act: () => unknown): {
  code: string;
  status: number;
  param: string | null;
} {
  try {
    act();
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return { code: error.code, status: error.status, param: error.param };
  }
  throw new Error("expected a refusal");
}
