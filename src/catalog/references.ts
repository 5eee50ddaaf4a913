/**
 * Checks that a schema cannot express: names that must exist, be unique, or fit together. They also work on files that breach the
 * schema, so that all mistakes are reported at once.
 */
import { pushAll } from "../base/push-all.ts";
import { checkHooks } from "./hooks.ts";
import { isObject, type WireObject } from "../base/json.ts";
import { checkAccess, isIdentity, isKeyless } from "./access-check.ts";
import { suggester } from "../base/suggest.ts";
import { hasUserinfo } from "../base/userinfo.ts";
import { mediaDialects } from "./media-dialects.ts";
import type { Finding, Path } from "./mistakes.ts";
import { checkPrice, checkRecords, checkTextPrices } from "./record-references.ts";
import { rowsAt, type Row } from "./rows.ts";
import { checkSettings, isPlainUrl } from "./settings-check.ts";
import { dialects } from "./dialects.ts";
import { checkTls, type TlsFiles } from "./tls-files.ts";
import type { KnownProvider } from "./types.ts";

/** Finds rows with the `id` of an earlier row. */
function duplicates(rows: readonly Row[], what: string): Finding[] {
  const seen = new Map<string, Path>();
  return rows.flatMap(({ path, row }): Finding[] => {
    const { id } = row;
    if (typeof id !== "string") return [];
    const first = seen.get(id);
    if (first === undefined) {
      seen.set(id, path);
      return [];
    }
    const message = `the ${what} "${id}" is already there, at ${String(first[0])}[${String(first[1])}]`;
    return [{ path: [...path, "id"], message, fix: "give each its own id" }];
  });
}

function checkProvider({ path, row }: Row, files: TlsFiles): Finding[] {
  const findings: Finding[] = [];
  const isKeyed = row["api_key"] !== undefined || row["credentials"] !== undefined;
  if (!isKeyed && !isKeyless(row)) {
    const fix = "give api_key (`none` for a server that takes none) or credentials";
    findings.push({ path: [...path, "api_key"], message: "missing", fix });
  }
  if (row["api_key"] !== undefined && row["credentials"] !== undefined) {
    const message = "api_key and credentials exclude each other";
    findings.push({ path: [...path, "api_key"], atKey: true, message, fix: "keep one of them" });
  }
  const url = row["base_url"];
  if (typeof url === "string" && /^(https?:|\$\{)/.test(url) && !isPlainUrl(url)) {
    const message = `"${url}" is not an address without a query`;
    findings.push({ path: [...path, "base_url"], message, fix: "write https://host/v1" });
  }
  if (typeof url === "string" && hasUserinfo(url)) {
    const message = "names a user or a password, which would not be sent";
    const fix = `leave them out, and write headers: { authorization: "Basic \${VARIABLE}" }`;
    findings.push({ path: [...path, "base_url"], message, fix });
  }
  const credentials = rowsAt(row, "credentials", path);
  const seen = new Set<string>();
  for (const credential of credentials) {
    const { id } = credential.row;
    if (typeof id !== "string") continue;
    if (!seen.has(id)) {
      seen.add(id);
      continue;
    }
    const message = `the credential "${id}" is already there`;
    findings.push({ path: [...credential.path, "id"], message, fix: "give each its own id" });
  }
  pushAll(findings, checkAccess({ path, row }, files));
  return findings;
}

/** The providers that offers may name: rows of the file, and id and dialect of those defined elsewhere. */
type Providers = ReadonlyMap<string, WireObject>;

/**
 * The fix explains that offers cannot name providers that variables activate: the shipped list may change, so a file must not depend on
 * it.
 */
function oneOf(choice: readonly string[]): (name: string) => string {
  const suggestion = suggester(choice);
  return (name) =>
    suggestion(name) || "name one that the file defines; those that variables bring do not count";
}

function checkOffers(
  { path, row }: Row,
  providers: Providers,
  fixOf: (provider: string) => string,
): Finding[] {
  return rowsAt(row, "offers", path).flatMap((offer): Finding[] => {
    const { provider, protocol } = offer.row;
    if (typeof provider !== "string") return [];
    const unknownProtocol = protocolFault(protocol, providers.get(provider));
    if (unknownProtocol) return [{ path: [...offer.path, "protocol"], ...unknownProtocol }];
    const fault = providers.has(provider)
      ? makerFault(row["kind"], provider, providers)
      : {
          message: `there is no provider "${provider}"`,
          fix: provider.startsWith("sandbox-")
            ? "the sandbox's providers are there where TOLLGATE_SANDBOX is on"
            : fixOf(provider),
        };
    return fault === undefined ? [] : [{ path: [...offer.path, "provider"], ...fault }];
  });
}

/** The reason why a provider does not speak a protocol: only Amazon Bedrock speaks Converse, at one of its addresses. */
function protocolFault(
  protocol: unknown,
  provider: WireObject | undefined,
): Omit<Finding, "path"> | undefined {
  if (protocol !== "converse" || !provider) return undefined;
  const { id, dialect, base_url: url } = provider;
  const fix = "write dialect: bedrock and base_url: https://bedrock-runtime.REGION.amazonaws.com";
  if (dialect !== "bedrock")
    return { message: `the provider "${String(id)}" does not speak converse`, fix };
  const isBelow = typeof url === "string" && /\/v1\/*$/.test(url);
  return isBelow
    ? { message: `the address of "${String(id)}" does not speak converse`, fix }
    : undefined;
}

/** The reason why a provider cannot serve a model of this kind: its dialect makes no images, or no videos. */
function makerFault(
  kind: unknown,
  provider: string,
  providers: Providers,
): Omit<Finding, "path"> | undefined {
  if (kind !== "image" && kind !== "video") return undefined;
  const makers: readonly string[] = mediaDialects[kind];
  const makes = (dialect: unknown) => makers.some((maker) => maker === dialect);
  const row = providers.get(provider);
  const dialect = dialects.find((known) => known === row?.["dialect"]);
  // Another check reports an unknown dialect.
  if (dialect === undefined) return undefined;
  if (makes(dialect))
    return row && isIdentity(row["auth"]) ? identityFault(kind, provider) : undefined;
  const message = `the dialect ${dialect} of the provider "${provider}" makes no ${kind}s`;
  const fitting = [...providers].flatMap(([id, other]) => (makes(other["dialect"]) ? [id] : []));
  const here = fitting.length === 0 ? "" : `; providers here: ${fitting.join(", ")}`;
  return { message, fix: `dialects that make ${kind}s: ${makers.join(", ")}${here}` };
}

const identityFault = (kind: string, provider: string): Omit<Finding, "path"> => ({
  message: `the provider "${provider}" is authorized by the identity of a cloud, which goes with text and embeddings only`,
  fix: `name a provider with api_key for ${kind}s`,
});

function checkLimits({ path, row }: Row): Finding[] {
  const { reserve_output_tokens: reserve, max_output_tokens: maximum } = row;
  if (typeof reserve !== "number" || typeof maximum !== "number" || reserve <= maximum) return [];
  const message = `${reserve} is above max_output_tokens (${maximum})`;
  return [{ path: [...path, "reserve_output_tokens"], message, fix: `at most ${maximum}` }];
}

const checkOfferPrices = ({ path, row }: Row): Finding[] =>
  rowsAt(row, "offers", path).flatMap((offer) =>
    checkVideoPrice(offer.row["price"], [...offer.path, "price"]),
  );

const checkVideoPrice = (price: unknown, path: Row["path"]): Finding[] =>
  ["output_second", "output_video_token"].flatMap((key) => {
    const rates = isObject(price) ? price[key] : undefined;
    if (!isObject(rates) || Object.keys(rates).length > 0) return [];
    const at = [...path, key];
    return [{ path: at, message: "no resolution has a price", fix: 'write 480p: "0.05"' }];
  });

function checkStorage(file: WireObject): Finding[] {
  const { storage } = file;
  if (!isObject(storage) || storage["kind"] !== "s3" || storage["bucket"] !== undefined) return [];
  return [{ path: ["storage", "bucket"], message: "missing", fix: "s3 needs a bucket" }];
}

/** Finds ambiguous names: an alias that another model has as its id or as an alias. */
function checkAliases(models: readonly Row[]): Finding[] {
  const owners = new Map<string, string>();
  for (const { row } of models) if (typeof row["id"] === "string") owners.set(row["id"], row["id"]);
  return models.flatMap(({ path, row }): Finding[] => {
    const { id } = row;
    const aliases: readonly unknown[] = Array.isArray(row["aliases"]) ? row["aliases"] : [];
    return aliases.flatMap((alias, index): Finding[] => {
      if (typeof alias !== "string" || typeof id !== "string") return [];
      const owner = owners.get(alias);
      if (owner === undefined) owners.set(alias, id);
      if (owner === undefined) return [];
      const message = `"${alias}" already means the model "${owner}"`;
      const fix = "give each model names of its own";
      return [{ path: [...path, "aliases", index], message, fix }];
    });
  });
}

/** Finds fallbacks that do not exist or that are the model itself. `known`: models defined elsewhere. */
function checkFallbacks(models: readonly Row[], known: readonly string[]): Finding[] {
  const kinds = new Map(models.map(({ row: { id, kind } }) => [id, kind]));
  const elsewhere = known.filter((id) => !kinds.has(id));
  const byKind = Map.groupBy(models, ({ row: { kind } }) => kind);
  // Once for each kind: a file may have thousands of models.
  const nameable = new Map(
    [...byKind].map(([kind, rows]) => {
      const same = rows.flatMap(({ row: { id } }) => (typeof id === "string" ? [id] : []));
      const fixOf = oneOf([...known, ...same]);
      return [kind, { names: new Set([...elsewhere, ...same]), fixOf }] as const;
    }),
  );
  return models.flatMap(({ path, row }): Finding[] => {
    const { kind } = row;
    const fallbacks: readonly unknown[] = Array.isArray(row["fallbacks"]) ? row["fallbacks"] : [];
    return fallbacks.flatMap((name, index): Finding[] => {
      if (typeof name !== "string") return [];
      const at = [...path, "fallbacks", index];
      if (name === row["id"])
        return [{ path: at, message: "this is the model itself", fix: "name another one" }];
      const { names, fixOf } = nameable.get(kind)!;
      if (names.has(name)) return [];
      const message = `there is no ${String(kind)} model "${name}"`;
      return [{ path: at, message, fix: fixOf(name) }];
    });
  });
}

/** Finds entries of `prices` for models that the file defines with a price, and entries without any rate. */
function checkPrices(file: WireObject, models: readonly Row[]): Finding[] {
  const prices = isObject(file["prices"]) ? file["prices"] : {};
  const ids = new Set(models.map(({ row }) => row["id"]));
  return Object.entries(prices).flatMap(([id, price]): Finding[] => {
    const path = ["prices", id];
    if (!ids.has(id))
      return [
        ...checkVideoPrice(price, path),
        ...(isObject(price) ? checkPrice({ path, row: price }) : []),
      ];
    const fix = "its offers have its price";
    return [{ path, atKey: true, message: "is a model of this file", fix }];
  });
}

/** Checks that the default model exists. `known`: models defined elsewhere. */
function checkDefault(
  file: WireObject,
  models: readonly Row[],
  known: readonly string[],
): Finding[] {
  const name = file["default_model"];
  if (typeof name !== "string") return [];
  const ids = [
    ...known,
    ...models.flatMap(({ row: { id } }) => (typeof id === "string" ? [id] : [])),
  ];
  if (ids.includes(name)) return [];
  const message = `there is no model "${name}"`;
  return [{ path: ["default_model"], message, fix: oneOf(ids)(name) }];
}

/** Definitions outside of the file that it may refer to. */
interface Known {
  readonly known: readonly KnownProvider[];
  readonly knownModels?: readonly string[] | undefined;
  readonly files: TlsFiles;
}

/** Finds every broken reference between the parts of a file. `known`, `knownModels`: defined elsewhere. */
export function checkReferences(
  file: unknown,
  { known, knownModels = [], files }: Known,
): Finding[] {
  if (!isObject(file)) return [];
  const providers = rowsAt(file, "providers", []);
  const models = rowsAt(file, "models", []);
  const nameable: Providers = new Map([
    ...known.map(({ id, dialect }): [string, WireObject] => [id, { id, dialect }]),
    ...providers.flatMap(({ row }): [string, WireObject][] =>
      typeof row["id"] === "string" ? [[row["id"], row]] : [],
    ),
  ]);
  const fixOf = oneOf([...nameable.keys()]);
  return [
    ...duplicates(providers, "provider"),
    ...duplicates(models, "model"),
    ...providers.flatMap((provider) => checkProvider(provider, files)),
    ...models.flatMap((model) => [
      ...checkOffers(model, nameable, fixOf),
      ...checkRecords(model),
      ...checkTextPrices(model),
      ...checkLimits(model),
      ...checkOfferPrices(model),
    ]),
    ...checkAliases(models),
    ...checkFallbacks(models, knownModels),
    ...checkPrices(file, models),
    ...checkDefault(file, models, knownModels),
    ...checkStorage(file),
    ...checkSettings(file),
    ...checkHooks(file, files),
    ...(isObject(file["server"]) ? checkTls(file["server"], ["server"], files) : []),
  ];
}
