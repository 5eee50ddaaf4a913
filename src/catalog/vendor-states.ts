/** The vendors that need no configuration file, as `tollgate vendors` shows them. docs/models.md. */
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
  /** A server of one's own, whose address is all it needs; it is asked for its models, which cost nothing. */
  readonly local: boolean;
  /** The variable its key is in: the one that is set, else the one its documents name. */
  readonly variable: string;
  /** Other names of that variable, and the sets of variables that stand for it: a cloud's own credentials. */
  readonly aliases: readonly string[];
  /** What is not set of what it needs. */
  readonly missing: readonly string[];
  readonly baseUrl: string;
  /** Names another address. */
  readonly baseUrlVariable: string;
  readonly docs: string;
  /** How many of its models have a price here; of a local server none are known here. */
  readonly models: number;
  /** Those without a price, which are not called unless a configuration file prices them. */
  readonly unpriced: readonly string[];
}

/** Every vendor, with what the list in force has of it. */
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
