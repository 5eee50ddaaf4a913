/** What a vendor of the shipped list refuses in messages, for its providers however they were configured. Traps T39, T41. */
import { perObject } from "../base/made-once.ts";
import { vendorRows } from "./list/shipped.ts";
import type { Provider } from "./types.ts";

type Named = Pick<Provider, "id" | "baseUrl">;

/** The members of a chat request's messages that a provider refuses, by its address or its name; nearly none refuses any. */
export const refusedMembers = perObject((provider: Named): readonly string[] => {
  const host = hostOf(provider.baseUrl);
  const row = vendorRows().find(
    ({ id, base_url: url, refused_members: refused }) =>
      refused !== undefined && (id === provider.id || hostOf(url) === host),
  );
  return row?.refused_members ?? [];
});

const hostOf = (url: string): string | undefined => URL.parse(url)?.hostname;
