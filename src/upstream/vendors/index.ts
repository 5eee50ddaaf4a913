/** The vendors of text: the data of their dialect's row, and code where data is not enough, with a file beside this one. */
import { dialectRows, type Dialect } from "../../catalog/index.ts";
import { azure } from "./azure.ts";
import { bedrock } from "./bedrock.ts";
import type { Vendor } from "./types.ts";
import { vertex } from "./vertex.ts";

const code: Partial<Readonly<Record<Dialect, Vendor>>> = { azure, vertex, bedrock };

const vendors = Object.fromEntries(
  Object.entries(dialectRows).map(([name, row]) => [name, { ...row, ...code[name as Dialect] }]),
) as Readonly<Record<Dialect, Vendor>>;

/** What a dialect differs in from its protocol's own way. */
export const vendorOf = (dialect: Dialect): Vendor => vendors[dialect];
