/** `tollgate models`: the callable models, their providers and prices. docs/models.md. */
import type { Command } from "commander";
import { counted } from "../base/counted.ts";
import { defined } from "../base/defined.ts";
import { isObject } from "../base/json.ts";
import { addApiOptions, listAll, withApi, type ApiOptions } from "./api.ts";
import { printJson, printTable } from "./print.ts";
import type { Api, Json } from "./remote-api.ts";

interface ModelOptions extends ApiOptions {
  readonly provider?: string;
  readonly kind?: string;
  readonly unpriced?: boolean;
}

export function addModelsCommand(program: Command): void {
  addApiOptions(
    program
      .command("models [words]")
      .description("the models that can be called, with their providers and prices in USD")
      .option("--provider <id>", "of one provider only")
      .option("--kind <kind>", "text, embedding, image or video only")
      .option(
        "--unpriced",
        "the models of active vendors that cannot be called, because they have no price",
      ),
  )
    .addHelpText(
      "after",
      "\n[words] is a part of the model's id. Prices of text are USD for a million tokens, input / output; a + says that\n" +
        "calls with much input, or at some hours, have another price. --json has every rate.",
    )
    .action(models);
}

const models = (words: string | undefined, options: ModelOptions): Promise<void> =>
  withApi(
    options,
    async (api) => {
      const fits = (id: string): boolean => id.includes(words ?? "");
      const without = await unpriced(api, options.provider);
      if (options.unpriced) return printUnpriced(without.filter(fits), options);
      const query = defined({ provider: options.provider, kind: options.kind });
      const all = await listAll(api, "/models", query);
      const shown = all.filter(({ id }) => fits(id));
      if (options.json) return printJson(shown);
      if (shown.length === 0 && words !== undefined)
        return console.log(`No id of the ${counted(all.length, "model")} has "${words}" in it.`);
      printTable(
        ["model", "provider", "kind", "price", "context", "remarks"],
        shown.flatMap((model: Json) => offerRows(model)),
      );
      if (shown.length === 0 && options.provider !== undefined)
        console.log(
          `No model is of a provider "${options.provider}": tollgate providers list shows them.`,
        );
      if (without.length > 0)
        console.log(
          `${counted(without.length, "more model of these vendors has", "more models of these vendors have")} no price here and cannot be called: tollgate models --unpriced. ` +
            "A price in the configuration file (`prices`) makes a model callable.",
        );
    },
    { database: false, secrets: "if_known" },
  );

/** Returns the models of active vendors that have no price. */
async function unpriced(api: Api, provider: string | undefined): Promise<string[]> {
  const callable = new Set((await listAll(api, "/models")).map(({ id }) => id as string));
  const vendors = await listAll(api, "/vendors");
  return vendors
    .filter(({ id, active }) => active && (provider === undefined || id === provider))
    .flatMap((row) => row.unpriced as string[])
    .filter((id) => !callable.has(id));
}

function printUnpriced(ids: readonly string[], { json }: ApiOptions): void {
  if (json) return printJson(ids);
  if (ids.length === 0) return console.log("No model of these vendors is without a price.");
  for (const id of ids) console.log(id);
}

/** Returns one row for each provider and price; protocols of one provider with the same price share a row. */
function offerRows(model: Json): string[][] {
  const rows = (model.offers as Json[]).map((offer) => [
    model.id as string,
    offer.provider as string,
    model.kind as string,
    priceText(offer),
    model.context_length === undefined ? "" : String(model.context_length),
    remarks(model),
  ]);
  return rows.filter((row, at) => rows.findIndex((other) => other.join() === row.join()) === at);
}

function priceText(offer: Json): string {
  const { price, price_above: above, price_tiers: tiers, price_hours: hours } = offer;
  const { input, output, request = "0" } = price;
  const hasOthers = (above ?? tiers ?? hours) !== undefined;
  if (!hasOthers && Object.values(price).every((rate = "0") => rate === "0")) return "free";
  if (output !== undefined && isOfText(price)) {
    const perCall = request === "0" ? "" : `, ${request} a call`;
    return `${input} / ${output}${hasOthers ? " +" : ""}${perCall}`;
  }
  const rates = Object.entries(defined(price)).map(([name, value]) => `${name} ${rateText(value)}`);
  return rates.join(", ") + (hasOthers ? " +" : "");
}

/** `0.05`, or one rate for each size: `480p 0.05 720p 0.07`. */
const rateText = (rate: unknown): string =>
  isObject(rate)
    ? Object.entries(rate)
        .map(([name, value]) => `${name} ${rateText(value)}`)
        .join(" ")
    : String(rate);

/** True if a price is of text: image models have more rates than these. */
const isOfText = (price: Json): boolean => price.image_input === undefined;

const remarks = (model: Json): string => (model.lifecycle?.stage as string | undefined) ?? "";
