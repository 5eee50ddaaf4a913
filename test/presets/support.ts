/** Variables of vendors, for the tests of presets. */
import { vendorRows, vendorStates } from "../../src/catalog/index.ts";

/** An environment with every vendor's documented variable, and whatever else an address needs. */
export const every = (key: string): Record<string, string> =>
  Object.fromEntries(
    vendorStates({}, "")
      .filter(({ local }) => !local)
      .flatMap(({ missing }) => missing.map((name) => [name, key])),
  );

/** The part of the address behind the host, by how a vendor is spoken to; the rest is as OpenAI's. */
const paths: Readonly<Record<string, string>> = {
  anthropic: "/anthropic/v1",
  google: "/google/v1beta",
};

/** Every vendor's `..._BASE_URL`, at simulated vendors. */
export function allAt(url: string): Record<string, string> {
  const rows = new Map(vendorRows().map((row) => [row.id, row]));
  return Object.fromEntries(
    vendorStates({}, "").flatMap(({ id, local, baseUrlVariable }) =>
      local ? [] : [[baseUrlVariable, url + (paths[rows.get(id)!.dialect ?? ""] ?? "/openai/v1")]],
    ),
  );
}
