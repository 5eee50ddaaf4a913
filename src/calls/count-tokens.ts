/**
 * The tokens of a request that is not sent. The vendor counts where it can, else we estimate; nothing is reserved and
 * nothing billed. docs/decisions.md "Also served"; T52.
 */
import { logFailedAttempt } from "../attempts/index.ts";
import { isObject } from "../base/json.ts";
import { parseJsonText } from "../base/json-text.ts";
import { textOf } from "../base/text.ts";
import type { Provider, TextOffer } from "../catalog/index.ts";
import { errorCodec, promptOf, tokenCounting, type JsonObject } from "../protocols/index.ts";
import { plan, resolveModelId } from "../routing/index.ts";
import { routingScope } from "../tenancy/index.ts";
import { askCount, maskError, withoutCredentials, type Exchange } from "../upstream/index.ts";
import type { TextCall, TextServices } from "./context.ts";
import { tokensIn } from "./meter.ts";
import { entryPoints } from "./prepare.ts";
import { checkTextAddresses } from "./text-addresses.ts";
import { writeBody } from "./write-body.ts";

/** A count that was asked for: authenticated, its body one JSON object. */
interface CountCall extends Pick<
  TextCall,
  "id" | "model" | "body" | "caller" | "callerHeaders" | "lease"
> {
  readonly protocol: keyof typeof tokenCounting;
}

type CountServices = Pick<
  TextServices,
  "catalog" | "pools" | "health" | "log" | "allowPrivateAddresses"
>;

/**
 * Counts the input of a request, in the shape of its protocol's answer. The model is resolved and allowed as for a call.
 * @throws GatewayError the caller's mistake, or a model it may not call.
 */
export async function countInputTokens(
  services: CountServices,
  call: CountCall,
): Promise<JsonObject> {
  const counting = tokenCounting[call.protocol];
  const request = counting.decode(call.body, call.model);
  checkTextAddresses(call.protocol, call.body, services.allowPrivateAddresses);
  const catalog = services.catalog();
  const { offers } = plan({
    catalog,
    parsed: resolveModelId(call.model, catalog),
    entryPoint: entryPoints[call.protocol],
    scope: routingScope(call.caller),
    affinity: request.promptCacheKey ?? request.endUserId,
    random: Math.random,
    health: services.health,
  });
  const counted = await askVendor(services, call, offers[0]!);
  return counting.answer(counted ?? (await estimate(promptOf(request))));
}

/** A caller waits for a count before it does anything else: an estimate now is better than a number later. */
const answerMsMax = 10_000;
const answerBytesMax = 64 * 1024;

/** The vendor's own count; undefined where it cannot be asked in this protocol, or gives no answer. */
async function askVendor(
  services: CountServices,
  call: CountCall,
  offer: TextOffer,
): Promise<number | undefined> {
  if (offer.protocol !== call.protocol) return undefined;
  const provider = services.catalog().providers.get(offer.provider)!;
  const counting = tokenCounting[call.protocol];
  const credential = services.health.credential(offer, provider);
  const { timeouts } = provider;
  const asked = askCount(services.pools, {
    provider,
    protocol: call.protocol,
    model: offer.upstreamModel,
    stream: false,
    apiKey: credential.apiKey,
    caller: call.callerHeaders,
    body: counting.ask(call.body, offer.upstreamModel),
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
    return counting.countIn(await readAnswer(exchange, call, provider));
  } catch (error) {
    maskError(provider, error);
    logFailedAttempt(services.log, call.id, {
      provider: provider.id,
      credential: credential.id,
      upstream_model: offer.upstreamModel,
      status,
      outcome: "no_token_count",
      message: error instanceof Error ? error.message : String(error),
    });
    return undefined;
  }
}

async function readAnswer(
  exchange: Exchange,
  { protocol, lease }: CountCall,
  provider: Provider,
): Promise<JsonObject> {
  const bytes = await exchange.readAll(answerBytesMax, lease);
  const answer = parsed(withoutCredentials(provider, textOf(bytes)));
  if (exchange.status !== 200)
    throw new Error(errorCodec(protocol).decodeError(exchange.status, answer).message);
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

/** Tokens beside the texts: what frames a message and a tool, and a picture of common size. */
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
