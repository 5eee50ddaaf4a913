/** Combines deployments of the same name into one model with several offers: limits, prices, weights, aliases. */
import { leftOut, type Deployment } from "./deployments.ts";
import { recordRow } from "./known.ts";
import type { Providers } from "./providers.ts";
import type { Report } from "./report.ts";

const contextDefault = 128_000;
const outputDefault = 8_192;

/** A model in our file. */
export type ModelRow = Record<string, unknown> & { readonly id: string };

/** Returns the models by the names that callers use. */
export function modelsOf(
  deployments: readonly Deployment[],
  { providers, report }: { readonly providers: Providers; readonly report: Report },
): ReadonlyMap<string, ModelRow> {
  const groups = Map.groupBy(deployments, ({ group }) => group);
  const ids = new Ids([...groups.keys()]);
  const models = new Map<string, ModelRow>();
  for (const [name, members] of groups) {
    const priced = withoutRepeats(pricedOf(members, report), providers);
    if (priced.length === 0) continue;
    const { id, alias } = ids.of(name, priced[0]!.target.vendor);
    for (const member of priced) reportName(member, { id, alias }, report);
    const aliases = alias === undefined ? {} : { aliases: [alias] };
    const row = {
      id,
      ...aliases,
      ...modelRow(priced, report),
      offers: offersOf(priced, providers),
    };
    models.set(name, row);
  }
  return models;
}

function reportName(
  { path, group, isExpanded }: Deployment,
  { id, alias }: { readonly id: string; readonly alias?: string | undefined },
  report: Report,
): void {
  const field = `${path}.model_name`;
  if (isExpanded === true) return;
  if (id === group) report.takenOver(field, `models[${id}].id`);
  else if (alias === undefined)
    report.changed(field, "a name has no spaces: callers must use the id", `models[${id}].id`);
  else {
    const note = "ids are vendor/model; the name stays as an alias";
    report.changed(field, note, `models[${id}].aliases`);
  }
}

/** Assigns unique ids of the form vendor/model. */
class Ids {
  readonly #taken: Set<string>;

  constructor(names: readonly string[]) {
    this.#taken = new Set(names.filter((name) => isId(name)));
  }

  /** Returns the id for a name, and the name as an alias if it differs. */
  of(name: string, vendor: string): { readonly id: string; readonly alias?: string } {
    if (isId(name)) return { id: name };
    const own = name.replaceAll(/[\s:*]+/g, "-").replace(/^\/+|\/+$/g, "");
    const wishes = [...(own.includes("/") ? [own] : []), `${vendor}/${own}`, `litellm/${own}`];
    let id = wishes.find((wish) => isId(wish) && !this.#taken.has(wish));
    for (let number = 2; id === undefined; number += 1) {
      const next = `litellm/${own || "model"}-${number}`;
      if (!this.#taken.has(next)) id = next;
    }
    this.#taken.add(id);
    return /^[^\s*]+$/.test(name) ? { id, alias: name } : { id };
  }
}

const isId = (name: string): boolean => /^[^\s/:*]+\/[^\s:*]+$/.test(name);

const unpriced =
  "no price is known, and what has none is not called: give input_cost_per_token and output_cost_per_token, or model_info.base_model, and convert again";

/** Returns the deployments that have a price. Leaves out those of another kind than the first. */
function pricedOf(members: readonly Deployment[], report: Report): Deployment[] {
  const borrowed = members.find(({ price, known }) => price && known)?.price;
  return members.flatMap((member) => {
    const path = `${member.path}.litellm_params.model`;
    const drop = (note: string): [] => {
      report.unsupported(path, note);
      if (member.isExpanded !== true) report.unsupported(`${member.path}.model_name`, leftOut);
      return [];
    };
    if (member.kind !== members[0]!.kind)
      return drop("a model is either for text or for embeddings: use another name");
    const price = member.price ?? borrowed;
    if (price === undefined) return drop(unpriced);
    if (member.price === undefined)
      report.changed(path, "its price is that of the name's other deployments: check it");
    return [{ ...member, price }];
  });
}

/** Leaves out what a star repeats of a name's own deployments: the same model at the same provider. */
function withoutRepeats(members: readonly Deployment[], providers: Providers): Deployment[] {
  const nameOf = ({ target }: Deployment) => `${providers.idOf(target)} ${target.upstream}`;
  const own = new Set(members.filter(({ isExpanded }) => isExpanded !== true).map(nameOf));
  return members.filter((one) => one.isExpanded !== true || !own.has(nameOf(one)));
}

/** Returns kind and limits, and abilities only if all deployments are the same model of the list. */
function modelRow(members: readonly Deployment[], report: Report): Record<string, unknown> {
  const { kind, path, contextLength, maxOutputTokens } = members[0]!;
  const known = members.flatMap((member) => (member.known ? [member.known] : []));
  const isOne = known.length === members.length && new Set(known.map(({ id }) => id)).size === 1;
  const record = isOne ? recordRow(known[0]!) : {};
  const least = (read: (row: Record<string, unknown>) => unknown, otherwise: number): number => {
    const limits = known.map((model) => read(recordRow(model))).filter(isNumber);
    return limits.length === 0 ? otherwise : Math.min(...limits);
  };
  if (known.length === 0 && contextLength === undefined)
    report.changed(
      `${path}.litellm_params.model`,
      `its limits are not known: ${contextDefault} tokens, ${outputDefault} of output; correct them`,
      "models[].context_length",
    );
  const context = contextLength ?? least((row) => row["context_length"], contextDefault);
  if (kind === "embedding") return { kind, context_length: context };
  const most = maxOutputTokens ?? least((row) => row["max_output_tokens"], outputDefault);
  const reserve = record["reserve_output_tokens"];
  return {
    kind,
    ...record,
    context_length: context,
    max_output_tokens: most,
    ...(isNumber(reserve) && { reserve_output_tokens: Math.min(reserve, most) }),
  };
}

const isNumber = (value: unknown): value is number => typeof value === "number";

/** Returns one offer for each deployment. A single deployment gets one for each protocol that it speaks. */
function offersOf(members: readonly Deployment[], providers: Providers): object[] {
  const first = Math.min(...members.map(({ order }) => order ?? Infinity));
  const isShared = members.length > 1;
  return members.flatMap((member): object[] => {
    const { target, price, kind, known } = member;
    const isLater = Number.isFinite(first) && member.order !== first;
    const at = { provider: providers.idOf(target), upstream_model: target.upstream };
    const weight = isShared ? { weight: isLater ? 0 : (member.share ?? 1) } : {};
    if (kind === "embedding") {
      return [
        { ...at, ...weight, ...embeddingPrice(price as Parameters<typeof embeddingPrice>[0]) },
      ];
    }
    const spoken = protocolsOf(member, known);
    return (isShared ? spoken.slice(0, 1) : spoken).map((protocol) => ({
      ...at,
      protocol,
      ...weight,
      ...price,
    }));
  });
}

type Rates = Readonly<Record<string, string>>;

/** Embeddings cost their input alone, at any hour. */
function embeddingPrice({
  price,
  price_hours: hours,
}: {
  readonly price: Rates;
  readonly price_hours?: readonly { readonly price: Rates }[];
}) {
  const rates = { input: price["input"] };
  if (hours === undefined) return { price: rates };
  return {
    price: rates,
    price_hours: hours.map(({ price: own, ...each }) => ({
      ...each,
      price: { input: own["input"] },
    })),
  };
}

/** Returns the protocols of the model in the list if the vendor's own address is called; otherwise those of the target. */
function protocolsOf({ target }: Deployment, known: Deployment["known"]): readonly string[] {
  if (target.hasList !== true || known?.kind !== "text") return target.protocols;
  return known.offers.map(({ protocol }) => protocol);
}
