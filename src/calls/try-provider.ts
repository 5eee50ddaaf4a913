/**
 * One cheap test call to a provider, to check that it answers. It asks for a few tokens from the cheapest of its text models, or
 * embeds one word. It is not charged, not logged, and does not count for the provider's health. docs/models.md "Side by side".
 */
import { msSince } from "../base/elapsed.ts";
import { isObject } from "../base/json.ts";
import { GatewayError } from "../base/errors.ts";
import { newId } from "../base/ids.ts";
import { withTimeout } from "../base/timeouts.ts";
import { jsonOrText } from "../base/json-text.ts";
import { shortText, storableText, textOf } from "../base/text.ts";
import {
  modelAt,
  vendorQuirks,
  type Catalog,
  type Credential,
  type EmbeddingModel,
  type Provider,
  type TextModel,
} from "../catalog/index.ts";
import {
  codecs,
  createRoute,
  embeddingRoute,
  upstreamCodecs,
  upstreamErrors,
  type JsonObject,
} from "../protocols/index.ts";
import { standardPrice } from "../routing/index.ts";
import {
  askText,
  ExchangeError,
  maskError,
  textBody,
  withoutCredentials,
  type Exchange,
  type Pools,
} from "../upstream/index.ts";

/** The result of a test call. */
export interface Trial {
  readonly ok: boolean;
  readonly model: string;
  readonly credential: string;
  /** The vendor's HTTP status; null if it sent none. */
  readonly status: number | null;
  readonly durationMs: number;
  /** The vendor's message, credentials masked, or the gateway's reason. */
  readonly message: string;
}

export interface TrialOptions {
  readonly catalog: Catalog;
  readonly provider: Provider;
  /** The id of a model; the cheapest if absent. */
  readonly model?: string | undefined;
  /** The id of a credential; the first if absent. */
  readonly credential?: string | undefined;
  /** For the whole test, in ms. */
  readonly deadlineMs?: number | undefined;
}

const deadlineMsDefault = 15_000;
const answerBytesMax = 256 * 1024;
const messageMax = 500;
const trialsMax = 8;
let trials = 0;

/** A model and the offer of it to test. */
interface Tryable<Kind extends TextModel | EmbeddingModel> {
  readonly kind: Kind["kind"];
  readonly model: Kind;
  readonly offer: Kind["offers"][number];
}

type Tried = Tryable<TextModel> | Tryable<EmbeddingModel>;

/** Runs the test. @throws GatewayError `invalid_value` if there is nothing to test, `overloaded` if too many tests are in flight */
export async function tryProvider(pools: Pools, options: TrialOptions): Promise<Trial> {
  const { provider, deadlineMs = deadlineMsDefault } = options;
  const tried = triedOf(options);
  const credential = credentialOf(options);
  if (trials >= trialsMax)
    throw new GatewayError("overloaded", "Other tests of providers are under way.", {
      retryAfterSeconds: 5,
    });
  trials += 1;
  const beganMs = performance.now();
  const asked = { model: tried.model.id, credential: credential.id };
  const took = () => msSince(beganMs);
  try {
    const answer = await askWithin(pools, { tried, provider, credential, deadlineMs });
    return { ...asked, ...answer, durationMs: took() };
  } catch (error) {
    maskError(provider, error);
    const message = error instanceof Error ? error.message : "unknown";
    return { ...asked, ok: false, status: null, durationMs: took(), message: shown(message) };
  } finally {
    trials -= 1;
  }
}

const shown = (text: string): string => shortText(storableText(text), messageMax);

const nothingToTry = (message: string): GatewayError =>
  new GatewayError("invalid_value", message, { param: "model" });

/** The offer to test. */
function triedOf({ catalog, provider, model }: TrialOptions): Tried {
  const all = [...catalog.models.values()]
    .flatMap((each): Tried[] => {
      const { kind } = each;
      if (kind === "text") return each.offers.map((offer) => ({ kind, model: each, offer }));
      if (kind !== "embedding") return [];
      return each.offers.map((offer) => ({ kind, model: each, offer }));
    })
    .filter(({ offer }) => offer.provider === provider.id);
  const named = model === undefined ? all : all.filter((one) => one.model.id === model);
  const price = ({ offer }: Tried): bigint => standardPrice(offer.price);
  if (named.length > 0) return named.reduce((best, one) => (price(one) < price(best) ? one : best));
  throw nothingToTry(
    model === undefined
      ? "The provider has no text or embedding model to try; a call for a picture or a video would cost too much."
      : "The provider has no text or embedding model of this id.",
  );
}

function credentialOf({ provider, credential }: TrialOptions): Credential {
  const found =
    credential === undefined
      ? provider.credentials[0]
      : provider.credentials.find(({ id }) => id === credential);
  if (found) return found;
  throw new GatewayError("invalid_value", "The provider has no credential of this id.", {
    param: "credential",
  });
}

interface Trying {
  readonly tried: Tried;
  readonly provider: Provider;
  readonly credential: Credential;
  readonly deadlineMs: number;
}

/** The result, or an error at the deadline. */
function askWithin(
  pools: Pools,
  trying: Trying,
): Promise<Pick<Trial, "ok" | "status" | "message">> {
  const { provider, tried, credential, deadlineMs } = trying;
  const { protocol, upstreamModel: model } = tried.offer;
  const ask = { provider, protocol, model, stream: false, caller: {} };
  const asked = askText(pools, {
    ...ask,
    apiKey: credential.apiKey,
    body: JSON.stringify(textBody(bodyOf(tried, provider), ask)),
    timeouts: provider.timeouts,
  });
  const answered = asked.answer.then((exchange) => read(exchange, trying));
  return withTimeout(answered, deadlineMs, () => {
    asked.abort();
    return new ExchangeError("total_timeout", `no answer within ${deadlineMs} ms`);
  });
}

async function read(exchange: Exchange, { provider, tried }: Trying) {
  const { status } = exchange;
  const text = withoutCredentials(provider, textOf(await exchange.readAll(answerBytesMax)));
  const body = jsonOrText(text);
  if (status >= 200 && status <= 299) {
    const isAnswer = isObject(body) && (body["error"] ?? null) === null;
    const message = isAnswer ? "answered" : "answered with something that is no answer";
    return { ok: isAnswer, status, message };
  }
  const { message } = upstreamErrors(tried.offer.protocol).decodeError(status, body);
  return { ok: false, status, message: shown(message) };
}

const tokensMax = 16;

/** The request in the provider's protocol, within the model's limits. */
function bodyOf(tried: Tried, provider: Provider): JsonObject {
  const { upstreamModel } = tried.offer;
  const { id: model } = tried.model;
  if (tried.kind === "embedding")
    return embeddingRoute({ body: { input: "OK" }, model, upstreamModel }).body;
  const abilities = modelAt(tried.model, tried.offer);
  return createRoute({
    caller: codecs.chat,
    upstream: upstreamCodecs[tried.offer.protocol],
    body: {
      model,
      messages: [{ role: "user", content: "Say OK." }],
      max_completion_tokens: tokensMax,
    },
    stream: false,
    requestedModel: model,
    model,
    upstreamModel,
    maxOutputTokens: abilities.maxOutputTokens,
    abilities,
    ...vendorQuirks(provider),
    streamsOnly: undefined,
    inputEstimate: 8,
    id: newId("req"),
    createdAt: Math.floor(Date.now() / 1000),
  }).body;
}
