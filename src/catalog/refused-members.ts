/** What a vendor of the shipped list refuses in messages, for its providers however they were configured. Traps T39, T41. */
import { vendorRows } from "./list/shipped.ts";
import type { Provider } from "./types.ts";

type Named = Pick<Provider, "id" | "baseUrl">;

/** Providers live as long as their configuration. */
const known = new WeakMap<Named, readonly string[]>();

/** The members of a chat request's messages that a provider refuses, by its address or its name; nearly none refuses any. */
export function refusedMembers(provider: Named): readonly string[] {
  const before = known.get(provider);
  if (before) return before;
  const host = hostOf(provider.baseUrl);
  const row = vendorRows().find(
    ({ id, base_url: url, refused_members: refused }) =>
      refused !== undefined && (id === provider.id || hostOf(url) === host),
  );
  const members = row?.refused_members ?? [];
  known.set(provider, members);
  return members;
}

const hostOf = (url: string): string | undefined => URL.parse(url)?.hostname;
