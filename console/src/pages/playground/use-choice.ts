/** The choices: from the URL, else from the call to resend, else the last ones in this browser. */
import { getRouteApi } from "@tanstack/react-router";
import { protocolOf } from "../../base/code.ts";
import { fits, modes, rememberedModels } from "./modes.ts";
import { useResentCall, type Callable } from "./queries.ts";

const route = getRouteApi("/shell/playground");

/** Returns the first list with a known model, reduced to known models. */
function firstKnown(models: readonly Callable[], ...wanted: readonly (readonly string[])[]) {
  const known = wanted.map((ids) => ids.filter((id) => models.some((one) => one.id === id)));
  return known.find((ids) => ids.length > 0) ?? models.slice(0, 1).map(({ id }) => id);
}

/** The choices among the models that a key may call. */
export function useChoice(callable: readonly Callable[]) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const resent = useResentCall(search.from);
  const { model, protocol: resentProtocol, stream = null } = resent.data ?? {};
  const protocol = protocolOf(search.protocol ?? resentProtocol ?? undefined);
  const was = callable.find(({ id }) => id === model);
  const mode =
    modes.find((one) => one === search.mode) ??
    modes.find((one) => was !== undefined && fits(was, one, protocol)) ??
    "text";
  const models = callable.filter((one) => fits(one, mode, protocol));
  return {
    search,
    mode,
    protocol,
    models,
    chosen: firstKnown(
      models,
      search.models?.split(",") ?? [],
      was === undefined ? [] : [was.id],
      rememberedModels(mode),
    ),
    /** Whether the resent call was streamed; null if unknown. */
    streamed: stream,
    error: resent.error,
    /** The model of that call, if the key may not call it. */
    lost: was === undefined ? model : undefined,
    change: (fields: Partial<typeof search>) =>
      void navigate({ search: (before) => ({ ...before, ...fields }), replace: true }),
  };
}
