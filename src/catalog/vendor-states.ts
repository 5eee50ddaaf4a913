/** The vendors that need no configuration file, for `tollgate vendors`. docs/models.md. */
import type { Environment } from "./environment.ts";
import { listedId } from "./list/models.ts";
import { listedModels, vendorRows } from "./list/shipped.ts";
import { localRows } from "./local-servers.ts";
import { mediaModelRows } from "./media-models.ts";
import { presetsIn } from "./presets.ts";
import { ownModels } from "./vendors.ts";

export interface VendorState {
  readonly id: string;
  readonly name: string;
  readonly active: boolean;
  /** True for a local server: it only needs an address. The gateway asks it for its models, which are free. */
  readonly local: boolean;
  /** The variable for its key: the one that is set, else the documented one. */
  readonly variable: string;
  /** Other variables for the key, and the sets of variables that replace it: a cloud's own credentials. */
  readonly aliases: readonly string[];
  /** The required variables that are not set. */
  readonly missing: readonly string[];
  readonly baseUrl: string;
  /** The variable for another address. */
  readonly baseUrlVariable: string;
  readonly docs: string;
  /** The number of its models with a price; 0 for a local server, because its models are not known here. */
  readonly models: number;
  /** The ids of its models without a price, which cannot be called unless a configuration file prices them. */
  readonly unpriced: readonly string[];
}

/** The state of every vendor, with its models in the given list. */
export function vendorStates(environment: Environment, list: string): VendorState[] {
  const rows = new Map(vendorRows().map((row) => [row.id, row]));
  const models = Map.groupBy(listedModels(list, new Set(rows.keys())), ({ vendor }) => vendor);
  const vendors = presetsIn(environment).map((preset): VendorState => {
    const { row, variable, missing, baseUrl, baseUrlVariable } = preset;
    const listed = (models.get(row.id) ?? []).map((model) => ({
      id: listedId(model, row),
      priced: model.price !== undefined,
    }));
    const priced = new Set(ownModels(row.id).map(({ id }) => id));
    for (const model of listed) if (model.priced) priced.add(model.id);
    return {
      id: row.id,
      name: row.name,
      active: missing.length === 0,
      local: false,
      variable,
      aliases: [
        ...row.variables.filter((name) => name !== variable),
        ...(row.identities ?? []).map((set) => set.join(" and ")).filter((set) => set !== variable),
      ],
      missing,
      baseUrl,
      baseUrlVariable,
      docs: row.docs,
      models: priced.size,
      unpriced: [...listed, ...mediaModelRows.filter(({ vendor }) => vendor === row.id)]
        .map(({ id }) => id)
        .filter((id) => !priced.has(id)),
    };
  });
  return [...vendors, ...localRows.map((row) => localState(row, environment))];
}

function localState(row: (typeof localRows)[number], environment: Environment): VendorState {
  const { id, name, variable, example } = row;
  const address = environment[variable] ?? "";
  const active = address !== "";
  return {
    id,
    name,
    active,
    local: true,
    variable,
    aliases: [],
    missing: active ? [] : [variable],
    baseUrl: active ? address : example,
    baseUrlVariable: variable,
    docs: "",
    models: 0,
    unpriced: [],
  };
}
