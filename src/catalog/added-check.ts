/**
 * Checks of a provider that is added over the management API. They include all checks of the configuration file, and refuse settings
 * that only an operator with access to the machine may use. Messages never quote input: it may be a key in the wrong field.
 */
import { isObject } from "../base/json.ts";
import { nearest } from "../base/suggest.ts";
import { shortText } from "../base/text.ts";
import { fileOf, presetOfSettings, type AddedProvider } from "./added.ts";
import { isKeyless } from "./access-check.ts";
import { vendorRows } from "./list/shipped.ts";
import { localRows } from "./local-servers.ts";
import { formatPath, type Finding, type Path } from "./mistakes.ts";
import { checkReferences } from "./references.ts";
import { rowsAt, valueAt } from "./rows.ts";
import { providerIdPattern } from "./schema.ts";
import { checkSecrets } from "./secrets.ts";
import { TlsFiles } from "./tls-files.ts";
import { familyOf, type Catalog } from "./types.ts";
import { quotedText, validateFile } from "./validate.ts";

/** A mistake in the request: the field and the remedy. */
export interface AddedMistake {
  /** `models[0].offers[0].price.input`. */
  readonly param: string;
  readonly message: string;
  /** True if another model already has the name: the request is well-formed, but conflicts. */
  readonly taken?: boolean;
}

const idLengthMax = 64;
const nameLengthMax = 200;
const textLengthMax = 16_384;
const modelsMax = 1_000;
const credentialsMax = 50;
const messageMax = 300;
const messagesMax = 10;

/** Returns all mistakes; an empty list means that the provider can be added. `others`: the catalogue without this provider. */
export function checkAdded(added: AddedProvider, others: Catalog): AddedMistake[] {
  const bounds = boundMistakes(added);
  // Input that exceeds a limit is not checked any further.
  const findings = bounds.length > 0 ? bounds : findingsOf(added, others);
  const found = findings.slice(0, messagesMax).map((finding) => mistakeOf(finding, added));
  return found.length > 0 ? found : takenNames(added, others);
}

function findingsOf(added: AddedProvider, others: Catalog): Finding[] {
  const own = [...vendorFindings(added), ...operatorFindings(added)];
  if (own.length > 0) return own;
  const file = fileOf(added);
  const { id } = added;
  const foreign = rowsAt(file, "models", []).flatMap(({ row, path }) =>
    rowsAt(row, "offers", path).flatMap((offer): Finding[] =>
      offer.row["provider"] === id
        ? []
        : [
            {
              path: [...offer.path, "provider"],
              message: "is another provider",
              fix: "leave it out: offers are this provider's",
            },
          ],
    ),
  );
  return [
    ...validateFile(file, () => undefined),
    ...checkReferences(file, {
      known: [],
      knownModels: [...others.models.keys()],
      files: new TlsFiles(),
    }),
    ...checkSecrets(file),
    ...foreign,
  ];
}

/** Finds texts and lists that are too long, and characters that PostgreSQL cannot store. */
function boundMistakes({ id, settings, credentials }: AddedProvider): Finding[] {
  const findings: Finding[] = [];
  const tooLong = (path: Path, lengthMax: number) =>
    findings.push({ path, message: `is longer than ${lengthMax} characters`, fix: "" });
  if (id.length > idLengthMax) tooLong(["id"], idLengthMax);
  for (const [index, credential] of credentials.entries()) {
    if (credential.id.length > idLengthMax) tooLong(["credentials", index, "id"], idLengthMax);
    if (!new RegExp(providerIdPattern).test(credential.id))
      findings.push({
        path: ["credentials", index, "id"],
        message: "does not fit",
        fix: "letters, digits, dots, dashes and underscores",
      });
  }
  if (credentials.length > credentialsMax)
    findings.push({ path: ["credentials"], message: `are more than ${credentialsMax}`, fix: "" });
  const { models } = settings;
  if (Array.isArray(models) && models.length > modelsMax)
    findings.push({ path: ["models"], message: `are more than ${modelsMax}`, fix: "" });
  const keys = credentials.map(({ apiKey }) => apiKey);
  walk({ ...settings, credentials: keys }, [], (path, text) => {
    const isName = path.at(0) === "models" && (path.at(-1) === "id" || path.includes("aliases"));
    const lengthMax = isName ? nameLengthMax : textLengthMax;
    if (text.length > lengthMax) tooLong(path, lengthMax);
    else if (/\0/.test(text) || !text.isWellFormed())
      findings.push({ path, message: "has a character that cannot be kept", fix: "" });
  });
  return findings;
}

/** Calls `visit` with every text, including the names of members. */
function walk(value: unknown, path: Path, visit: (path: Path, text: string) => void): void {
  if (typeof value === "string") visit(path, value);
  else if (Array.isArray(value))
    for (const [index, each] of value.entries()) walk(each, [...path, index], visit);
  else if (isObject(value))
    for (const [name, each] of Object.entries(value)) {
      // A name that is too long cannot be shown in a path either. Its NUL stand-in makes `visit` report it.
      visit(path, name.length > nameLengthMax ? "\0" : name);
      walk(each, [...path, shortText(name, nameLengthMax)], visit);
    }
}

function vendorFindings({ settings, credentials }: AddedProvider): Finding[] {
  const { vendor } = settings;
  if (vendor === undefined) return [];
  const preset = presetOfSettings(settings);
  const path = ["vendor"];
  if (preset === undefined) {
    const local = localRows.find(({ id }) => id === vendor);
    if (local) {
      const fix = `set ${local.variable} for the gateway, or give dialect, base_url and models`;
      return [{ path, message: "is a local server, whose models are asked for", fix }];
    }
    const known = vendorRows().map(({ id }) => id);
    const near = typeof vendor === "string" ? nearest(vendor, known) : undefined;
    const fix =
      near === undefined
        ? "`tollgate vendors` lists them; for another one give dialect, base_url and models"
        : `did you mean "${near}"?`;
    return [{ path, message: "is no vendor of the list", fix }];
  }
  const findings: Finding[] = [];
  if (settings["dialect"] !== undefined)
    findings.push({ path: ["dialect"], message: "is the vendor's own", fix: "leave it out" });
  const needs = [...preset.base_url.matchAll(/\$\{(\w+)\}/g)].map(([, name]) => name!);
  if (needs.length > 0 && settings["base_url"] === undefined)
    findings.push({
      path: ["base_url"],
      message: "is missing",
      fix: `write ${preset.base_url} with your own ${needs.join(" and ")}`,
    });
  if (credentials.length === 0 && settings["auth"] === undefined)
    findings.push({ path: ["api_key"], message: "is missing", fix: `see ${preset.docs}` });
  return findings;
}

/** Finds settings that only the configuration file may use: the machine's own identity and files, and environment variables. */
function operatorFindings({ settings, credentials }: AddedProvider): Finding[] {
  const findings: Finding[] = [];
  const { models: _models, ...own } = settings;
  walk(own, [], (path, text) => {
    if (/\$\{\w+(?::-[^}]*)?\}/.test(text))
      findings.push({ path, message: "names a variable, which only the file does", fix: "" });
  });
  // A proxy could lead into the internal network, and TLS files are on the machine.
  for (const name of ["proxy", "tls"])
    if (settings[name] !== undefined)
      findings.push({ path: [name], message: "is for the configuration file only", fix: "" });
  const { auth } = settings;
  const type = isObject(auth) ? auth["type"] : undefined;
  const only = (name: string, fix: string) =>
    findings.push({ path: ["auth", name], message: "is needed here", fix });
  if (isObject(auth)) {
    if (auth["profile"] !== undefined)
      findings.push({
        path: ["auth", "profile"],
        message: "is the machine's own, which only the configuration file may use",
        fix: "give access_key_id and secret_access_key",
      });
    else if (type === "aws" && auth["access_key_id"] === undefined)
      only("access_key_id", "only the configuration file may use the machine's own credentials");
    if (type === "azure" && auth["client_secret"] === undefined)
      only("client_secret", "only the configuration file may use the machine's own identity");
    if (type === "google" && !isServiceAccount(auth["service_account_key"]))
      only(
        "service_account_key",
        "give the text of a service account's key; only the file may name a path or use the machine's own",
      );
  } else if (credentials.length === 0 && isKeyless(settings))
    findings.push({
      path: ["auth"],
      message: "is missing",
      fix: "give a key, or auth with a secret; only the file may use the machine's own identity",
    });
  return findings;
}

/** True for the text of a service account's key file, the only kind that names no other address and runs no program. */
function isServiceAccount(text: unknown): boolean {
  if (typeof text !== "string") return false;
  try {
    // `trim` also removes a byte order mark.
    const key: unknown = JSON.parse(text.trim());
    return isObject(key) && key["type"] === "service_account";
  } catch {
    return false;
  }
}

/** Reports a finding at its field in the request; a single credential is `api_key`. */
function mistakeOf({ path, message, fix = "" }: Finding, added: AddedProvider): AddedMistake {
  const at = path[0] === "providers" && path[1] === 0 ? path.slice(2) : path;
  const value = valueAt(fileOf(added), path);
  // The checks of the configuration file quote the value; replace the quote.
  const said =
    typeof value === "string"
      ? message.replaceAll(quotedText(value), "this").replaceAll(`"${value}"`, "this")
      : message;
  const all = fix === "" || fix === undefined ? said : `${said}; ${fix}`;
  return { param: shortText(formatPath(at), messageMax), message: shortText(all, messageMax) };
}

/** Finds models that exist with another kind or family, and aliases that belong to another model. */
function takenNames(added: AddedProvider, others: Catalog): AddedMistake[] {
  const aliases = new Map<string, string>();
  for (const { id, aliases: own = [] } of others.models.values())
    for (const alias of own) aliases.set(alias, id);
  return rowsAt(fileOf(added), "models", []).flatMap(({ row, path }): AddedMistake[] => {
    const { id, kind, family = kind, aliases: own } = row;
    const known = others.models.get(String(id));
    if (known && familyOf(known) !== family)
      return [
        {
          param: `${formatPath(path)}.id`,
          message: `is a model of the kind ${familyOf(known)} already`,
          taken: true,
        },
      ];
    if (aliases.has(String(id)))
      return [
        {
          param: `${formatPath(path)}.id`,
          message: `already means the model "${aliases.get(String(id))}"`,
          taken: true,
        },
      ];
    const names: readonly unknown[] = Array.isArray(own) ? own : [];
    return names.flatMap((alias): AddedMistake[] => {
      const name = String(alias);
      const owner = others.models.has(name) ? name : aliases.get(name);
      if (owner === undefined || owner === id) return [];
      const message = `has a name that already means the model "${owner}"`;
      return [{ param: `${formatPath(path)}.aliases`, message, taken: true }];
    });
  });
}
