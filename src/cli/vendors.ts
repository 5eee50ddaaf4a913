/** `tollgate vendors`: which vendors need no configuration file, what each needs, and which are active. docs/models.md. */
import type { Command } from "commander";
import { listAll, apiCommand, type ApiOptions } from "./api.ts";
import { printTable } from "./print.ts";
import type { Json } from "./remote-api.ts";

interface VendorOptions extends ApiOptions {
  readonly active?: boolean;
}

export function addVendorsCommand(program: Command): void {
  const vendors = program
    .command("vendors")
    .description("the vendors that need only a variable with their key, and which of them are set")
    .option("--active", "only those whose key is set");
  apiCommand(vendors, {
    needs: { database: false },
    ask: (options: VendorOptions) => async (api) => {
      const all = await listAll(api, "/vendors");
      return options.active ? all.filter(({ active }) => active) : all;
    },
    show: (rows) =>
      printTable(
        ["vendor", "active", "variables", "models", "no price", "other address", "name"],
        rows.map((row: Json) => [
          row.id,
          row.active ? "yes" : "no",
          needsOf(row),
          String(row.models),
          row.unpriced.length === 0 ? "" : String(row.unpriced.length),
          row.local ? "" : row.base_url_variable,
          row.name,
        ]),
      ),
  }).addHelpText(
    "after",
    "\nSet the variable of a vendor and start the gateway: its models are there, with prices (tollgate models).\n" +
      "Another address, such as a region or a proxy, goes into its ..._BASE_URL.",
  );
}

/** The variables to set: the key's, and any other that the address is built from. */
const needsOf = (row: Json): string => [...new Set([row.variable, ...row.missing])].join(" and ");
