/** Variables of vendors, for the tests of presets. */
import { vendorRows, vendorStates } from "../../src/catalog/index.ts";
import type { VendorRow } from "../../src/catalog/list/types.ts";

/** An environment with every vendor's documented variable, and the other variables that an address needs. */
export const every = (key: string): Record<string, string> =>
  Object.fromEntries(
    vendorStates({}, "")
      .filter(({ local }) => !local)
      .flatMap(({ missing }) => missing.map((name) => [name, key])),
  );

/** The path of the base URL, by vendor or by dialect. Others have OpenAI's path. */
const paths: Readonly<Record<string, string>> = {
  anthropic: "/anthropic/v1",
  google: "/google/v1beta",
  bedrock: "/bedrock/runtime",
  "amazon-bedrock-mantle": "/bedrock/mantle/openai/v1",
  vertex: "/vertex/v1/projects/sandbox-project/locations/us-central1",
};

const pathOf = ({ id, dialect = "openai" }: VendorRow): string =>
  paths[id] ?? paths[dialect] ?? "/openai/v1";

/** The `..._BASE_URL` of every vendor, at simulated vendors. */
export function allAt(url: string): Record<string, string> {
  const rows = new Map(vendorRows().map((row) => [row.id, row]));
  return Object.fromEntries(
    vendorStates({}, "").flatMap(({ id, local, baseUrlVariable }) =>
      local ? [] : [[baseUrlVariable, url + pathOf(rows.get(id)!)]],
    ),
  );
}
