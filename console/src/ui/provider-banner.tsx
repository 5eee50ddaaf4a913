/** "1 provider out" in the header of every page, for those who can do something about it. */
import { Link } from "@tanstack/react-router";
import type { Schemas } from "../api/client.ts";
import { useMay } from "./use-may.ts";
import { useProviderStates } from "./use-provider-states.ts";

type Provider = Schemas["Providers"]["data"][number];

/** A pause is meant; what is left out by itself is not. */
const isOut = ({ paused_until: paused, health }: Provider): boolean =>
  paused === null && health !== null && health.state !== "ready";

export function ProviderBanner() {
  const enabled = useMay("provider.pause");
  const read = useProviderStates(enabled);
  // Others may have the list in hand too, from its page.
  const out = enabled ? (read.data?.data ?? []).filter(isOut) : [];
  const [first] = out;
  const text = out.length === 1 ? "1 provider out" : `${out.length} providers out`;
  return (
    <output>
      {first !== undefined &&
        (out.length === 1 ? (
          <Link
            className="bad"
            to="/providers/$id"
            params={{ id: first.id }}
            search={({ ws }) => ({ ws })}
          >
            {text}
          </Link>
        ) : (
          <Link className="bad" to="/providers" search={({ ws }) => ({ ws })}>
            {text}
          </Link>
        ))}
    </output>
  );
}
