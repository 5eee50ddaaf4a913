/**
 * How a vendor differs from its protocol: by its row of the shipped list, for every provider of that vendor however configured, and by
 * its dialect. Traps T31, T39, T41.
 */
import { memoizeByObject } from "../base/memoize.ts";
import { isOlderAzure } from "./cloud-hosts.ts";
import { dialectRows } from "./dialects.ts";
import { vendorRows } from "./list/shipped.ts";
import { localRows } from "./local-servers.ts";
import type { VendorRow } from "./list/types.ts";
import type { OfferProtocol, Provider } from "./types.ts";

type Named = Pick<Provider, "id" | "baseUrl" | "dialect">;

/** The differences that a route needs to know. */
export const vendorQuirks = memoizeByObject((provider: Named) => {
  const { customTools, maximumField, inlineMedia, strictByRecord, checksHistory } =
    dialectRows[provider.dialect];
  return {
    refusedMembers: vendorField(provider, "refused_members") ?? [],
    formatOrTools: vendorField(provider, "format_or_tools") === true,
    refusesNullContent: vendorField(provider, "no_null_content") === true,
    refusesDeveloper: vendorField(provider, "no_developer_role") === true || isLocal(provider),
    streamsOnly: patternOf(vendorField(provider, "streams_only")),
    splitsReasoning: patternOf(vendorField(provider, "splits_reasoning")),
    refusesNamed: localRows.some(({ id, refusesNamed }) => refusesNamed && id === provider.id),
    customTools,
    // OpenAI added this choice together with custom tools. Others, such as Groq and vLLM, refuse it (T29).
    refusesAllowed: customTools !== true,
    onlyMaximumField: vendorField(provider, "maximum_field"),
    maximumField,
    inlineMedia,
    strictByRecord,
    checksHistory,
    // OpenAI and Azure.
    sessionKeys: checksHistory === true && !isOlderAzure(provider.baseUrl),
  };
});

/**
 * The parameters that a provider refuses, by protocol of the offer, in the form of a record's unsupported parameters. They come
 * from the vendor's row (chat only) and from the dialect.
 */
export const refusedParameters = memoizeByObject((provider: Named): Refused => {
  const ofVendor = { chat: vendorField(provider, "refused_fields") ?? [] };
  const lists = Object.entries({ ...ofVendor, ...dialectRows[provider.dialect].refusedFields });
  return Object.fromEntries(
    lists
      .filter(([, names]) => names.length > 0)
      .map(([protocol, names]) => [
        protocol,
        Object.fromEntries(names.map((name) => [name, false])),
      ]),
  );
});

type Refused = Readonly<Partial<Record<OfferProtocol, Readonly<Record<string, false>>>>>;

type QuirkField =
  | "refused_members"
  | "refused_fields"
  | "format_or_tools"
  | "maximum_field"
  | "no_null_content"
  | "no_developer_role"
  | "splits_reasoning"
  | "streams_only";

/** A field of the vendor's row, found by id or host; undefined if no such row has it. */
function vendorField<FieldName extends QuirkField>(
  provider: Named,
  name: FieldName,
): VendorRow[FieldName] {
  const host = hostOf(provider.baseUrl);
  const row = vendorRows().find(
    ({ id, base_url: url, ...fields }) =>
      fields[name] !== undefined && (id === provider.id || hostOf(url) === host),
  );
  return row?.[name];
}

/** Their models' templates know no `developer`: they fail, or leave such a turn out. */
const isLocal = ({ id }: Named): boolean => localRows.some((row) => row.id === id);

const patternOf = (pattern: string | undefined): RegExp | undefined =>
  pattern === undefined ? undefined : new RegExp(pattern);

const hostOf = (url: string): string | undefined => URL.parse(url)?.hostname;
