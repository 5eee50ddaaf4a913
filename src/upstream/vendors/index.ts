/** The text vendors: the data of their dialect's row, and code in a file of this folder if data is not enough. */
import { dialectRows, type Dialect } from "../../catalog/index.ts";
import { azure } from "./azure.ts";
import { bedrock } from "./bedrock.ts";
import { google } from "./google.ts";
import type { Vendor } from "./types.ts";
import { vertex } from "./vertex.ts";

const code: Partial<Readonly<Record<Dialect, Vendor>>> = { azure, vertex, bedrock, google };

const vendors = Object.fromEntries(
  Object.entries(dialectRows).map(([name, row]) => [name, { ...row, ...code[name as Dialect] }]),
) as Readonly<Record<Dialect, Vendor>>;

/** Returns the differences of a dialect from its protocol's defaults. */
export const vendorOf = (dialect: Dialect): Vendor => vendors[dialect];
