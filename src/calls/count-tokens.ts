/**
 * Counts the tokens of a request that is not sent. The vendor counts if it can; otherwise the gateway estimates. Nothing is reserved
 * or billed. docs/decisions.md "Also served"; T52.
 */
import { logFailedAttempt } from "../attempts/index.ts";
import { isObject } from "../base/json.ts";
import { parseJsonText } from "../base/json-text.ts";
import { textOf } from "../base/text.ts";
import { GatewayError, reasonOf } from "../base/errors.ts";
import { reportedCount } from "../base/usage.ts";
import {
  dialectRows,
  modelAt,
  removeUnsupported,
  type Provider,
  type TextModel,
  type TextOffer,
} from "../catalog/index.ts";
import {
  codecs,
  convertedBody,
  fitDirect,
  promptOf,
  tokenCounting,
  upstreamCodecs,
  upstreamErrors,
  type CanonicalRequest,
  type JsonObject,
} from "../protocols/index.ts";
import { plan, resolveModelId } from "../routing/index.ts";
import {
  acceptedHeaders,
  askCount,
  fitHostedClaude,
  maskError,
  withoutCredentials,
  type Exchange,
} from "../upstream/index.ts";
import type { TextCall, TextServices } from "./context.ts";
import { tokensIn } from "./meter.ts";
import { textEntryPoints } from "./prepare.ts";
import { planBasis } from "./plan-basis.ts";
import { checkTextAddresses } from "./text-addresses.ts";
import { writeBody } from "./write-body.ts";

/** An authenticated request for a count; its body is one JSON object. */
interface CountCall extends Pick<
  TextCall,
  "id" | "model" | "caller" | "callerHeaders" | "session" | "lease"
> {
  readonly body: JsonObject;
  readonly protocol: keyof typeof tokenCounting;
}

type CountServices = Pick<
  TextServices,
  "catalog" | "pools" | "health" | "log" | "allowPrivateAddresses" | "hooks"
>;

/**
 * Counts the input of a request, and returns the answer of its protocol. The model is resolved and checked as for a call. If a hook
 * would be asked about such calls, no vendor is: data that the hook would keep in must not leave to be counted.
 * @throws GatewayError for the caller's mistake, or a model it may not call.
 */
export async function countInputTokens(
  services: CountServices,
  call: CountCall,
): Promise<JsonObject> {
  const counting = tokenCounting[call.protocol];
  const request = counting.decode(call.body, call.model);
  checkTextAddresses(call.protocol, call.body, services.allowPrivateAddresses);
  const catalog = services.catalog();
  const endpoint = textEntryPoints[call.protocol];
  const { model, offers } = plan({
    ...planBasis(services, call, request.promptCacheKey ?? request.endUserId),
    catalog,
    parsed: resolveModelId(call.model, catalog),
    entryPoint: endpoint,
  });
  const isGuarded = services.hooks?.asks({ endpoint, caller: call.caller }) === true;
  const counted = isGuarded
    ? undefined
    : await askVendor(services, call, { request, model, offer: offers[0]! });
  return counting.answer(counted ?? (await estimate(promptOf(request))));
}

/** A caller waits for a count before it does anything else: an estimate now is better than an exact number later. */
const answerMsMax = 10_000;
const answerBytesMax = 64 * 1024;

/** The request to count, and the offer whose vendor is asked. */
interface Counted {
  readonly request: CanonicalRequest;
  readonly model: TextModel;
  readonly offer: TextOffer;
}

/**
 * The input that the call itself would send: fitted to the model in the caller's own protocol, or converted for Converse, which no caller
 * speaks. Undefined if the vendor cannot be asked.
 */
function bodyFor(
  call: CountCall,
  { request, model, offer }: Counted,
  dialect: Provider["dialect"],
): JsonObject | undefined {
  const { protocol, upstreamModel } = offer;
  if (protocol !== call.protocol && protocol !== "converse") return undefined;
  const counting = tokenCounting[call.protocol];
  const abilities = modelAt(model, offer);
  const { maxOutputTokens } = abilities;
  const facts = {
    caller: codecs[call.protocol],
    upstream: upstreamCodecs[protocol],
    stream: false,
    requestedModel: call.model,
    model: model.id,
    upstreamModel,
    maxOutputTokens,
    abilities,
    inputEstimate: 0,
    id: call.id,
    createdAt: 0,
  };
  try {
    if (protocol === "converse") return convertedBody(request, { ...facts, body: call.body });
    const whole = counting.callOf(call.body, maxOutputTokens);
    const { body } = removeUnsupported(abilities, call.protocol, whole);
    const sent = counting.ask(fitDirect({ ...facts, body }).body, upstreamModel);
    return protocol === "messages" ? fitHostedClaude(sent, {}, dialect).body : sent;
  } catch (error) {
    // The call itself would be refused; a count may still be estimated.
    if (error instanceof GatewayError) return undefined;
    throw error;
  }
}

/** The vendor's own count; undefined if it cannot be asked in this protocol, or does not answer. */
async function askVendor(
  services: CountServices,
  call: CountCall,
  counted: Counted,
): Promise<number | undefined> {
  const { offer } = counted;
  const provider = services.catalog().providers.get(offer.provider)!;
  const body = bodyFor(call, counted, provider.dialect);
  if (body === undefined) return undefined;
  const counting = tokenCounting[call.protocol];
  const { countField } = dialectRows[provider.dialect];
  const credential = services.health.credential(offer, provider);
  const { timeouts } = provider;
  const asked = askCount(services.pools, {
    provider,
    protocol: offer.protocol,
    model: offer.upstreamModel,
    stream: false,
    apiKey: credential.apiKey,
    caller:
      offer.protocol === call.protocol ? acceptedHeaders(call.callerHeaders, provider.dialect) : {},
    body,
    write: (body) => writeBody(body, { lease: call.lease }),
    timeouts: {
      connectMs: timeouts.connectMs,
      firstByteMs: Math.min(timeouts.firstByteMs, answerMsMax),
      idleMs: Math.min(timeouts.idleMs, answerMsMax),
      totalMs: Math.min(timeouts.totalMs, answerMsMax),
    },
  });
  if (!asked) return undefined;
  let status: number | null = null;
  try {
    const exchange = await asked.answer;
    ({ status } = exchange);
    const answer = await readAnswer(exchange, call, offer.protocol, provider);
    return countField === undefined ? counting.countIn(answer) : reportedCount(answer[countField]);
  } catch (error) {
    maskError(provider, error);
    logFailedAttempt(services.log, call.id, {
      provider: provider.id,
      credential: credential.id,
      upstream_model: offer.upstreamModel,
      status,
      outcome: "no_token_count",
      message: reasonOf(error),
    });
    return undefined;
  }
}

async function readAnswer(
  exchange: Exchange,
  { lease }: CountCall,
  protocol: TextOffer["protocol"],
  provider: Provider,
): Promise<JsonObject> {
  const bytes = await exchange.readAll(answerBytesMax, lease);
  const answer = parsed(withoutCredentials(provider, textOf(bytes)));
  if (exchange.status !== 200)
    throw new Error(upstreamErrors(protocol).decodeError(exchange.status, answer).message);
  if (!isObject(answer)) throw new Error("the provider's count is not a JSON object");
  return answer as JsonObject;
}

function parsed(text: string): unknown {
  try {
    return parseJsonText(text);
  } catch {
    return undefined;
  }
}

/** Tokens besides texts: for the framing of a message or a tool, and for a picture of common size. */
const tokensPer = { message: 4, tool: 8, medium: 1_600 } as const;

async function estimate({
  text,
  messages,
  tools,
  media,
}: ReturnType<typeof promptOf>): Promise<number> {
  const framing = messages * tokensPer.message + tools * tokensPer.tool;
  return (await tokensIn(text)) + framing + media * tokensPer.medium;
}
