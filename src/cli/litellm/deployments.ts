/** Converts one entry of LiteLLM's `model_list`: the target of its calls, its price and weight, and the unsupported fields. */
import { counted } from "../../base/counted.ts";
import { providerFault } from "./check.ts";
import { withOffPeak } from "./hours.ts";
import { knownModel, listOf, listedPrice } from "./known.ts";
import { ownPrice, priceOver, setsTokenRates, type OwnPrice } from "./prices.ts";
import { callSettings } from "./providers.ts";
import { numberOf, type Section } from "./file.ts";
import type { Report } from "./report.ts";
import type { Target } from "./target.ts";
import type { Variables } from "./variables.ts";
import { splitModel, targetOf } from "./vendors.ts";
import type { Model } from "../../catalog/index.ts";

/** An entry, or one of the models of a wildcard entry. */
export interface Deployment {
  /** The name that callers use. */
  readonly group: string;
  /** Path of the entry in the file. */
  readonly path: string;
  readonly target: Target;
  readonly kind: "text" | "embedding";
  /** The model in the list of models; absent if it is not listed. */
  readonly known?: Model | undefined;
  /** `price`, `price_above` and so on, as in an offer; absent if the price is unknown. */
  readonly price?: Readonly<Record<string, unknown>> | undefined;
  /** Share of the calls, from `weight`, else `rpm`, else `tpm`. */
  readonly share?: number | undefined;
  /** LiteLLM's `order`: the lowest is asked first. */
  readonly order?: number | undefined;
  readonly contextLength?: number | undefined;
  readonly maxOutputTokens?: number | undefined;
  /** True if a wildcard was expanded to this model. */
  readonly isExpanded?: boolean;
}

interface Work {
  readonly report: Report;
  readonly variables: Variables;
  /** `credential_list` by name. */
  readonly credentials: ReadonlyMap<string, Section>;
}

/** Returns the deployments of one entry; none if it is not supported. Reports every field of it. */
export function deploymentsOf(entry: Section, work: Work): Deployment[] {
  const { report } = work;
  const own = entry.section("litellm_params");
  const params = withCredential(own, work);
  const info = entry.section("model_info");
  const group = entry.text("model_name");
  const model = params.text("model");
  const found =
    group === undefined || model === undefined
      ? refuse(entry, "needs model_name and litellm_params.model", report)
      : read({ entry, params, info, group, model, ...work });
  // The name is reported later, with its model.
  const later = new Set(found.length === 0 ? [] : ["model_name"]);
  for (const section of [own, info, entry])
    for (const name of section.names())
      if (!report.has(section.at(name)) && !isSection.has(name) && !later.has(name))
        report.unsupported(
          section.at(name),
          found.length === 0 ? leftOut : noteOf(name, section === info),
        );
  return found;
}

const isSection: ReadonlySet<string> = new Set(["litellm_params", "model_info"]);

const refuse = (entry: Section, note: string, report: Report): [] => {
  report.unsupported(entry.at("litellm_params.model"), note);
  report.unsupported(entry.at("model_name"), leftOut);
  return [];
};

/** The note on the name of an entry that is left out. */
export const leftOut = "its entry is left out: see litellm_params.model";

function withCredential(own: Section, { credentials, report }: Work): Section {
  const name = own.text("litellm_credential_name");
  if (name === undefined) return own;
  const values = credentials.get(name);
  const path = own.at("litellm_credential_name");
  if (values === undefined)
    report.unsupported(path, "no credential of this name in credential_list");
  else report.takenOver(path, "providers[].api_key");
  const all = values === undefined ? own : own.over(values);
  all.text("litellm_credential_name");
  return all;
}

interface Entry extends Work {
  readonly entry: Section;
  readonly params: Section;
  readonly info: Section;
  readonly group: string;
  readonly model: string;
}

function read(one: Entry): Deployment[] {
  const { entry, params, info, group, model, report, variables } = one;
  if (`${group} ${model}`.includes("${"))
    return refuse(entry, "a name cannot hold ${, which begins a variable here", report);
  const mode = info.text("mode");
  if (mode !== undefined && !/^(chat|completion|responses|embedding)$/.test(mode))
    return refuse(entry, `${modeNote} (model_info.mode)`, report);
  const split = model === "*" ? undefined : splitModel(model, params.text("custom_llm_provider"));
  if (model === "*") return refuse(entry, wildcardNote, report);
  if (split === undefined || split.name === "")
    return refuse(entry, "no known vendor: write vendor/model", report);
  if (/^(dall-e|gpt-image|whisper|tts-|sora)/.test(split.name))
    return refuse(entry, modeNote, report);
  const place = targetOf(split.prefix, { params, name: split.name, variables, report });
  if ("refused" in place) return refuse(entry, place.refused, report);
  const { headers, ...settings } = callSettings(params, { report, variables });
  const merged = { ...(place.row["headers"] as object | undefined), ...headers };
  const row = { ...place.row, ...settings, ...(isFilled(merged) && { headers: merged }) };
  const target = { ...place, row };
  const fault = providerFault(row);
  if (fault !== undefined)
    return refuse(entry, `its provider does not pass the check: ${fault} is wrong`, report);
  return split.name.includes("*") ? wildcard(one, target) : [single(one, target, mode)];
}

const modeNote = "only text and embeddings are converted; write images and videos by docs/media.md";
const wildcardNote =
  "set the variable of each vendor (tollgate vendors): its models are there without a line of configuration";

/** Converts an entry that names a single model. */
function single(one: Entry, target: Target, mode: string | undefined): Deployment {
  const { entry, params, info, group, report } = one;
  const to = `models[${group}].offers[]`;
  const known = knownOf(one, target, to);
  if (mode !== undefined) report.takenOver(info.at("mode"), `models[${group}].kind`);
  report.takenOver(params.at("model"), `${to}.upstream_model`);
  const isEmbedding =
    mode === "embedding" || known?.kind === "embedding" || target.upstream.includes("embed");
  const kind = isEmbedding ? "embedding" : "text";
  // Gemini up to its second generation bills each answer that searched, however many searches it made.
  const byAnswer = /^gemini-[12]\b/.test(target.upstream);
  const price = ownPrice([params, info], { kind, to, byAnswer }, report);
  const free = "a server of your own: its calls cost nothing";
  if (price === undefined && target.isSelfHosted)
    report.changed(params.at("model"), free, `${to}.price`);
  return {
    group,
    path: entry.path,
    target,
    kind,
    known,
    price: withOffPeak(priceOf(price, target, known), { info, to, report }),
    ...shareOf(params, to, report),
    ...limitsOf(info, group, report),
  };
}

/** Finds the model in the list: by `base_model`, else by its name at the vendor, else by the name that callers use. */
function knownOf({ params, info, group, report }: Entry, target: Target, to: string) {
  const vendor = target.known?.vendor;
  const last = (name: string): string => name.slice(name.lastIndexOf("/") + 1);
  const base = info.text("base_model");
  if (base !== undefined) report.takenOver(info.at("base_model"), `models[${group}]`);
  const named =
    (base !== undefined && knownModel(vendor ?? "openai", last(base))) ||
    knownModel(vendor, target.known?.name ?? target.upstream);
  if (named || target.isSelfHosted === true) return named || undefined;
  const guessed = knownModel(vendor, last(group));
  if (guessed !== undefined) {
    const note = `limits and price are the list's of ${guessed.id}: check them`;
    report.changed(params.at("model"), note, to);
  }
  return guessed;
}

/** Finds the model in its cloud's list, whose prices hold there; undefined if it is not in it. */
function atCloud({ cloud, upstream, row }: Target): Model | undefined {
  const baseUrl = String(row["base_url"]);
  const find = (name: string) => knownModel(cloud, name, baseUrl);
  return find(upstream) ?? find(`${upstream}@default`);
}

/** Returns the file's price, else the list's. A self-hosted server without a price is free. */
function priceOf(
  own: OwnPrice | undefined,
  target: Target,
  known: Model | undefined,
): Readonly<Record<string, unknown>> | undefined {
  const listed = known && listedPrice(atCloud(target) ?? known);
  if (own === undefined)
    return target.isSelfHosted ? { price: { input: "0", output: "0" } } : listed;
  // A price for searches alone must not make the tokens of an unknown model free.
  if (known === undefined && target.isSelfHosted !== true && !setsTokenRates(own)) return undefined;
  return priceOver(own, listed ?? {});
}

function shareOf(params: Section, to: string, report: Report): Pick<Deployment, "share" | "order"> {
  const weight = numberOf(params.value("weight"));
  if (weight !== undefined) report.takenOver(params.at("weight"), `${to}.weight`);
  let share = weight;
  for (const name of ["rpm", "tpm"]) {
    const limit = numberOf(params.value(name));
    if (limit === undefined) continue;
    const counts = share === undefined;
    share ??= limit;
    const limits = "limits of a minute are a key's, a member's or a workspace's (docs/limits.md)";
    if (counts)
      report.changed(params.at(name), `counts as the weight only; ${limits}`, `${to}.weight`);
    else report.unsupported(params.at(name), limits);
  }
  const order = numberOf(params.value("order"));
  if (order !== undefined) {
    const note = "the lowest order is asked first; all others have weight 0, for when it fails";
    report.changed(params.at("order"), note, `${to}.weight`);
  }
  return { share, order };
}

function limitsOf(
  info: Section,
  group: string,
  report: Report,
): Pick<Deployment, "contextLength" | "maxOutputTokens"> {
  const read = (name: string, to: string): number | undefined => {
    const limit = numberOf(info.value(name));
    const counted = limit !== undefined && limit >= 1 ? Math.floor(limit) : undefined;
    if (counted !== undefined) report.takenOver(info.at(name), `models[${group}].${to}`);
    return counted;
  };
  const contextLength = read("max_input_tokens", "context_length");
  const most = read("max_output_tokens", "max_output_tokens");
  return { contextLength, maxOutputTokens: read("max_tokens", "max_output_tokens") ?? most };
}

/** Expands an entry such as `openai/*` into the models of the vendor's list, with the names that callers use. */
function wildcard(one: Entry, target: Target): Deployment[] {
  const { entry, params, group, report } = one;
  if (target.upstream !== "*" || target.hasList !== true || listOf(target.vendor).size === 0)
    return refuse(entry, "a wildcard here needs a list of models: name each model", report);
  const models = [...listOf(target.vendor)];
  const note = `${counted(models.length, "model")} of the shipped list, with prices; new ones by converting again`;
  report.changed(entry.at("model_name"), note, "models[]");
  report.changed(params.at("model"), note, "models[]");
  return models.map(([name, known]) => ({
    group: group.replace("*", name),
    path: entry.path,
    target: { ...target, upstream: name },
    kind: known.kind === "embedding" ? "embedding" : "text",
    known,
    price: listedPrice(known),
    isExpanded: true,
  }));
}

const forced = "the caller says it; the provider's request.add would overrule callers";
const described = "describes the model; abilities come from the list or a record (docs/models.md)";
const notes: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    [
      "temperature",
      "top_p",
      "max_tokens",
      "seed",
      "stop",
      "presence_penalty",
      "frequency_penalty",
    ].map((name) => [name, forced]),
  ),
  max_parallel_requests:
    "calls at once are limited for a key, member or workspace (docs/limits.md)",
  num_retries: "failover tries up to six attempts at four providers (docs/routing.md)",
  max_retries: "failover tries up to six attempts at four providers (docs/routing.md)",
  cooldown_time: "circuits open and close by themselves (docs/routing.md)",
  tags: "routing by tags is not there; make a model of its own, and allow it to a workspace",
  access_groups: "use model_allowlist of an organization, workspace or key",
  team_id: "use model_allowlist of a workspace",
  aws_role_name: "give the role to the machine or to a profile (docs/bedrock.md)",
  aws_session_name: "give the role to the machine or to a profile (docs/bedrock.md)",
  cache_control_injection_points:
    "set prompt_caching: auto: it marks conversations of all models of Claude (docs/models.md)",
  use_in_pass_through: "there are no pass-through routes",
  drop_params: "always so: what a model does not take is left out and reported",
  off_peak_pricing: "LiteLLM reads it in model_info, with a price: write price_hours",
  id: "deployments have no ids; the request log names provider and credential",
};

const noteOf = (name: string, isInfo: boolean): string =>
  (Object.hasOwn(notes, name) ? notes[name] : undefined) ??
  (isInfo || name.startsWith("supports_") ? described : "has no counterpart here");

/** Returns the named credentials of the file, which deployments refer to. */
export function credentialsOf(file: Section): ReadonlyMap<string, Section> {
  const named = file.sections("credential_list").map((row) => {
    const values = row.section("credential_values");
    row.value("credential_info");
    return [row.text("credential_name") ?? "", values] as const;
  });
  return new Map(named);
}

const isFilled = (row: object): boolean => Object.keys(row).length > 0;
