/** What is chosen: by the address, else by a call that is sent again, else as it was chosen last in this browser. */
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { protocolOf } from "../../base/code.ts";
import { fits, modes, rememberedModels } from "./kinds.ts";
import { rowOf, type Callable } from "./queries.ts";

const route = getRouteApi("/shell/playground");

/** Of what a key may call. */
export function useChoice(callable: readonly Callable[]) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const again = useQuery({ ...rowOf(search.from ?? ""), enabled: search.from !== undefined });
  const { model = null, protocol: spoken = null, stream = null } = again.data ?? {};
  const protocol = protocolOf(search.protocol ?? spoken ?? undefined);
  const was = callable.find(({ id }) => id === model);
  const mode =
    modes.find((one) => one === search.mode) ??
    (was && modes.find((one) => fits(was, one, protocol))) ??
    "text";
  const models = callable.filter((one) => fits(one, mode, protocol));
  const known = (ids: readonly string[]) => ids.filter((id) => models.some((one) => one.id === id));
  const wanted = [
    search.models?.split(",") ?? [],
    model === null ? [] : [model],
    rememberedModels(mode),
  ].map(known);
  return {
    search,
    mode,
    protocol,
    models,
    chosen: wanted.find((ids) => ids.length > 0) ?? models.slice(0, 1).map(({ id }) => id),
    /** Whether the call that is sent again was streamed; null where that is not known. */
    streamed: stream,
    error: again.error,
    change: (fields: Partial<typeof search>) =>
      void navigate({ search: (before) => ({ ...before, ...fields }), replace: true }),
  };
}
