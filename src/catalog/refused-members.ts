/** What a vendor of the shipped list refuses in chat, for its providers however they were configured. Traps T31, T39, T41. */
import { perObject } from "../base/made-once.ts";
import { dialectRows } from "./dialects.ts";
import { vendorRows } from "./list/shipped.ts";
import type { VendorRow } from "./list/types.ts";
import type { OfferProtocol, Provider } from "./types.ts";

type Named = Pick<Provider, "id" | "baseUrl">;

/** The members of a chat request's messages that a provider refuses, by its address or its name; nearly none refuses any. */
export const refusedMembers = perObject(
  (provider: Named): readonly string[] => saidOf(provider, "refused_members") ?? [],
);

/**
 * The parameters that a provider refuses, by the protocol of an offer, as a record has what a model lacks: what its vendor's row says of
 * chat, and what its dialect says. Absent: none.
 */
export const refusedParameters = perObject(
  (provider: Named & Pick<Provider, "dialect">): Refused => {
    const ofVendor = { chat: saidOf(provider, "refused_fields") ?? [] };
    const lists = Object.entries({ ...ofVendor, ...dialectRows[provider.dialect].refusedFields });
    return Object.fromEntries(
      lists
        .filter(([, names]) => names.length > 0)
        .map(([protocol, names]) => [
          protocol,
          Object.fromEntries(names.map((name) => [name, false])),
        ]),
    );
  },
);

/** Whether it refuses a form for the answer beside tools. */
export const refusesFormatBesideTools = perObject(
  (provider: Named): boolean => saidOf(provider, "format_or_tools") === true,
);

type Refused = Readonly<Partial<Record<OfferProtocol, Readonly<Record<string, false>>>>>;

/** What the vendor's row says, where one of its rows says anything of it. */
function saidOf<Said extends "refused_members" | "refused_fields" | "format_or_tools">(
  provider: Named,
  name: Said,
): VendorRow[Said] {
  const host = hostOf(provider.baseUrl);
  const row = vendorRows().find(
    ({ id, base_url: url, ...said }) =>
      said[name] !== undefined && (id === provider.id || hostOf(url) === host),
  );
  return row?.[name];
}

const hostOf = (url: string): string | undefined => URL.parse(url)?.hostname;
