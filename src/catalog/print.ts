/**
 * Prints a catalogue as a configuration file with all defaults: `config print`. Values from variables are printed as
 * `${VARIABLE}`, other secrets masked.
 */
import { snakeCased } from "../base/casing.ts";
import type * as Yaml from "yaml";
import { isObject } from "../base/json.ts";
import { lazyRequire } from "../base/lazy-require.ts";
import { formatUsd, type NanoUsd } from "../base/money.ts";
import { isIdentity } from "./access-check.ts";
import { accessRow } from "./access-build.ts";
import { isDisguised, undisguise } from "./environment.ts";
import { embeddingPriceRow, priceRow, usd } from "./price-rows.ts";
import { abilityRows, offerRecordRow } from "./record-rows.ts";
import { hookRow } from "./hooks.ts";
import { secretKeyName, isSecretKey, mask, masked, shownPlaceholder } from "./secrets.ts";
import type { Config } from "./config.ts";
import type { Settings } from "./settings.ts";
import type { MediaPrice, SoundRates } from "./price-types.ts";
import type { EmbeddingOffer, MediaOffer, Model, Provider, TextOffer } from "./types.ts";

const yaml = lazyRequire<typeof Yaml>("yaml");

const seconds = (ms: number): number => ms / 1000;

/** A provider as a configuration row, with all defaults and with its keys masked; ready for JSON. */
export function providerRow(provider: Provider) {
  const { timeouts } = provider;
  return {
    id: provider.id,
    dialect: provider.dialect,
    base_url: provider.baseUrl,
    tier: provider.tier,
    credentials: provider.credentials.map((credential) => ({
      id: credential.id,
      api_key: mask(credential.apiKey),
      weight: credential.weight,
    })),
    on_disconnect: provider.onDisconnect,
    ...accessRow(provider.access),
    timeouts: {
      connect_s: seconds(timeouts.connectMs),
      first_byte_s: seconds(timeouts.firstByteMs),
      idle_s: seconds(timeouts.idleMs),
      total_s: seconds(timeouts.totalMs),
    },
  };
}

const offeredRow = (offer: TextOffer | MediaOffer | EmbeddingOffer) => ({
  provider: offer.provider,
  upstream_model: offer.upstreamModel,
  weight: offer.weight,
});

const textOfferRow = ({ price, record, ...offer }: TextOffer) => ({
  ...offeredRow({ price, ...offer }),
  protocol: offer.protocol,
  ...priceRow(price),
  record: offerRecordRow(record),
});

type UsdTree = { readonly [key: string]: NanoUsd | UsdTree } | SoundRates;
type TextTree = string | { [key: string]: TextTree };

function usdTree(value: NanoUsd | UsdTree): TextTree {
  if (typeof value === "bigint") return formatUsd(value);
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, usdTree(each)]));
}

function mediaPriceRow(price: MediaPrice) {
  switch (price.basis) {
    case "image_tokens":
      return {
        input: usd(price.input),
        image_input: usd(price.imageInput),
        output: usd(price.output),
        image_output: usd(price.imageOutput),
      };
    case "image_tiers":
    case "images":
      return { output_image: usdTree(price.outputImage), input_image: usd(price.inputImage) };
    case "video_seconds":
      return { output_second: usdTree(price.outputSecond), input_image: usd(price.inputImage) };
    case "video_tokens":
      return { output_video_token: usdTree(price.outputVideoToken) };
  }
}

const mediaOfferRow = (offer: MediaOffer) => ({
  ...offeredRow(offer),
  price: mediaPriceRow(offer.price),
  streaming: offer.streaming,
});

const embeddingOfferRow = (offer: EmbeddingOffer) => ({
  ...offeredRow(offer),
  ...embeddingPriceRow(offer.price),
});

/** A model as a configuration row; fields without a value are undefined. Offers are in the catalogue's order. */
export function modelRow(model: Model) {
  const { id, name, description, kind, created, aliases } = model;
  const common = { id, name, description, kind, created, aliases };
  switch (model.kind) {
    case "text":
      return {
        ...common,
        endpoints: model.endpoints,
        context_length: model.contextLength,
        max_output_tokens: model.maxOutputTokens,
        reserve_output_tokens: model.reserveOutputTokens,
        parameters: model.parameters,
        fallbacks: model.fallbacks,
        ...abilityRows(model),
        offers: model.offers.map(textOfferRow),
      };
    case "embedding":
      return {
        ...common,
        endpoints: model.endpoints,
        context_length: model.contextLength,
        fallbacks: model.fallbacks,
        offers: model.offers.map(embeddingOfferRow),
      };
    case "image":
    case "video":
      return {
        ...common,
        family: model.family,
        endpoints: model.endpoints,
        offers: model.offers.map(mediaOfferRow),
      };
  }
}

const bytesPerMegabyte = 1024 * 1024;

/** A size in megabytes; undefined if the file does not set it, because the default depends on each machine's memory. */
const setSize = (limits: Settings["limits"], name: keyof typeof limits.isSet): number | undefined =>
  limits.isSet[name] ? limits[name] / bytesPerMegabyte : undefined;

const maskedAll = (secrets: Readonly<Record<string, string>> | undefined) =>
  secrets &&
  Object.fromEntries(Object.entries(secrets).map(([name, secret]) => [name, mask(secret)]));

function settingsRows(settings: Settings) {
  const { limits, storage, console, cors, server, accessLog, webhooks } = settings;
  const { retention, telemetry, exports, tags } = settings;
  const { oidc } = console;
  return {
    limits: {
      queue: snakeCased(limits.queue),
      task_retry_s: seconds(limits.taskRetryMs),
      connections: {
        total: limits.connections.total,
        per_address: limits.connections.perAddress,
        unread_s: seconds(limits.connections.unreadMs),
      },
      round_calls: limits.roundCalls,
      body_mb: setSize(limits, "bodyBytes"),
      text_body_mb: setSize(limits, "textBodyBytes"),
      bodies_under_way_mb: setSize(limits, "bodiesUnderWayBytes"),
    },
    storage: { ...snakeCased(storage), secret_access_key: masked(storage.secretAccessKey) },
    console: {
      oidc: oidc && { ...snakeCased(oidc), client_secret: mask(oidc.clientSecret) },
    },
    cors,
    server: { tls: server.tls?.files, keep_alive_s: seconds(server.keepAliveMs) },
    access_log: accessLog,
    retention: snakeCased(retention),
    telemetry: { ...snakeCased(telemetry), otlp_headers: maskedAll(telemetry.otlpHeaders) },
    exports: exports && {
      ...snakeCased(exports),
      secret_access_key: masked(exports.secretAccessKey),
    },
    tags,
    hooks: settings.hooks.map((hook) => hookRow(hook, mask)),
    webhooks: { timeout_s: seconds(webhooks.timeoutMs) },
  };
}

/** Replaces values by the placeholders that the file has in their place, still disguised. */
function withPlaceholders(value: unknown, source: unknown, key = ""): unknown {
  if (Array.isArray(value)) {
    const list: readonly unknown[] = Array.isArray(source) ? source : [];
    return value.map((each, index) => withPlaceholders(each, list[index], key));
  }
  if (isObject(value)) {
    const map = isObject(source) ? source : {};
    return Object.fromEntries(
      Object.entries(value).map(([name, each]) => [
        name,
        withPlaceholders(each, map[name], secretKeyName(key, name)),
      ]),
    );
  }
  if (typeof source !== "string" || !isDisguised(source)) return value;
  return isSecretKey(key) ? (shownPlaceholder(source) ?? value) : source;
}

/** A provider as in its file: a single key as `api_key`, several as `credentials`, and no key if a cloud identity is used. */
function providerText(provider: Provider, source: unknown): unknown {
  const { credentials, ...row } = providerRow(provider);
  const isList = isObject(source) && source["credentials"] !== undefined;
  const given = isList ? { credentials } : { api_key: credentials[0]?.api_key };
  const keys = isIdentity(row.auth) ? {} : given;
  const { on_disconnect, timeouts, auth, headers, query, paths, request, proxy, tls, ...names } =
    row;
  const own = { auth, headers, query, paths, request, proxy, tls };
  return withPlaceholders({ ...names, ...keys, ...own, on_disconnect, timeouts }, source);
}

type Printed = Pick<Config, "catalog" | "settings" | "source" | "prices">;

/** The configuration as the contents of a file; placeholders are still disguised. */
function documentOf(config: Printed): object {
  const source = isObject(config.source) ? config.source : {};
  const rows = (key: string): readonly unknown[] =>
    Array.isArray(source[key]) ? (source[key] as unknown[]) : [];
  return {
    providers: [...config.catalog.providers.values()].map((provider, index) =>
      providerText(provider, rows("providers")[index]),
    ),
    default_model: config.catalog.defaultModel,
    prompt_caching: config.catalog.promptCaching,
    prices: config.prices,
    models: withPlaceholders([...config.catalog.models.values()].map(modelRow), rows("models")),
    ...(withPlaceholders(settingsRows(config.settings), source) as object),
  };
}

/**
 * The configuration in force as YAML, which reads as a configuration file of the same meaning. Only secrets written in
 * the file itself must be filled in: `checkConfig` refuses their masked form.
 */
export const printConfig = (config: Printed): string =>
  // YAML writes placeholders as plain text only while they are disguised.
  undisguise(
    yaml().stringify(documentOf(config), {
      keepUndefined: false,
      lineWidth: 0,
      aliasDuplicateObjects: false,
    }),
  );

/** The configuration in force as JSON values. */
export const configJson = (config: Printed): unknown =>
  JSON.parse(JSON.stringify(documentOf(config)), (_key, value: unknown) =>
    typeof value === "string" ? undisguise(value) : value,
  );
