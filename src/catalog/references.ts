/**
 * What a schema cannot say: names that must exist, be unique, or fit together. Works on files that breach the schema
 * too, so that all mistakes come at once.
 */
import { isObject, type WireObject } from "../base/json.ts";
import { suggest, type Finding, type Path } from "./mistakes.ts";
import { narrowingFault } from "./narrowing.ts";
import { protocolDomains } from "./parameters.ts";

interface Row {
  readonly path: Path;
  readonly row: WireObject;
}

function rowsAt(parent: WireObject, key: string, base: Path): Row[] {
  const rows = parent[key];
  if (!Array.isArray(rows)) return [];
  return rows.flatMap((row: unknown, index) =>
    isObject(row) ? [{ path: [...base, key, index], row }] : [],
  );
}

/** Rows whose `id` an earlier row has. */
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

function checkProvider({ path, row }: Row): Finding[] {
  const findings: Finding[] = [];
  if (row["api_key"] === undefined && row["credentials"] === undefined) {
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
  const credentials = rowsAt(row, "credentials", path);
  const ids = credentials.map((credential) => credential.row["id"]);
  for (const [index, credential] of credentials.entries()) {
    const { id } = credential.row;
    if (typeof id !== "string" || ids.indexOf(id) === index) continue;
    const message = `the credential "${id}" is already there`;
    findings.push({ path: [...credential.path, "id"], message, fix: "give each its own id" });
  }
  return findings;
}

function isPlainUrl(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url !== undefined && /^https?:$/.test(url.protocol) && url.search + url.hash === "";
}

function checkOffers({ path, row }: Row, providers: readonly string[]): Finding[] {
  return rowsAt(row, "offers", path).flatMap((offer): Finding[] => {
    const { provider } = offer.row;
    if (typeof provider !== "string" || providers.includes(provider)) return [];
    const message = `there is no provider "${provider}"`;
    return [{ path: [...offer.path, "provider"], message, fix: suggest(provider, providers) }];
  });
}

function checkParameters({ path, row }: Row): Finding[] {
  const { parameters } = row;
  if (!isObject(parameters)) return [];
  return Object.entries(parameters).flatMap(([name, narrowing]): Finding[] => {
    const at = [...path, "parameters", name];
    if (!Object.hasOwn(protocolDomains, name)) {
      const fix = suggest(name, Object.keys(protocolDomains));
      return [{ path: at, atKey: true, message: "unknown parameter", fix }];
    }
    const why = isObject(narrowing) ? narrowingFault(name, narrowing) : undefined;
    if (why === undefined) return [];
    return [{ path: at, message: `does not narrow: ${why}`, fix: "" }];
  });
}

function checkLimits({ path, row }: Row): Finding[] {
  const { reserve_output_tokens: reserve, max_output_tokens: maximum } = row;
  if (typeof reserve !== "number" || typeof maximum !== "number" || reserve <= maximum) return [];
  const message = `${reserve} is above max_output_tokens (${maximum})`;
  return [{ path: [...path, "reserve_output_tokens"], message, fix: `at most ${maximum}` }];
}

function checkSecondPrices({ path, row }: Row): Finding[] {
  return rowsAt(row, "offers", path).flatMap((offer): Finding[] => {
    const { price } = offer.row;
    const rates = isObject(price) ? price["output_second"] : undefined;
    if (!isObject(rates) || Object.keys(rates).length > 0) return [];
    const at = [...offer.path, "price", "output_second"];
    return [{ path: at, message: "no resolution has a price", fix: 'write 480p: "0.05"' }];
  });
}

function checkStorage(file: WireObject): Finding[] {
  const { storage } = file;
  if (!isObject(storage) || storage["kind"] !== "s3" || storage["bucket"] !== undefined) return [];
  return [{ path: ["storage", "bucket"], message: "missing", fix: "s3 needs a bucket" }];
}

/** Every mistake in how the parts of a file refer to each other. `known`: ids of providers defined elsewhere. */
export function checkReferences(file: unknown, known: readonly string[]): Finding[] {
  if (!isObject(file)) return [];
  const providers = rowsAt(file, "providers", []);
  const models = rowsAt(file, "models", []);
  const names = providers.flatMap(({ row }) => (typeof row["id"] === "string" ? [row["id"]] : []));
  return [
    ...duplicates(providers, "provider"),
    ...duplicates(models, "model"),
    ...providers.flatMap(checkProvider),
    ...models.flatMap((model) => [
      ...checkOffers(model, [...names, ...known]),
      ...checkParameters(model),
      ...checkLimits(model),
      ...checkSecondPrices(model),
    ]),
    ...checkStorage(file),
  ];
}
